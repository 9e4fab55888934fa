#include "graph/dag.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tests/unit/bz_test.h"

#define EDGES(...) ((const struct bz_dag_edge[]){__VA_ARGS__})
#define BUILD(d, n, ...)                                                               \
    bz_dag_build((d), (n), EDGES(__VA_ARGS__),                                         \
                 sizeof(EDGES(__VA_ARGS__)) / sizeof(struct bz_dag_edge))

static void expect_ids(const struct bz_dag_ids *ids, const char *text)
{
    char buf[256] = "";
    size_t n = 0;

    for (size_t i = 0; i < ids->len; i++)
        n += (size_t)snprintf(buf + n, sizeof(buf) - n, "%s%u", i ? " " : "",
                              ids->at[i]);
    assert_string_equal(buf, text);
}

static void a_graph_without_nodes_has_an_order(void **state)
{
    struct bz_dag d, back;
    struct bz_dag_ids order = {0};
    struct bz_err err;

    (void)state;
    bz_dag_build(&d, 0, NULL, 0);
    assert_int_equal(bz_dag_order(&d, &order, &err), 0);
    assert_int_equal(order.len, 0);
    bz_dag_reverse(&d, &back);
    bz_dag_release(&back);
    bz_dag_release(&d);
    bz_vec_release(&order);
}

static void edges_are_sorted_and_kept_once(void **state)
{
    struct bz_dag d;

    (void)state;
    BUILD(&d, 5, {3, 4}, {1, 2}, {1, 0}, {1, 2}, {3, 0}, {1, 2});
    assert_int_equal(bz_dag_degree(&d, 0), 0);
    assert_int_equal(bz_dag_degree(&d, 1), 2);
    assert_int_equal(bz_dag_degree(&d, 2), 0);
    assert_int_equal(bz_dag_degree(&d, 3), 2);
    assert_int_equal(bz_dag_degree(&d, 4), 0);
    assert_int_equal(d.to[d.start[1]], 0);
    assert_int_equal(d.to[d.start[1] + 1], 2);
    assert_true(bz_dag_has(&d, 3, 4));
    assert_true(bz_dag_has(&d, 1, 0));
    assert_false(bz_dag_has(&d, 1, 1));
    assert_false(bz_dag_has(&d, 4, 3));
    bz_dag_release(&d);
}

static void a_cycle_is_shown_as_its_shortest_path(void **state)
{
    struct bz_dag d;
    struct bz_dag_ids order = {0};
    struct bz_err err;

    (void)state;
    /* 0 -> 1 -> 2 -> 3 -> 1, and a long way round through 4 and 5 */
    BUILD(&d, 6, {0, 1}, {1, 2}, {2, 3}, {3, 1}, {1, 4}, {4, 5}, {5, 3});
    assert_int_equal(bz_dag_order(&d, &order, &err), BZ_E_INVAL);
    expect_ids(&order, "1 2 3");
    bz_dag_release(&d);
    bz_vec_release(&order);
}

static void a_node_that_waits_for_itself_is_a_cycle(void **state)
{
    struct bz_dag d;
    struct bz_dag_ids order = {0};
    struct bz_err err;

    (void)state;
    BUILD(&d, 2, {1, 1});
    assert_int_equal(bz_dag_order(&d, &order, &err), BZ_E_INVAL);
    expect_ids(&order, "1");
    bz_dag_release(&d);
    bz_vec_release(&order);
}

static void levels_are_the_waves_of_a_build(void **state)
{
    struct bz_dag d;
    struct bz_dag_ids order = {0};
    struct bz_err err;
    uint32_t level[6];

    (void)state;
    BUILD(&d, 6, {1, 0}, {2, 0}, {3, 1}, {3, 2}, {3, 0}, {4, 3});
    assert_int_equal(bz_dag_order(&d, &order, &err), 0);
    assert_int_equal(bz_dag_levels(&d, &order, level), 4);
    assert_int_equal(level[0], 0);
    assert_int_equal(level[1], 1);
    assert_int_equal(level[2], 1);
    assert_int_equal(level[3], 2);
    assert_int_equal(level[4], 3);
    assert_int_equal(level[5], 0);
    bz_dag_release(&d);
    bz_vec_release(&order);
}

static void costs_add_up_along_the_costliest_chain(void **state)
{
    static const uint64_t cost[] = {5, 1, 7, 2};
    struct bz_dag d;
    struct bz_dag_ids order = {0};
    struct bz_err err;
    uint64_t end[4];

    (void)state;
    BUILD(&d, 4, {1, 0}, {2, 0}, {3, 1}, {3, 2});
    assert_int_equal(bz_dag_order(&d, &order, &err), 0);
    bz_dag_costs(&d, &order, cost, end);
    assert_int_equal(end[0], 5);
    assert_int_equal(end[1], 6);
    assert_int_equal(end[2], 12);
    assert_int_equal(end[3], 14);
    bz_dag_release(&d);
    bz_vec_release(&order);
}

static void a_chain_of_a_million_needs_no_stack(void **state)
{
    enum { N = 1000000 };
    BZ_CLEANUP(bz_mem_freep)
    struct bz_dag_edge *edges = bz_mem_array(N, sizeof(*edges));
    struct bz_bitset seen = {0};
    struct bz_dag d;
    struct bz_dag_ids order = {0};
    struct bz_err err;

    (void)state;
    for (uint32_t i = 0; i + 1 < N; i++)
        edges[i] = (struct bz_dag_edge){i, i + 1};
    bz_dag_build(&d, N, edges, N - 1);
    assert_int_equal(bz_dag_order(&d, &order, &err), 0);
    assert_int_equal(order.at[0], N - 1);
    bz_dag_reach(&d, 0, &seen);
    assert_int_equal(bz_bitset_count(&seen), N);
    bz_bitset_release(&seen);
    bz_dag_release(&d);
    bz_vec_release(&order);
}

/* Random graphs against a matrix of who reaches whom. */
enum { SMALL = 9 };

struct matrix {
    bool edge[SMALL][SMALL], reach[SMALL][SMALL]; /* by at least one edge */
};

static void close_matrix(struct matrix *m)
{
    memcpy(m->reach, m->edge, sizeof(m->reach));
    for (int k = 0; k < SMALL; k++)
        for (int i = 0; i < SMALL; i++)
            for (int j = 0; j < SMALL; j++)
                m->reach[i][j] |= m->reach[i][k] && m->reach[k][j];
}

static bool has_cycle(const struct matrix *m)
{
    for (int i = 0; i < SMALL; i++)
        if (m->reach[i][i])
            return true;
    return false;
}

static uint32_t below(uint64_t *r, uint32_t n)
{
    *r = *r * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*r >> 33) % n;
}

static void random_graph(uint64_t *r, bool acyclic, struct matrix *m, struct bz_dag *d)
{
    struct bz_dag_edge edges[64];
    size_t n = below(r, 30);

    memset(m, 0, sizeof(*m));
    for (size_t i = 0; i < n; i++) {
        uint32_t a = below(r, SMALL), b = below(r, SMALL);

        if (acyclic && a <= b) {
            a = SMALL - 1;
            b = b % (SMALL - 1);
        }
        edges[i] = (struct bz_dag_edge){a, b};
        m->edge[a][b] = true;
    }
    close_matrix(m);
    bz_dag_build(d, SMALL, edges, n);
}

static void check_order(const struct matrix *m, const struct bz_dag_ids *order)
{
    bool done[SMALL] = {0};

    assert_int_equal(order->len, SMALL);
    for (size_t i = 0; i < order->len; i++) {
        for (int to = 0; to < SMALL; to++)
            assert_true(!m->edge[order->at[i]][to] || done[to]);
        done[order->at[i]] = true;
    }
}

static void check_cycle(const struct matrix *m, const struct bz_dag_ids *path)
{
    assert_true(path->len > 0);
    for (size_t i = 0; i < path->len; i++)
        assert_true(m->edge[path->at[i]][path->at[(i + 1) % path->len]]);
}

static void an_order_is_found_exactly_when_there_is_one(void **state)
{
    uint64_t r = 1;

    (void)state;
    for (int round = 0; round < 3000; round++) {
        struct bz_dag_ids order = {0};
        struct bz_err err;
        struct matrix m;
        struct bz_dag d;
        int rc;

        random_graph(&r, round % 2, &m, &d);
        rc = bz_dag_order(&d, &order, &err);
        assert_int_equal(rc < 0, has_cycle(&m));
        if (rc < 0)
            check_cycle(&m, &order);
        else
            check_order(&m, &order);
        bz_dag_release(&d);
        bz_vec_release(&order);
    }
}

static void reaching_follows_every_edge_and_no_other(void **state)
{
    uint64_t r = 2;

    (void)state;
    for (int round = 0; round < 1000; round++) {
        struct matrix m;
        struct bz_dag d, back;

        random_graph(&r, false, &m, &d);
        bz_dag_reverse(&d, &back);
        for (uint32_t i = 0; i < SMALL; i++) {
            struct bz_bitset down = {0}, up = {0};

            bz_dag_reach(&d, i, &down);
            bz_dag_reach(&back, i, &up);
            for (uint32_t j = 0; j < SMALL; j++) {
                assert_int_equal(bz_bitset_test(&down, j), i == j || m.reach[i][j]);
                assert_int_equal(bz_bitset_test(&up, j), i == j || m.reach[j][i]);
                assert_int_equal(bz_dag_has(&back, j, i), m.edge[i][j]);
            }
            bz_bitset_release(&down);
            bz_bitset_release(&up);
        }
        bz_dag_release(&d);
        bz_dag_release(&back);
    }
}

/* An edge stays if and only if no other way leads there. */
static bool is_needed(const struct matrix *m, int from, int to)
{
    for (int k = 0; k < SMALL; k++)
        if (k != to && m->edge[from][k] && m->reach[k][to])
            return false;
    return m->edge[from][to];
}

static void reducing_drops_what_other_edges_say(void **state)
{
    uint64_t r = 3;

    (void)state;
    for (int round = 0; round < 1000; round++) {
        struct bz_dag_ids order = {0};
        struct matrix m;
        struct bz_dag d, small;
        struct bz_err err;

        random_graph(&r, true, &m, &d);
        assert_int_equal(bz_dag_order(&d, &order, &err), 0);
        bz_dag_reduce(&d, &order, &small);
        for (int i = 0; i < SMALL; i++)
            for (int j = 0; j < SMALL; j++)
                assert_int_equal(bz_dag_has(&small, (uint32_t)i, (uint32_t)j),
                                 is_needed(&m, i, j));
        bz_dag_release(&d);
        bz_dag_release(&small);
        bz_vec_release(&order);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_graph_without_nodes_has_an_order),
        cmocka_unit_test(edges_are_sorted_and_kept_once),
        cmocka_unit_test(a_cycle_is_shown_as_its_shortest_path),
        cmocka_unit_test(a_node_that_waits_for_itself_is_a_cycle),
        cmocka_unit_test(levels_are_the_waves_of_a_build),
        cmocka_unit_test(costs_add_up_along_the_costliest_chain),
        cmocka_unit_test(a_chain_of_a_million_needs_no_stack),
        cmocka_unit_test(an_order_is_found_exactly_when_there_is_one),
        cmocka_unit_test(reaching_follows_every_edge_and_no_other),
        cmocka_unit_test(reducing_drops_what_other_edges_say),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
