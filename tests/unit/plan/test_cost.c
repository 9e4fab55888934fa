#include "plan/cost.h"

#include "os/clock.h"
#include "tests/unit/plan/small_plan.h"

static void a_task_is_one_of_a_project_a_machine_and_a_version(void **state)
{
    const struct bz_str machines[] = {BZ_STR("board"), BZ_STR("bird")};
    struct small_plan *s = *state;
    struct bz_index_task of;

    s->facts[2].pn = BZ_STR("busybox");
    s->facts[2].pv = BZ_STR("1.36");
    s->task_facts[2].name = BZ_STR("do_it");
    s->recipes[2].part = 1;
    s->in.project = BZ_STR("/p");
    of = bz_cost_task(&s->in, 2);
    assert_int_equal(of.machine.n, 0);
    s->in.machines = machines;
    of = bz_cost_task(&s->in, 2);
    assert_true(bz_str_eq(of.project, BZ_STR("/p")));
    assert_true(bz_str_eq(of.machine, BZ_STR("bird")));
    assert_true(bz_str_eq(of.recipe, BZ_STR("busybox")));
    assert_true(bz_str_eq(of.version, BZ_STR("1.36")));
    assert_true(bz_str_eq(of.task, BZ_STR("do_it")));
}

static void what_is_known_is_found_and_cut_down_to_size(void **state)
{
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    struct small_plan *s = *state;
    struct bz_index_cost costs[SMALL_MAX];
    struct bz_bitset which = {0};
    enum bz_index_state how;
    struct bz_index *index;
    struct bz_err err;

    assert_ok(bz_index_open(NULL, NULL, &index, &how, &err), &err);
    for (uint32_t t = 0; t < 5; t++) {
        struct bz_index_task of;

        s->facts[t].pn = bz_str_from(names[t]);
        s->task_facts[t].name = BZ_STR("do_it");
        of = bz_cost_task(&s->in, t);
        if (t < 4)
            bz_index_note_cost(index, &of,
                               &(struct bz_index_cost){t == 2   ? INT64_MAX
                                                       : t == 3 ? INT64_MIN
                                                                : 7,
                                                       t == 2 ? UINT64_MAX / 4 : 9});
        if (t > 0)
            bz_bitset_set(&which, t);
    }
    assert_ok(bz_index_flush(index, &err), &err);
    small_make(s);
    bz_cost_find(&s->plan, index, &which, costs);
    assert_int_equal(costs[0].duration, BZ_COST_UNKNOWN); /* nobody asked */
    assert_int_equal(costs[1].duration, 7);
    assert_int_equal(costs[1].peak, 9);
    assert_int_equal(costs[2].duration, 86400 * BZ_CLOCK_S);
    assert_int_equal(costs[2].peak, 0);
    assert_int_equal(costs[3].duration, 86400 * BZ_CLOCK_S);
    assert_int_equal(costs[4].duration, BZ_COST_UNKNOWN);
    bz_bitset_release(&which);
    bz_index_close(index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, small_setup, small_teardown)
        TEST(a_task_is_one_of_a_project_a_machine_and_a_version),
        TEST(what_is_known_is_found_and_cut_down_to_size),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
