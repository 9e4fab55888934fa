#include "exec/choice.h"

#include "tests/unit/exec/worktop.h"

static void a_nostamp_task_and_what_waits_for_it_run_every_time(void **state)
{
    struct worktop *b = *state;

    b->task_facts[Y].nostamp = true;
    assert_ok(worktop_run(b), &b->k->err);
    assert_ok(worktop_run(b), &b->k->err);
    assert_string_equal(b->told, "C0 D1 D3 ");
}

static void without_results_all_that_is_needed_waits(void **state)
{
    struct worktop *b = *state;
    struct bz_exec x;

    worktop_open(b, &x);
    bz_choice_make(&x);
    for (uint32_t t = 0; t < TASKS; t++)
        assert_int_equal(x.tasks[t].state, BZ_EXEC_WAITING);
    assert_int_equal(x.queues[BZ_EXEC_WORKS].ready.len, 1);
    assert_int_equal(x.queues[BZ_EXEC_WORKS].ready.at[0].task, X);
    assert_int_equal(x.tasks[W].pending, 1);
    worktop_close(&x);
}

static void what_is_not_needed_is_told_with_what_it_took(void **state)
{
    struct worktop *b = *state;
    struct bz_index *index = bz_cache_index(b->k->cache);

    assert_ok(worktop_run(b), &b->k->err);
    assert_int_equal(b->unneeded, 0);
    assert_int_equal(b->planned, 0);
    bz_index_note_cost(index, BZ_STR("a"), BZ_STR("do_x"),
                       &(struct bz_index_cost){40, 0});
    bz_index_note_cost(index, BZ_STR("a"), BZ_STR("do_y"),
                       &(struct bz_index_cost){2, 0});
    assert_ok(bz_index_flush(index, &b->k->err), &b->k->err);
    b->graph.targets.len = 1;
    b->graph.targets.at[0] = W;
    assert_ok(worktop_run(b), &b->k->err);
    assert_string_equal(b->told, "C3 ");
    assert_int_equal(b->unneeded, 3);
    assert_int_equal(b->spared, 42);
    assert_int_equal(b->planned, 42);
}

static void a_task_is_above_all_it_waits_for(void **state)
{
    static const uint32_t levels[TASKS] = {1, 2, 3, 3};
    struct worktop *b = *state;
    struct bz_exec x;

    worktop_open(b, &x);
    for (uint32_t t = 0; t < TASKS; t++)
        assert_int_equal(x.tasks[t].level, levels[t]);
    worktop_close(&x);
}

static void a_tree_is_lost_once(void **state)
{
    struct worktop *b = *state;
    struct bz_exec x;

    worktop_open(b, &x);
    assert_false(bz_choice_lose(&x, &(struct bz_digest){0}));
    assert_true(bz_choice_lose(&x, &b->keys[X]));
    assert_true(x.again);
    assert_false(bz_choice_lose(&x, &b->keys[X]));
    worktop_close(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, worktop_setup, worktop_teardown)
        TEST(a_nostamp_task_and_what_waits_for_it_run_every_time),
        TEST(without_results_all_that_is_needed_waits),
        TEST(a_task_is_above_all_it_waits_for),
        TEST(what_is_not_needed_is_told_with_what_it_took),
        TEST(a_tree_is_lost_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
