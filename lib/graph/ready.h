/* ready.h - what can start now.
 *
 * Completion-driven: a node counts what it waits for, and each that is done brings the
 * count of those that wait for it down; at zero they are ready. All of a graph costs
 * its nodes and edges, however many steps that takes. A graph has no cycle.
 *
 * One thread at a time. The graph outlives it.
 */
#ifndef BZ_GRAPH_READY_H
#define BZ_GRAPH_READY_H

#include "graph/dag.h"

struct bz_ready {
    const struct bz_dag *dag;
    struct bz_dag waiting; /* who waits for a node */
    uint32_t *pending;     /* [n]: how much it waits for that is not done */
    struct bz_bitset done;
    uint32_t left; /* nodes that are not done */
};

/* Appends the roots, which wait for nothing, to `out`. Release *r. */
void bz_ready_init(struct bz_ready *r, const struct bz_dag *dag,
                   struct bz_dag_ids *out);
void bz_ready_release(struct bz_ready *r);

/* A node that was ready is done: appends what becomes ready by that, by number. Doing
 * it twice, or before it is ready, is a bug. */
void bz_ready_done(struct bz_ready *r, uint32_t node, struct bz_dag_ids *out);

/* Appends what is ready if these nodes are done, without what was asked before: all
 * nodes not among them that wait for nothing else. */
void bz_ready_find(const struct bz_dag *dag, const struct bz_bitset *done,
                   struct bz_dag_ids *out);

/* Nodes in waves: those of wave i, nodes[start[i]..start[i + 1]), wait only for nodes
 * of earlier waves, and for one of the wave before. */
struct bz_ready_waves {
    uint32_t *nodes; /* by number within a wave */
    uint32_t *start; /* [n + 1] */
    uint32_t n;
};

/* The waves of some nodes, or of all if `among` is NULL. Of the others, those in
 * `through`, which may be NULL, pass on what they wait for in no time; the rest is done
 * already. Release *out. */
void bz_ready_waves(const struct bz_dag *dag, const struct bz_dag_ids *order,
                    const struct bz_bitset *among, const struct bz_bitset *through,
                    struct bz_ready_waves *out);
void bz_ready_waves_release(struct bz_ready_waves *w);

#endif
