#include "graph/ready.h"

#include "tests/unit/graph/random_dag.h"

enum { GRAPHS = 400 };

/* As one would write it down: not done, and all it waits for is. */
static bool naive_ready(const struct bz_dag *d, const struct bz_bitset *done,
                        uint32_t node)
{
    if (bz_bitset_test(done, node))
        return false;
    for (uint32_t to = 0; to < d->n; to++)
        if (bz_dag_has(d, node, to) && !bz_bitset_test(done, to))
            return false;
    return true;
}

static void expect_naive(const struct bz_dag *d, const struct bz_bitset *done,
                         const struct bz_bitset *ready)
{
    for (uint32_t i = 0; i < d->n; i++)
        assert_int_equal(naive_ready(d, done, i), bz_bitset_test(ready, i));
}

/* Completes everything in a random order; at each step the ready set is the naive one.
 */
static void run_through(struct random_dag *g)
{
    BZ_CLEANUP(bz_vec_release) struct bz_dag_ids queue = {0};
    struct bz_bitset ready = {0};
    struct bz_ready r;

    bz_ready_init(&r, &g->dag, &queue);
    for (size_t i = 0; i < queue.len; i++)
        bz_bitset_set(&ready, queue.at[i]);
    expect_naive(&g->dag, &r.done, &ready);
    while (queue.len > 0) {
        size_t i = random_below(g, (uint32_t)queue.len), before;
        uint32_t node = queue.at[i];

        queue.at[i] = BZ_VEC_LAST(&queue);
        before = --queue.len;
        bz_bitset_clear(&ready, node);
        bz_ready_done(&r, node, &queue);
        for (i = before; i < queue.len; i++)
            bz_bitset_set(&ready, queue.at[i]);
        expect_naive(&g->dag, &r.done, &ready);
    }
    assert_int_equal(r.left, 0);
    bz_ready_release(&r);
    bz_bitset_release(&ready);
}

static void each_completion_makes_ready_what_the_definition_says(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        struct random_dag g;

        random_dag_init(&g, seed);
        run_through(&g);
        random_dag_release(&g);
    }
}

static void a_completed_set_has_its_ready_set(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        struct random_dag g;
        struct bz_bitset done, ready = {0};
        struct bz_dag_ids ids = {0};

        random_dag_init(&g, seed);
        done = random_dag_some(&g); /* any set, also one that cannot come about */
        bz_ready_find(&g.dag, &done, &ids);
        for (size_t i = 0; i < ids.len; i++)
            bz_bitset_set(&ready, ids.at[i]);
        assert_int_equal(bz_bitset_count(&ready), ids.len);
        expect_naive(&g.dag, &done, &ready);
        bz_vec_release(&ids);
        bz_bitset_release(&done);
        bz_bitset_release(&ready);
        random_dag_release(&g);
    }
}

/* How many of the set lie on the longest way down that stays in the two sets, itself
 * not counted. */
static uint32_t naive_wave(const struct random_dag *g, const struct bz_bitset *among,
                           const struct bz_bitset *through, uint32_t node)
{
    uint32_t wave[24] = {0};

    for (size_t i = 0; i < g->order.len; i++) {
        uint32_t a = g->order.at[i];

        if (!bz_bitset_test(among, a) && !bz_bitset_test(through, a))
            continue;
        for (uint32_t to = 0; to < g->dag.n; to++) {
            uint32_t step = bz_bitset_test(among, to);

            if (bz_dag_has(&g->dag, a, to) && wave[a] < wave[to] + step)
                wave[a] = wave[to] + step;
        }
    }
    return wave[node];
}

static void check_waves(const struct random_dag *g, const struct bz_bitset *among,
                        const struct bz_bitset *through, const struct bz_ready_waves *w)
{
    assert_int_equal(w->start[w->n], bz_bitset_count(among));
    for (uint32_t i = 0; i < w->n; i++) {
        assert_true(w->start[i] < w->start[i + 1]);
        for (uint32_t k = w->start[i]; k < w->start[i + 1]; k++) {
            assert_true(bz_bitset_test(among, w->nodes[k]));
            assert_true(k == w->start[i] || w->nodes[k - 1] < w->nodes[k]);
            assert_int_equal(naive_wave(g, among, through, w->nodes[k]), i);
        }
    }
}

static void waves_wait_only_for_earlier_ones(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        struct random_dag g;
        struct bz_ready_waves w;
        struct bz_bitset among, through;

        random_dag_init(&g, seed);
        among = random_dag_some(&g);
        through = random_dag_some(&g);
        bz_ready_waves(&g.dag, &g.order, &among, &through, &w);
        check_waves(&g, &among, &through, &w);
        bz_ready_waves_release(&w);
        for (uint32_t i = 0; i < g.dag.n; i++)
            bz_bitset_set(&among, i);
        bz_bitset_zero(&through);
        bz_ready_waves(&g.dag, &g.order, NULL, NULL, &w);
        check_waves(&g, &among, &through, &w);
        bz_bitset_release(&through);
        bz_ready_waves_release(&w);
        bz_bitset_release(&among);
        random_dag_release(&g);
    }
}

static void a_graph_without_nodes_is_done(void **state)
{
    struct bz_dag_ids out = {0};
    struct bz_ready_waves w;
    struct bz_ready r;
    struct bz_dag d;

    (void)state;
    bz_dag_build(&d, 0, NULL, 0);
    bz_ready_init(&r, &d, &out);
    assert_int_equal(r.left + out.len, 0);
    bz_ready_waves(&d, &out, NULL, NULL, &w);
    assert_int_equal(w.n, 0);
    bz_ready_waves_release(&w);
    bz_ready_release(&r);
    bz_dag_release(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_completion_makes_ready_what_the_definition_says),
        cmocka_unit_test(a_completed_set_has_its_ready_set),
        cmocka_unit_test(waves_wait_only_for_earlier_ones),
        cmocka_unit_test(a_graph_without_nodes_is_done),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
