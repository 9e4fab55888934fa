/* rgraph.h - the task graph seen from further away: recipes that wait for recipes.
 */
#ifndef BZ_GRAPH_RGRAPH_H
#define BZ_GRAPH_RGRAPH_H

#include "graph/tgraph.h"

/* A graph of g's recipes: one waits for another if a task of it does. It may have
 * cycles though the tasks have none. Release *out. */
void bz_rgraph_build(const struct bz_tgraph *g, struct bz_dag *out);

#endif
