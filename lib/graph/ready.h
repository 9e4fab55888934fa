/* ready.h - the waves in which the nodes of a graph can run.
 *
 * The cost is linear in nodes and edges. A graph has no cycle.
 */
#ifndef BZ_GRAPH_READY_H
#define BZ_GRAPH_READY_H

#include "graph/dag.h"

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
