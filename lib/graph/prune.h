/* prune.h - a task graph without some of its tasks.
 */
#ifndef BZ_GRAPH_PRUNE_H
#define BZ_GRAPH_PRUNE_H

#include "graph/tgraph.h"

/* Leaves out the tasks of a set and all that depend on them, and recipes without other
 * tasks. The targets are then those that remain and the tasks that a removed task
 * depended on. */
void bz_prune_tasks(struct bz_tgraph *g, const struct bz_bitset *tasks);

#endif
