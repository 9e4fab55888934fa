#include "os/clock.h"
#include "tests/unit/report/example.h"

static void waves_follow_from_who_waits_for_whom(void **state)
{
    static const struct {
        const char *task;
        uint32_t wave;
    } cases[] = {
        {"lib:do_fetch", 0},
        {"lib:do_x",     1},
        {"app:do_p",     0},
        {"app:do_x",     2},
        {"app:do_y",     3},
        {"app:do_z",     4},
        {"tool:do_x",    0},
    };
    struct bz_account a = {0};
    struct bz_shape s = {0};

    (void)state;
    example_read(EXAMPLE, &a, &s);
    assert_int_equal(s.nwaves, 5);
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++)
        assert_int_equal(s.wave[example_id(&a, cases[i].task)], cases[i].wave);
    bz_shape_release(&s);
    bz_account_release(&a);
}

static void the_critical_path_is_the_longest_chain_of_what_ran(void **state)
{
    struct bz_account a = {0};
    struct bz_shape s = {0};

    (void)state;
    example_read(EXAMPLE, &a, &s);
    assert_int_equal(s.chain.len, 3);
    assert_int_equal(s.chain.at[0], example_id(&a, "app:do_x"));
    assert_int_equal(s.chain.at[1], example_id(&a, "app:do_y"));
    assert_int_equal(s.chain.at[2], example_id(&a, "app:do_z"));
    assert_int_equal(s.chain_took, 5 * BZ_CLOCK_S);
    assert_int_equal(s.busy, 9 * BZ_CLOCK_S);
    assert_int_equal(s.saved, 5 * BZ_CLOCK_S);
    assert_int_equal(s.cpu, 2 * BZ_CLOCK_S);
    assert_int_equal(s.memory, 2048);
    bz_shape_release(&s);
    bz_account_release(&a);
}

static void tasks_at_the_same_time_have_different_slots(void **state)
{
    struct bz_account a = {0};
    struct bz_shape s = {0};

    (void)state;
    example_read(EXAMPLE, &a, &s);
    assert_int_equal(s.nslots, 2);
    assert_int_equal(s.slot[example_id(&a, "app:do_x")], 0);
    assert_int_equal(s.slot[example_id(&a, "tool:do_x")], 1);
    assert_int_equal(s.slot[example_id(&a, "app:do_y")], 0);
    assert_int_equal(s.slot[example_id(&a, "app:do_z")], 0);
    assert_int_equal(s.slot[example_id(&a, "lib:do_x")], BZ_SHAPE_NO_SLOT);
    bz_shape_release(&s);
    bz_account_release(&a);
}

/* By a simple rule from the number: many overlaps, some without a length. */
static void there_are_as_many_slots_as_ran_at_once(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_account a = {0};
    struct bz_shape s = {0};
    unsigned most = 0;

    (void)state;
    bz_buf_add_str(&text, BZ_STR(EXAMPLE_BEGIN));
    for (unsigned i = 0; i < 200; i++) {
        unsigned from = i * 37 % 101, n = i * 11 % 23;

        bz_buf_addf(&text, "{\"event\":\"started\",\"at\":%u,\"task\":\"t:%u\"}\n",
                    from, i);
        bz_buf_addf(&text, "{\"event\":\"done\",\"at\":%u,\"task\":\"t:%u\"}\n",
                    from + n, i);
    }
    example_read(bz_buf_text(&text), &a, &s);
    for (size_t i = 0; i < a.tasks.len; i++) {
        const struct bz_account_task *x = &a.tasks.at[i];
        unsigned beside = 0;

        for (size_t j = 0; j < a.tasks.len; j++) {
            const struct bz_account_task *y = &a.tasks.at[j];

            beside += y->start <= x->start && x->start < y->end;
            if (i != j && x->start < y->end && y->start < x->end)
                assert_int_not_equal(s.slot[i], s.slot[j]);
        }
        most = beside > most ? beside : most;
    }
    assert_true(s.nslots >= most && s.nslots <= most + 1);
    bz_shape_release(&s);
    bz_account_release(&a);
}

static void tasks_that_wait_for_each_other_are_refused(void **state)
{
    struct bz_account a = {0};
    struct bz_shape s = {0};
    struct bz_err err;

    (void)state;
    assert_ok(bz_account_read(&a,
                              BZ_STR(EXAMPLE_BEGIN EXAMPLE_RAN(
                                  "a:do_x", 0, 1, "\"a:do_x\"", "\"done\"")),
                              "log", &err),
              &err);
    assert_int_equal(bz_shape_make(&s, &a, &err), BZ_E_INVAL);
    bz_shape_release(&s);
    bz_account_release(&a);
}

static void a_build_without_tasks_has_no_shape(void **state)
{
    struct bz_account a = {0};
    struct bz_shape s = {0};

    (void)state;
    example_read(EXAMPLE_BEGIN, &a, &s);
    assert_int_equal(s.nwaves, 0);
    assert_int_equal(s.nslots, 0);
    assert_int_equal(s.chain.len, 0);
    bz_shape_release(&s);
    bz_account_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waves_follow_from_who_waits_for_whom),
        cmocka_unit_test(the_critical_path_is_the_longest_chain_of_what_ran),
        cmocka_unit_test(tasks_at_the_same_time_have_different_slots),
        cmocka_unit_test(there_are_as_many_slots_as_ran_at_once),
        cmocka_unit_test(tasks_that_wait_for_each_other_are_refused),
        cmocka_unit_test(a_build_without_tasks_has_no_shape),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
