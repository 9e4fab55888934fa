#include "graph/dirty.h"

#include "tests/unit/graph/random_dag.h"

enum { GRAPHS = 400 };

/* reach[a][b]: a waits for b, directly or not, or is it. Nodes in `closed` lead
 * nowhere.
 */
static void naive_reach(const struct bz_dag *d, const struct bz_bitset *closed,
                        bool reach[24][24])
{
    for (uint32_t a = 0; a < d->n; a++)
        for (uint32_t b = 0; b < d->n; b++)
            reach[a][b] = a == b || (bz_dag_has(d, a, b) && !bz_bitset_test(closed, a));
    for (uint32_t k = 0; k < d->n; k++)
        for (uint32_t a = 0; a < d->n; a++)
            for (uint32_t b = 0; b < d->n; b++)
                reach[a][b] |= reach[a][k] && reach[k][b];
}

static bool any(const struct bz_bitset *from, const struct bz_dag *d,
                bool reach[24][24], uint32_t node, bool down)
{
    for (uint32_t i = 0; i < d->n; i++)
        if (bz_bitset_test(from, i) && (down ? reach[i][node] : reach[node][i]))
            return true;
    return false;
}

static void a_change_reaches_all_that_wait_for_it(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        struct bz_bitset changed, dirty = {0}, none = {0};
        struct random_dag g;
        bool reach[24][24];

        random_dag_init(&g, seed);
        changed = random_dag_some(&g);
        naive_reach(&g.dag, &none, reach);
        bz_dirty_find(&g.dag, &g.order, &changed, &dirty);
        for (uint32_t i = 0; i < g.dag.n; i++)
            assert_int_equal(bz_bitset_test(&dirty, i),
                             any(&changed, &g.dag, reach, i, false));
        bz_bitset_release(&changed);
        bz_bitset_release(&dirty);
        random_dag_release(&g);
    }
}

struct hands {
    struct bz_bitset at_hand, asked;
};

static bool is_at_hand(void *ctx, uint32_t node)
{
    struct hands *h = ctx;

    assert_false(bz_bitset_test(&h->asked, node));
    bz_bitset_set(&h->asked, node);
    return bz_bitset_test(&h->at_hand, node);
}

static void nobody_asks_for_what_is_behind_something_at_hand(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < GRAPHS; seed++) {
        struct bz_bitset targets, needed = {0};
        struct hands h = {{0}, {0}};
        struct bz_dag_ids ids = {0};
        struct random_dag g;
        bool reach[24][24];

        random_dag_init(&g, seed);
        targets = random_dag_some(&g);
        h.at_hand = random_dag_some(&g);
        for (uint32_t i = 0; i < g.dag.n; i++)
            if (bz_bitset_test(&targets, i))
                BZ_VEC_PUSH(&ids, i);
        naive_reach(&g.dag, &h.at_hand, reach);
        bz_dirty_needed(&g.dag, &ids, is_at_hand, &h, &needed);
        assert_true(bz_bitset_equal(&needed, &h.asked));
        for (uint32_t i = 0; i < g.dag.n; i++)
            assert_int_equal(bz_bitset_test(&needed, i),
                             any(&targets, &g.dag, reach, i, true));
        bz_vec_release(&ids);
        bz_bitset_release(&targets);
        bz_bitset_release(&h.at_hand);
        bz_bitset_release(&h.asked);
        bz_bitset_release(&needed);
        random_dag_release(&g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_reaches_all_that_wait_for_it),
        cmocka_unit_test(nobody_asks_for_what_is_behind_something_at_hand),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
