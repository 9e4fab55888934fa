#include "build/build.h"

#include "tests/unit/sig/bench.h"

struct told {
    enum bz_build_stage stages[16];
    size_t n;
    int last;
};

static void hear(void *ctx, struct bz_build *b, int rc)
{
    struct told *t = ctx;

    t->stages[t->n++] = b->stage;
    t->last = rc;
}

static void set_up(struct bz_build *b, struct world *w, const char *const *target,
                   struct told *told)
{
    *b = (struct bz_build){0};
    b->opts.project.cwd = at(w, "build").p;
    b->opts.targets = (struct bz_goal_opts){.targets = target, .n = 1};
    b->opts.required = true;
    b->opts.ended = hear;
    b->opts.ended_ctx = told;
}

static void a_command_goes_on_where_it_stopped(void **state)
{
    static const char *const target = "app";
    struct world *w = *state;
    struct told told = {0};
    struct bz_build b;

    bench_files(w);
    set_up(&b, w, &target, &told);
    assert_ok(bz_build_to(&b, BZ_BUILD_GRAPH, &w->err), &w->err);
    assert_int_equal(told.n, 3);
    assert_int_equal(b.goal.graph.dag.n, 1);
    assert_true(bz_str_eq(b.names[0], BZ_STR("app:do_build")));
    assert_null(b.keys.keys);
    assert_ok(bz_build_to(&b, BZ_BUILD_KEYS, &w->err), &w->err);
    assert_ok(bz_build_to(&b, BZ_BUILD_KEYS, &w->err), &w->err);
    assert_int_equal(told.n, 4); /* each stage once */
    assert_int_equal(told.stages[3], BZ_BUILD_KEYS);
    assert_non_null(b.keys.keys);
    assert_int_equal(bz_library_counted(b.catalog.library), 1);
    bz_build_close(&b);
}

static void a_stage_that_fails_is_the_last_one(void **state)
{
    static const char *const target = "nothing";
    struct world *w = *state;
    struct told told = {0};
    struct bz_build b;

    bench_files(w);
    set_up(&b, w, &target, &told);
    assert_int_equal(bz_build_to(&b, BZ_BUILD_KEYS, &w->err), BZ_E_NOENT);
    assert_int_equal(told.n, 3);
    assert_int_equal(told.last, BZ_E_NOENT);
    assert_int_equal(b.stage, BZ_BUILD_GRAPH);
    bz_build_close(&b);
}

static void a_plan_says_what_would_run(void **state)
{
    static const char *const target = "app";
    struct world *w = *state;
    struct told told = {0};
    struct bz_build b;

    bench_files(w);
    set_up(&b, w, &target, &told);
    b.opts.cache.root = at(w, "store").p;
    b.opts.cache.look = true;
    assert_ok(bz_build_to(&b, BZ_BUILD_PLAN, &w->err), &w->err);
    assert_int_equal(b.plan.count[BZ_PLAN_RUN], 1);
    assert_null(b.pool); /* there is no remote cache to ask */
    bz_build_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_command_goes_on_where_it_stopped, world_setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(a_stage_that_fails_is_the_last_one, world_setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(a_plan_says_what_would_run, world_setup,
                                        world_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
