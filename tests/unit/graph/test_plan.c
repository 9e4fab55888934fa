#include "graph/plan.h"

#include "tests/unit/graph/random_dag.h"

/* What is known of the nodes of a graph, for plans. */
struct store {
    struct bz_bitset at_hand, empty;
    int64_t cost[24];
};

static bool is_at_hand(void *ctx, uint32_t node)
{
    const struct store *s = ctx;

    return bz_bitset_test(&s->at_hand, node);
}

static bool is_empty(void *ctx, uint32_t node)
{
    const struct store *s = ctx;

    return bz_bitset_test(&s->empty, node);
}

static int64_t cost_of(void *ctx, uint32_t node)
{
    const struct store *s = ctx;

    return s->cost[node];
}

static void make(const struct bz_dag *dag, const struct bz_dag_ids *order,
                 const struct bz_dag_ids *targets, struct store *s,
                 struct bz_plan *plan)
{
    const struct bz_plan_in in = {dag,      order,      targets, s,
                                  is_empty, is_at_hand, cost_of};

    bz_plan_make(plan, &in);
}

/* 0 is the target and does nothing: it waits for 1, that for 2 and 3, and 3 for 4. */
struct sample {
    struct bz_dag dag;
    struct bz_dag_ids order, targets;
    struct store store;
    struct bz_plan plan;
};

static int setup(void **state)
{
    static const struct bz_dag_edge edges[] = {
        {0, 1},
        {1, 2},
        {1, 3},
        {3, 4}
    };
    struct sample *s = test_calloc(1, sizeof(*s));
    struct bz_err err;

    bz_dag_build(&s->dag, 5, edges, BZ_COUNTOF(edges));
    assert_ok(bz_dag_order(&s->dag, &s->order, &err), &err);
    BZ_VEC_PUSH(&s->targets, 0);
    bz_bitset_set(&s->store.empty, 0);
    for (int i = 0; i < 5; i++)
        s->store.cost[i] = INT64_C(10) * i;
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    struct sample *s = *state;

    bz_plan_release(&s->plan);
    bz_dag_release(&s->dag);
    bz_vec_release(&s->order);
    bz_vec_release(&s->targets);
    bz_bitset_release(&s->store.at_hand);
    bz_bitset_release(&s->store.empty);
    test_free(s);
    return 0;
}

static void expect(struct sample *s, const uint8_t states[5])
{
    make(&s->dag, &s->order, &s->targets, &s->store, &s->plan);
    for (int i = 0; i < 5; i++)
        assert_int_equal(s->plan.state[i], states[i]);
}

static void nothing_at_hand_means_everything_runs(void **state)
{
    struct sample *s = *state;

    expect(s, (const uint8_t[]){BZ_PLAN_EMPTY, BZ_PLAN_RUN, BZ_PLAN_RUN, BZ_PLAN_RUN,
                                BZ_PLAN_RUN});
    assert_int_equal(s->plan.count[BZ_PLAN_RUN], 4);
    assert_int_equal(s->plan.work, 100);
    assert_int_equal(s->plan.critical, 80); /* 4, 3, 1 */
    assert_int_equal(s->plan.path.len, 3);
    assert_int_equal(s->plan.path.at[0], 4);
    assert_int_equal(s->plan.path.at[2], 1);
    assert_int_equal(s->plan.waves.n, 3);
}

static void what_is_behind_a_restored_node_is_not_needed(void **state)
{
    struct sample *s = *state;

    bz_bitset_set(&s->store.at_hand, 1);
    bz_bitset_set(&s->store.at_hand, 4);
    expect(s, (const uint8_t[]){BZ_PLAN_EMPTY, BZ_PLAN_RESTORE, BZ_PLAN_UNNEEDED,
                                BZ_PLAN_UNNEEDED, BZ_PLAN_UNNEEDED});
    assert_int_equal(s->plan.count[BZ_PLAN_UNNEEDED], 3);
    assert_int_equal(s->plan.waves.n, 0);
    assert_int_equal(s->plan.path.len, 0);
}

static void a_node_that_runs_asks_for_what_it_waits_for(void **state)
{
    struct sample *s = *state;

    bz_bitset_set(&s->store.at_hand, 3);
    s->store.cost[2] = BZ_PLAN_UNKNOWN;
    expect(s, (const uint8_t[]){BZ_PLAN_EMPTY, BZ_PLAN_RUN, BZ_PLAN_RUN,
                                BZ_PLAN_RESTORE, BZ_PLAN_UNNEEDED});
    assert_int_equal(s->plan.unknown, 1);
    assert_int_equal(s->plan.work, 10);
    assert_int_equal(s->plan.critical, 10);
    assert_int_equal(s->plan.path.len, 2); /* an unknown step is a step */
}

/* The longest chain over nodes that run, through those that are empty. */
static int64_t naive_chain(const struct bz_dag *d, const struct bz_plan *plan,
                           const struct store *s, const struct bz_dag_ids *order)
{
    int64_t end[24] = {0}, longest = 0;

    for (size_t i = 0; i < order->len; i++) {
        uint32_t a = order->at[i];

        if (plan->state[a] != BZ_PLAN_RUN && plan->state[a] != BZ_PLAN_EMPTY)
            continue;
        for (uint32_t b = 0; b < d->n; b++)
            if (bz_dag_has(d, a, b) && end[b] > end[a])
                end[a] = end[b];
        if (plan->state[a] == BZ_PLAN_RUN && s->cost[a] > 0)
            end[a] += s->cost[a];
        if (end[a] > longest)
            longest = end[a];
    }
    return longest;
}

static void check_states(const struct random_dag *g, const struct store *s,
                         const struct bz_plan *plan, const struct bz_dag_ids *targets)
{
    uint32_t sum = 0;
    bool needed[24] = {false};

    for (size_t i = 0; i < targets->len; i++)
        needed[targets->at[i]] = true;
    for (size_t i = g->order.len; i-- > 0;) {
        uint32_t a = g->order.at[i];
        bool empty = bz_bitset_test(&s->empty, a);
        bool stop = !empty && bz_bitset_test(&s->at_hand, a);

        for (uint32_t b = 0; b < g->dag.n; b++)
            needed[b] |= needed[a] && !stop && bz_dag_has(&g->dag, a, b);
        if (!needed[a])
            assert_int_equal(plan->state[a], BZ_PLAN_UNNEEDED);
        else if (empty)
            assert_int_equal(plan->state[a], BZ_PLAN_EMPTY);
        else
            assert_int_equal(plan->state[a], stop ? BZ_PLAN_RESTORE : BZ_PLAN_RUN);
    }
    for (int i = 0; i < BZ_PLAN_STATES; i++)
        sum += plan->count[i];
    assert_int_equal(sum, g->dag.n);
    assert_int_equal(plan->waves.start[plan->waves.n], plan->count[BZ_PLAN_RUN]);
}

static void plans_of_any_graph_are_as_the_definition_says(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct random_dag g;
        struct store s;
        struct bz_dag_ids targets = {0};
        struct bz_plan plan;

        random_dag_init(&g, seed);
        s.at_hand = random_dag_some(&g);
        s.empty = random_dag_some(&g);
        for (uint32_t i = 0; i < 24; i++)
            s.cost[i] = (int64_t)random_below(&g, 50) - 1;
        BZ_VEC_PUSH(&targets, random_below(&g, g.dag.n));
        BZ_VEC_PUSH(&targets, random_below(&g, g.dag.n));
        make(&g.dag, &g.order, &targets, &s, &plan);
        check_states(&g, &s, &plan, &targets);
        assert_int_equal(plan.critical, naive_chain(&g.dag, &plan, &s, &g.order));
        bz_plan_release(&plan);
        bz_vec_release(&targets);
        bz_bitset_release(&s.at_hand);
        bz_bitset_release(&s.empty);
        random_dag_release(&g);
    }
}

#define sample_test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        sample_test(nothing_at_hand_means_everything_runs),
        sample_test(what_is_behind_a_restored_node_is_not_needed),
        sample_test(a_node_that_runs_asks_for_what_it_waits_for),
        cmocka_unit_test(plans_of_any_graph_are_as_the_definition_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
