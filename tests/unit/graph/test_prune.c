#include "graph/prune.h"

#include "tests/unit/graph/graph_fixture.h"

#define TWO_TASKS                                                                      \
    TASKS({.name = S("do_a")},                                                         \
          {.name = S("do_b"), .after = S("do_a"), .deptask = S("do_b")})

/* app:do_b depends on do_b of left and right, these on their own do_a. */
#define GRAPH(f)                                                                       \
    FACTS(f, RECIPE("app", .depends = S("left right"), TWO_TASKS),                     \
          RECIPE("left", TWO_TASKS), RECIPE("right", TWO_TASKS));                      \
    build(f)

static void build(struct fixture *f)
{
    struct bz_tgraph_target t = {0, BZ_STR("app"), BZ_STR("do_b")};
    struct bz_err err;

    assert_ok(bz_tgraph_build(&f->g, &f->need, fixture_mcs, &t, 1, &err), &err);
    assert_int_equal(f->g.dag.n, 6);
}

static uint32_t find(const struct bz_tgraph *g, const char *recipe, const char *task)
{
    for (uint32_t r = 0; r < g->nrecipes; r++)
        if (bz_str_eq(g->recipes[r].facts->pn, bz_str_from(recipe)))
            return bz_tgraph_find(g, r, bz_str_from(task));
    return BZ_NEED_NONE;
}

static void prune(struct fixture *f, const char *recipe, const char *task)
{
    BZ_CLEANUP(bz_bitset_release) struct bz_bitset tasks = {0};

    bz_bitset_set(&tasks, find(&f->g, recipe, task));
    bz_prune_tasks(&f->g, &tasks);
}

static void dependents_of_a_removed_task_are_removed(void **state)
{
    struct fixture *f = *state;
    uint32_t left, right;

    GRAPH(f);
    prune(f, "left", "do_b");
    assert_int_equal(f->g.dag.n, 4);
    assert_int_equal(f->g.nrecipes, 3);
    assert_int_equal(find(&f->g, "app", "do_b"), BZ_NEED_NONE);
    assert_int_equal(find(&f->g, "left", "do_b"), BZ_NEED_NONE);
    left = find(&f->g, "left", "do_a");
    right = find(&f->g, "right", "do_b");
    assert_true(left < 4 && right < 4);
    assert_true(bz_dag_has(&f->g.dag, right, find(&f->g, "right", "do_a")));
    assert_int_equal(f->g.dag.start[4], 1);
    assert_int_equal(f->g.order.len, 4);
}

static void dependencies_of_removed_tasks_are_targets(void **state)
{
    struct fixture *f = *state;
    struct bz_bitset targets = {0};

    GRAPH(f);
    prune(f, "left", "do_b");
    for (size_t i = 0; i < f->g.targets.len; i++)
        bz_bitset_set(&targets, f->g.targets.at[i]);
    assert_int_equal(f->g.targets.len, 3);
    assert_true(bz_bitset_test(&targets, find(&f->g, "app", "do_a")));
    assert_true(bz_bitset_test(&targets, find(&f->g, "left", "do_a")));
    assert_true(bz_bitset_test(&targets, find(&f->g, "right", "do_b")));
    bz_bitset_release(&targets);
}

static void a_recipe_without_tasks_is_removed(void **state)
{
    struct fixture *f = *state;

    GRAPH(f);
    prune(f, "left", "do_a");
    assert_int_equal(f->g.dag.n, 3);
    assert_int_equal(f->g.nrecipes, 2);
    for (uint32_t t = 0; t < 3; t++) {
        uint32_t r = f->g.tasks[t].recipe;

        assert_true(f->g.recipes[r].first <= t && t < f->g.recipes[r + 1].first);
    }
}

static void dependencies_come_first_in_the_order(void **state)
{
    struct fixture *f = *state;

    GRAPH(f);
    prune(f, "app", "do_a");
    assert_int_equal(f->g.order.len, 4);
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < i; k++)
            assert_false(bz_dag_has(&f->g.dag, f->g.order.at[k], f->g.order.at[i]));
}

static void a_target_that_remains_is_one(void **state)
{
    struct fixture *f = *state;
    struct bz_bitset none = {0};

    GRAPH(f);
    bz_prune_tasks(&f->g, &none);
    assert_int_equal(f->g.dag.n, 6);
    assert_int_equal(f->g.targets.len, 1);
    assert_int_equal(f->g.targets.at[0], find(&f->g, "app", "do_b"));
}

static void nothing_may_remain(void **state)
{
    struct fixture *f = *state;
    struct bz_bitset all = {0};

    GRAPH(f);
    for (uint32_t t = 0; t < 6; t++)
        bz_bitset_set(&all, t);
    bz_prune_tasks(&f->g, &all);
    assert_int_equal(f->g.dag.n, 0);
    assert_int_equal(f->g.nrecipes, 0);
    assert_int_equal(f->g.targets.len, 0);
    bz_bitset_release(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        fixture_test(dependents_of_a_removed_task_are_removed),
        fixture_test(dependencies_of_removed_tasks_are_targets),
        fixture_test(a_recipe_without_tasks_is_removed),
        fixture_test(dependencies_come_first_in_the_order),
        fixture_test(a_target_that_remains_is_one),
        fixture_test(nothing_may_remain),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
