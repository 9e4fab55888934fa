/* query_world.h - the tasks and recipes of a graph, as questions are asked about them.
 *
 * Tasks come first, by the numbers they have in the graph, and then the recipes. A task
 * waits for tasks, a recipe for recipes.
 */
#ifndef BZ_CMD_QUERY_WORLD_H
#define BZ_CMD_QUERY_WORLD_H

#include "build/build.h"
#include "query/query_eval.h"

struct bz_query_world_of {
    struct bz_build *build;
    struct bz_dag dag;
    struct bz_query_world world;
    struct bz_evaluated read; /* the recipe whose variables were read last */
    uint32_t recipe;
    struct bz_buf notes; /* values that could not be had, one a line */
};

/* Of a build that has a graph and outlives *w; release it. */
void bz_query_world_init(struct bz_query_world_of *w, struct bz_build *b);
void bz_query_world_release(struct bz_query_world_of *w);

/* The recipe of a node. */
uint32_t bz_query_world_recipe(const struct bz_query_world_of *w, uint32_t node);

#endif
