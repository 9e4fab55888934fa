#include "plan/plan.h"

#include "plan/handing.h"
#include "tests/unit/plan/small_plan.h"

/* A letter for each task: not needed, restored, run, unless, empty. */
static void expect(struct small_plan *s, const char *fates)
{
    char got[SMALL_MAX + 1] = {0};

    small_make(s);
    for (uint32_t t = 0; t < s->plan.n; t++)
        got[t] = "-rRUe"[s->plan.tasks[t].fate];
    assert_string_equal(got, fates);
}

static void only_tasks_without_dependencies_run_in_any_case(void **state)
{
    struct small_plan *s = *state;

    expect(s, "eURUR");
    assert_int_equal(s->plan.count[BZ_PLAN_RUN], 2);
    assert_int_equal(s->plan.count[BZ_PLAN_UNLESS], 2);
    assert_int_equal(s->plan.count[BZ_PLAN_EMPTY], 1);
}

static void where_nothing_is_stored_nobody_is_asked(void **state)
{
    struct small_plan *s = *state;

    s->store.empty = true;
    expect(s, "eRRRR");
    assert_int_equal(s->rounds, 0);
}

static void nothing_to_do_is_one_question(void **state)
{
    struct small_plan *s = *state;

    for (uint32_t t = 1; t < 5; t++)
        small_have(s, t, 1);
    expect(s, "er---");
    assert_int_equal(s->rounds, 1);
    assert_int_equal(s->asked, 1);
    assert_false(s->plan.linked);
    assert_int_equal(s->plan.count[BZ_PLAN_UNNEEDED], 3);
}

static void dependencies_of_what_runs_are_looked_up(void **state)
{
    struct small_plan *s = *state;

    small_have(s, 3, 1);
    small_have(s, 4, 1);
    expect(s, "eURr-");
    small_have(s, 2, 1);
    expect(s, "eRrr-");
}

static void what_is_nostamp_and_its_dependents_run(void **state)
{
    struct small_plan *s = *state;
    struct bz_bitset unused = {0};

    for (uint32_t t = 1; t < 5; t++)
        small_have(s, t, 1);
    s->task_facts[4].nostamp = true;
    expect(s, "eRrRR");
    s->task_facts[4].nostamp = false;
    bz_bitset_set(&unused, 3);
    s->in.unused = &unused;
    expect(s, "eRrRr");
    s->in.unused = NULL;
    s->in.enter = 3;
    expect(s, "eRRr-");
    s->in.enter = 0;
    s->in.no_cache = true;
    expect(s, "eRRRR");
    bz_bitset_release(&unused);
}

/* Its key is new, and so is its own part: there can be no result. */
static void a_forced_task_runs_and_its_dependents_perhaps(void **state)
{
    struct small_plan *s = *state;
    struct bz_bitset forced = {0};

    small_have(s, 2, 1);
    bz_bitset_set(&forced, 3);
    s->in.forced = &forced;
    expect(s, "eUrRR");
    bz_bitset_release(&forced);
}

/* All keys are new, but the outputs of 2 and 3 are what they were. */
static void a_task_is_found_by_what_it_sees(void **state)
{
    struct small_plan *s = *state;
    struct bz_output out = {0}, handed;
    struct bz_digest content;

    small_have(s, 2, 12);
    small_have(s, 3, 13);
    expect(s, "eRrr-");
    bz_handing_collect(&s->plan, 1, &handed);
    bz_handing_sign(&s->plan, 1, &handed, &content);
    small_layer(s, &out, 1, 11);
    for (size_t i = 0; i < handed.shared.len; i++)
        BZ_VEC_PUSH(&out.shared, handed.shared.at[i]);
    out.shared.at[0].task = BZ_STR("other:do_it");
    small_put(s, &content, &out);
    expect(s, "errr-");
    assert_true(s->plan.tasks[1].same);
    assert_true(s->plan.tasks[0].known);
    assert_int_equal(s->plan.tasks[1].output.shared.len, 3);
    assert_true(bz_str_eq(s->plan.tasks[1].output.shared.at[0].task, s->names[1]));
    bz_output_release(&out);
    bz_output_release(&handed);
}

static void a_result_that_is_not_like_what_it_sees_is_none(void **state)
{
    struct small_plan *s = *state;
    struct bz_output out = {0}, handed;
    struct bz_digest content;

    small_have(s, 2, 12);
    small_have(s, 3, 13);
    expect(s, "eRrr-");
    bz_handing_collect(&s->plan, 1, &handed);
    bz_handing_sign(&s->plan, 1, &handed, &content);
    small_put(s, &content, &out);
    expect(s, "eRrr-");
    assert_false(s->plan.tasks[1].known);
    bz_output_release(&handed);
}

static void while_a_build_runs_tasks_are_looked_up_again(void **state)
{
    struct small_plan *s = *state;
    struct bz_output handed = {0}, out = {0};
    struct bz_digest content = {{77}};
    struct bz_bitset forced = {0};

    small_layer(s, &out, 3, 1);
    small_put(s, &content, &out);
    bz_bitset_set(&forced, 2);
    s->in.forced = &forced;
    expect(s, "eURUR");
    assert_int_equal(s->near, 0);
    assert_true(bz_plan_find_same(&s->plan, &s->store, 3, &handed, &content));
    assert_int_equal(s->near, 0);
    assert_int_equal(s->plan.tasks[3].fate, BZ_PLAN_RESTORE);
    assert_int_equal(s->plan.tasks[3].output.shared.len, 1);
    assert_true(bz_plan_find_same(&s->plan, &s->store, 4, &handed, &content));
    assert_int_equal(s->near, 1); /* it was looked for elsewhere before */
    s->asked = 0;
    assert_false(bz_plan_find_same(&s->plan, &s->store, 2, &handed, &content));
    assert_int_equal(s->asked, 0);
    bz_output_release(&out);
    bz_bitset_release(&forced);
}

static void a_tree_that_is_lost_makes_its_result_none(void **state)
{
    struct small_plan *s = *state;
    struct bz_digest tree = {{5}};
    struct bz_map lost = {0};
    struct bz_bitset ran = {0};

    small_have(s, 1, 5);
    small_have(s, 2, 1);
    small_have(s, 3, 1);
    expect(s, "er---");
    bz_map_put(&lost, bz_str_of((const char *)tree.b, BZ_DIGEST_LEN));
    s->in.lost = &lost;
    expect(s, "eRrr-");
    s->in.no_cache = true;
    bz_bitset_set(&ran, 3);
    s->in.ran = &ran;
    expect(s, "eRRr-");
    bz_map_release(&lost);
    bz_bitset_release(&ran);
}

static void a_canceled_plan_asks_no_more(void **state)
{
    struct small_plan *s = *state;
    struct bz_cancel cancel;

    bz_cancel_init(&cancel, NULL, INT64_MAX);
    bz_cancel_now(&cancel);
    s->store.cancel = &cancel;
    small_make(s);
    assert_int_equal(s->rounds, 0);
}

static void a_level_is_above_all_dependencies(void **state)
{
    static const uint32_t levels[] = {4, 3, 1, 2, 1};
    struct small_plan *s = *state;

    small_make(s);
    for (uint32_t t = 0; t < 5; t++)
        assert_int_equal(s->plan.tasks[t].level, levels[t]);
}

/* ---- any graph ---- */

/* As the definition says, asked of one task at a time. */
struct naive {
    struct small_plan *s;
    const struct bz_bitset *have;
    bool needed[SMALL_MAX], fleeting[SMALL_MAX], known[SMALL_MAX];
};

static void naive_check(struct naive *v, struct random_dag *g)
{
    struct small_plan *s = v->s;
    const struct bz_dag *dag = &s->graph.dag;

    for (size_t i = 0; i < s->graph.order.len; i++) {
        uint32_t t = s->graph.order.at[i];

        v->fleeting[t] = s->task_facts[t].nostamp;
        for (uint32_t d = 0; d < dag->n; d++)
            v->fleeting[t] |= bz_dag_has(dag, t, d) && v->fleeting[d];
    }
    for (size_t i = 0; i < s->graph.targets.len; i++)
        v->needed[s->graph.targets.at[i]] = true;
    for (size_t i = s->graph.order.len; i-- > 0;) {
        uint32_t t = s->graph.order.at[i];
        bool stop =
            !s->task_facts[t].noexec && !v->fleeting[t] && bz_bitset_test(v->have, t);

        for (uint32_t d = 0; d < dag->n; d++)
            v->needed[d] |= v->needed[t] && !stop && bz_dag_has(dag, t, d);
    }
    for (size_t i = 0; i < s->graph.order.len; i++) {
        uint32_t t = s->graph.order.at[i];
        enum bz_plan_fate want = BZ_PLAN_RUN;
        bool all = true;

        for (uint32_t d = 0; d < dag->n; d++)
            all &= !bz_dag_has(dag, t, d) || v->known[d];
        if (!v->needed[t])
            want = BZ_PLAN_UNNEEDED;
        else if (s->task_facts[t].noexec)
            want = BZ_PLAN_EMPTY;
        else if (!v->fleeting[t] && bz_bitset_test(v->have, t))
            want = BZ_PLAN_RESTORE;
        else if (!v->fleeting[t] && !all)
            want = BZ_PLAN_UNLESS;
        v->known[t] = want == BZ_PLAN_RESTORE || (want == BZ_PLAN_EMPTY && all);
        assert_int_equal(s->plan.tasks[t].fate, want);
    }
    (void)g;
}

static void plans_of_any_graph_are_as_the_definition_says(void **state)
{
    struct small_plan *s = test_calloc(1, sizeof(*s));

    (void)state;
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct naive v = {.s = s};
        struct bz_bitset have, noexec, nostamp = {0};
        struct random_dag g;
        uint32_t sum = 0;

        random_dag_init(&g, seed);
        have = random_dag_some(&g);
        noexec = random_dag_some(&g);
        if (seed % 3 == 0)
            bz_bitset_set(&nostamp, random_below(&g, g.dag.n));
        small_init(s, &g.dag, &g.order);
        for (uint32_t t = 0; t < s->graph.dag.n; t++) {
            s->task_facts[t].noexec = bz_bitset_test(&noexec, t);
            s->task_facts[t].nostamp = bz_bitset_test(&nostamp, t);
            if (bz_bitset_test(&have, t))
                small_have(s, t, (uint8_t)t);
        }
        BZ_VEC_PUSH(&s->graph.targets, random_below(&g, s->graph.dag.n));
        BZ_VEC_PUSH(&s->graph.targets, random_below(&g, s->graph.dag.n));
        small_make(s);
        v.have = &have;
        naive_check(&v, &g);
        for (int i = 0; i < BZ_PLAN_FATES; i++)
            sum += s->plan.count[i];
        assert_int_equal(sum, s->graph.dag.n);
        small_release(s);
        bz_bitset_release(&have);
        bz_bitset_release(&noexec);
        bz_bitset_release(&nostamp);
        random_dag_release(&g);
    }
    test_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, small_setup, small_teardown)
        TEST(only_tasks_without_dependencies_run_in_any_case),
        TEST(where_nothing_is_stored_nobody_is_asked),
        TEST(nothing_to_do_is_one_question),
        TEST(dependencies_of_what_runs_are_looked_up),
        TEST(what_is_nostamp_and_its_dependents_run),
        TEST(a_forced_task_runs_and_its_dependents_perhaps),
        TEST(a_task_is_found_by_what_it_sees),
        TEST(a_result_that_is_not_like_what_it_sees_is_none),
        TEST(while_a_build_runs_tasks_are_looked_up_again),
        TEST(a_tree_that_is_lost_makes_its_result_none),
        TEST(a_canceled_plan_asks_no_more),
        TEST(a_level_is_above_all_dependencies),
        cmocka_unit_test(plans_of_any_graph_are_as_the_definition_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
