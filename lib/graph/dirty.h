/* dirty.h - what a change reaches, and what need not be done for it.
 *
 * Both are one walk over nodes and edges.
 */
#ifndef BZ_GRAPH_DIRTY_H
#define BZ_GRAPH_DIRTY_H

#include "graph/dag.h"

/* Adds to `dirty` the nodes that changed and all that wait for them, directly or not.
 */
void bz_dirty_find(const struct bz_dag *dag, const struct bz_dag_ids *order,
                   const struct bz_bitset *changed, struct bz_bitset *dirty);

/* Whether a node is at hand; asked once for each one that is needed. */
typedef bool (*bz_dirty_fn)(void *ctx, uint32_t node);

/* Adds to `needed` what the targets lead to, themselves included, if nobody asks for
 * what a node waits for that is at hand already. Whatever is not in there serves only
 * such nodes. */
void bz_dirty_needed(const struct bz_dag *dag, const struct bz_dag_ids *targets,
                     bz_dirty_fn at_hand, void *ctx, struct bz_bitset *needed);

#endif
