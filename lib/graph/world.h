/* world.h - what the targets `world` and `universe` stand for.
 */
#ifndef BZ_GRAPH_WORLD_H
#define BZ_GRAPH_WORLD_H

#include "graph/provide.h"

/* Adds to `out` the names (PN) of all recipes that have the task `task` (with do_; {0}:
 * whatever they have), each once, in the order of files. Left out are those that
 * EXCLUDE_FROM_WORLD, that provide a virtual/ name, or something that a recipe of
 * another name provides too. */
void bz_world_targets(const struct bz_provide *p, struct bz_str task,
                      struct bz_provide_names *out);

/* The same for `universe`: all recipes whatsoever. */
void bz_world_universe(const struct bz_provide *p, struct bz_str task,
                       struct bz_provide_names *out);

#endif
