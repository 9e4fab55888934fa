#include "plan/forecast.h"

#include "tests/unit/plan/small_plan.h"

static void a_forecast_is_about_all_that_may_run(void **state)
{
    static const int64_t cost[] = {0, 10, 20, 30, 40};
    struct small_plan *s = *state;
    struct bz_forecast f;

    small_make(s);
    bz_forecast_make(&f, &s->plan, cost);
    assert_int_equal(f.work, 100);
    assert_int_equal(f.unknown, 0);
    assert_int_equal(f.critical, 80); /* 4, 3, 1 */
    assert_int_equal(f.path.len, 3);
    assert_int_equal(f.path.at[0], 4);
    assert_int_equal(f.path.at[2], 1);
    assert_int_equal(f.waves.n, 3);
    bz_forecast_release(&f);
}

static void nothing_that_runs_takes_no_time(void **state)
{
    static const int64_t cost[] = {0, 10, 20, 30, 40};
    struct small_plan *s = *state;
    struct bz_forecast f;

    small_have(s, 1, 1);
    small_make(s);
    bz_forecast_make(&f, &s->plan, cost);
    assert_int_equal(f.waves.n, 0);
    assert_int_equal(f.path.len, 0);
    assert_int_equal(f.work, 0);
    bz_forecast_release(&f);
}

static void a_step_of_unknown_length_is_a_step(void **state)
{
    static const int64_t cost[] = {0, 10, BZ_FORECAST_UNKNOWN, 30, 40};
    struct small_plan *s = *state;
    struct bz_forecast f;

    small_have(s, 3, 1);
    small_make(s);
    bz_forecast_make(&f, &s->plan, cost);
    assert_int_equal(f.unknown, 1);
    assert_int_equal(f.work, 10);
    assert_int_equal(f.critical, 10);
    assert_int_equal(f.path.len, 2);
    bz_forecast_release(&f);
}

/* The longest chain over tasks that run, through those that are empty. */
static int64_t naive_chain(const struct small_plan *s, const int64_t *cost)
{
    int64_t end[SMALL_MAX] = {0}, longest = 0;

    for (size_t i = 0; i < s->graph.order.len; i++) {
        uint32_t a = s->graph.order.at[i];
        bool runs = bz_plan_may_run(&s->plan, a);

        if (!runs && s->plan.tasks[a].fate != BZ_PLAN_EMPTY)
            continue;
        for (uint32_t b = 0; b < s->graph.dag.n; b++)
            if (bz_dag_has(&s->graph.dag, a, b) && end[b] > end[a])
                end[a] = end[b];
        if (runs && cost[a] > 0)
            end[a] += cost[a];
        if (end[a] > longest)
            longest = end[a];
    }
    return longest;
}

static void the_critical_path_of_any_graph_is_the_longest(void **state)
{
    struct small_plan *s = test_calloc(1, sizeof(*s));

    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++) {
        int64_t cost[SMALL_MAX];
        struct bz_forecast f;
        struct random_dag g;

        random_dag_init(&g, seed);
        small_init(s, &g.dag, &g.order);
        for (uint32_t t = 0; t < s->graph.dag.n; t++) {
            cost[t] = (int64_t)random_below(&g, 50) - 1;
            s->task_facts[t].noexec = random_below(&g, 4) == 0;
            if (random_below(&g, 3) == 0)
                small_have(s, t, 1);
        }
        BZ_VEC_PUSH(&s->graph.targets, random_below(&g, s->graph.dag.n));
        small_make(s);
        bz_forecast_make(&f, &s->plan, cost);
        assert_int_equal(f.critical, naive_chain(s, cost));
        assert_int_equal(f.waves.start[f.waves.n],
                         s->plan.count[BZ_PLAN_RUN] + s->plan.count[BZ_PLAN_UNLESS]);
        bz_forecast_release(&f);
        small_release(s);
        random_dag_release(&g);
    }
    test_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, small_setup, small_teardown)
        TEST(a_forecast_is_about_all_that_may_run),
        TEST(nothing_that_runs_takes_no_time),
        TEST(a_step_of_unknown_length_is_a_step),
        cmocka_unit_test(the_critical_path_of_any_graph_is_the_longest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
