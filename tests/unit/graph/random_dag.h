/* random_dag.h - graphs without cycles, the same ones in every run. */
#ifndef BZ_TEST_RANDOM_DAG_H
#define BZ_TEST_RANDOM_DAG_H

#include "base/err.h"
#include "graph/dag.h"
#include "tests/unit/bz_test.h"

struct random_dag {
    uint64_t seed;
    struct bz_dag dag;
    struct bz_dag_ids order;
};

static inline uint32_t random_below(struct random_dag *r, uint32_t n)
{
    r->seed = r->seed * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(r->seed >> 33) % n;
}

/* Up to 24 nodes, from hardly any edges to nearly all. Numbers say nothing about the
 * order. */
static inline void random_dag_init(struct random_dag *r, uint64_t seed)
{
    struct edge_list BZ_VEC(struct bz_dag_edge) edges = {0};
    uint32_t place[24] = {0}, n, dense;
    struct bz_err err;

    *r = (struct random_dag){.seed = seed * 2654435761U + 1};
    n = 1 + random_below(r, 24);
    dense = 1 + random_below(r, 10);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t other = random_below(r, i + 1);

        place[i] = place[other];
        place[other] = i;
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < i; k++)
            if (random_below(r, 10) < dense)
                BZ_VEC_PUSH(&edges, (struct bz_dag_edge){place[i], place[k]});
    bz_dag_build(&r->dag, n, edges.at, edges.len);
    assert_ok(bz_dag_order(&r->dag, &r->order, &err), &err);
    bz_vec_release(&edges);
}

static inline void random_dag_release(struct random_dag *r)
{
    bz_dag_release(&r->dag);
    bz_vec_release(&r->order);
}

/* Some of its nodes. */
static inline struct bz_bitset random_dag_some(struct random_dag *r)
{
    struct bz_bitset s = {0};
    uint32_t often = random_below(r, 11);

    for (uint32_t i = 0; i < r->dag.n; i++)
        if (random_below(r, 10) < often)
            bz_bitset_set(&s, i);
    return s;
}

#endif
