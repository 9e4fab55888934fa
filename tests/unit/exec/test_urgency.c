#include "exec/urgency.h"

#include "os/clock.h"
#include "tests/unit/exec/worktop.h"

static void take(struct worktop *b, const char *recipe, const char *task, int64_t s)
{
    bz_index_note_cost(bz_cache_index(b->k->cache),
                       &(struct bz_index_task){.recipe = bz_str_from(recipe),
                                               .task = bz_str_from(task)},
                       &(struct bz_index_cost){s * BZ_CLOCK_S, 0});
    assert_ok(bz_index_flush(bz_cache_index(b->k->cache), &b->k->err), &b->k->err);
}

static int64_t seconds_ahead(const struct bz_exec *x, uint32_t t)
{
    return x->tasks[t].ahead / BZ_CLOCK_S;
}

static void what_is_ahead_is_the_longest_chain_that_waits(void **state)
{
    struct worktop *b = *state;
    struct bz_exec x;

    b->task_facts[Z].noexec = false;
    take(b, "a", "do_x", 1);
    take(b, "a", "do_y", 2);
    take(b, "b", "do_z", 30);
    take(b, "b", "do_w", 4);
    worktop_open(b, &x);
    bz_exec_begin(&x);
    assert_int_equal(seconds_ahead(&x, X), 33);
    assert_int_equal(seconds_ahead(&x, Y), 32);
    assert_int_equal(seconds_ahead(&x, W), 4);
    worktop_close(&x);
}

static void what_was_never_run_takes_the_mean(void **state)
{
    struct worktop *b = *state;
    struct bz_exec x;

    worktop_open(b, &x);
    bz_exec_begin(&x);
    assert_int_equal(seconds_ahead(&x, X), 3); /* nothing is known: all the same */
    take(b, "a", "do_x", 2);
    take(b, "a", "do_y", 4);
    take(b, "b", "do_z", 90); /* noexec: it does not count */
    bz_exec_begin(&x);
    assert_int_equal(seconds_ahead(&x, W), 3);
    assert_int_equal(seconds_ahead(&x, X), 2 + 4 + 3);
    worktop_close(&x);
}

static void waves_do_not_count_what_has_nothing_to_run(void **state)
{
    struct worktop *b = *state;
    struct bz_exec x;

    b->task_facts[Y].noexec = true;
    worktop_open(b, &x);
    bz_exec_begin(&x);
    assert_int_equal(x.tasks[X].wave, 0);
    assert_int_equal(x.tasks[Y].wave, 1);
    assert_int_equal(x.tasks[W].wave, 1);
    worktop_close(&x);
}

static void durations_that_make_no_sense_do_no_harm(void **state)
{
    struct worktop *b = *state;
    struct bz_exec x;

    bz_index_note_cost(
        bz_cache_index(b->k->cache),
        &(struct bz_index_task){.recipe = BZ_STR("a"), .task = BZ_STR("do_x")},
        &(struct bz_index_cost){INT64_MAX, 0});
    bz_index_note_cost(
        bz_cache_index(b->k->cache),
        &(struct bz_index_task){.recipe = BZ_STR("a"), .task = BZ_STR("do_y")},
        &(struct bz_index_cost){INT64_MIN, 0});
    take(b, "b", "do_w", 1);
    worktop_open(b, &x);
    bz_exec_begin(&x);
    assert_true(x.tasks[X].ahead > x.tasks[Y].ahead);
    worktop_close(&x);
}

static void what_ran_is_known_to_the_next_build(void **state)
{
    struct worktop *b = *state;
    struct bz_index_cost cost = {0};
    struct bz_exec x;

    worktop_open(b, &x);
    bz_urgency_learn(&x, Y, &(struct bz_index_cost){7, 8});
    assert_ok(bz_index_flush(bz_cache_index(b->k->cache), &b->k->err), &b->k->err);
    assert_true(bz_index_get_cost(
        bz_cache_index(b->k->cache),
        &(struct bz_index_task){.recipe = BZ_STR("a"), .task = BZ_STR("do_y")}, &cost));
    assert_int_equal(cost.duration, 7);
    assert_int_equal(cost.peak, 8);
    worktop_close(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, worktop_setup, worktop_teardown)
        TEST(what_is_ahead_is_the_longest_chain_that_waits),
        TEST(what_was_never_run_takes_the_mean),
        TEST(waves_do_not_count_what_has_nothing_to_run),
        TEST(durations_that_make_no_sense_do_no_harm),
        TEST(what_ran_is_known_to_the_next_build),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
