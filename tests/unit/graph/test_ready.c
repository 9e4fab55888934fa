#include "graph/ready.h"

#include "tests/unit/graph/random_dag.h"

enum { GRAPHS = 400 };

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

static void a_graph_without_nodes_has_no_waves(void **state)
{
    struct bz_dag_ids order = {0};
    struct bz_ready_waves w;
    struct bz_dag d;

    (void)state;
    bz_dag_build(&d, 0, NULL, 0);
    bz_ready_waves(&d, &order, NULL, NULL, &w);
    assert_int_equal(w.n, 0);
    bz_ready_waves_release(&w);
    bz_dag_release(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waves_wait_only_for_earlier_ones),
        cmocka_unit_test(a_graph_without_nodes_has_no_waves),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
