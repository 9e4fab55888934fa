/* dag.h - who waits for whom, among integers.
 *
 * A graph has the nodes 0 to n - 1; an edge from a to b says that a waits for b. It is
 * built once from a list of edges and does not change afterwards: any number of threads
 * may read it. Everything here takes time and memory in proportion to nodes and edges,
 * bz_dag_reduce excepted, and recurses nowhere: a chain may be as long as the graph.
 */
#ifndef BZ_GRAPH_DAG_H
#define BZ_GRAPH_DAG_H

#include "base/bitset.h"
#include "base/err.h"
#include "base/vec.h"

struct bz_dag_edge {
    uint32_t from, to;
};

struct bz_dag {
    uint32_t n;
    uint32_t *start; /* [n + 1]: what node i waits for is to[start[i]..start[i + 1]) */
    uint32_t *to;    /* sorted for each node, each once */
};

struct bz_dag_ids BZ_VEC(uint32_t);

/* Edges may be in any order and come twice. A graph with 2^32 edges or more is a bug.
 */
void bz_dag_build(struct bz_dag *d, uint32_t n, const struct bz_dag_edge *edges,
                  size_t m);
void bz_dag_release(struct bz_dag *d);

static inline uint32_t bz_dag_degree(const struct bz_dag *d, uint32_t node)
{
    return d->start[node + 1] - d->start[node];
}

bool bz_dag_has(const struct bz_dag *d, uint32_t from, uint32_t to);

/* The same edges the other way round: who waits for a node. */
void bz_dag_reverse(const struct bz_dag *d, struct bz_dag *out);

/* Appends all nodes so that each comes after those it waits for; the order depends on
 * the graph alone. If there is no such order: BZ_E_INVAL, and `order` has a shortest
 * cycle through some edge, each waiting for the next and the last for the first. */
int bz_dag_order(const struct bz_dag *d, struct bz_dag_ids *order,
                 struct bz_err *err) BZ_MUST_CHECK;

/* level[node]: 0 if it waits for nothing, else one more than the highest it waits for.
 * Returns how many levels there are. */
uint32_t bz_dag_levels(const struct bz_dag *d, const struct bz_dag_ids *order,
                       uint32_t *level);

/* end[node]: its cost and that of the costliest chain it waits for. */
void bz_dag_costs(const struct bz_dag *d, const struct bz_dag_ids *order,
                  const uint64_t *cost, uint64_t *end);

/* Adds to `seen` what can be reached from the node, itself included. What is in `seen`
 * already is not entered again. */
void bz_dag_reach(const struct bz_dag *d, uint32_t from, struct bz_bitset *seen);

/* The fewest edges that reach as far. For pictures: in the worst case its time grows
 * with the product of nodes and edges. */
void bz_dag_reduce(const struct bz_dag *d, const struct bz_dag_ids *order,
                   struct bz_dag *out);

#endif
