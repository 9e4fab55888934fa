/* recurse.h - what [recrdeptask] adds: a task waits for named tasks of every recipe
 * that anything it waits for leads to.
 *
 * Works on numbers. The tasks of a recipe are numbered in a row, the recipes in the
 * same order; task names are numbers of their own. The graph may have cycles: two
 * recipes that need each other at run time give one, which is taken out at the end if
 * the tasks on it are recursive over their own names. What lies on a cycle, or leads to
 * one, passes on only what it reached beside it; BitBake does so too.
 *
 * Time grows with the edges that result, which can be as many as tasks times recipes:
 * that is what the flag asks for.
 */
#ifndef BZ_GRAPH_RECURSE_H
#define BZ_GRAPH_RECURSE_H

#include "graph/dag.h"

struct bz_recurse_task {
    uint32_t task;
    const uint32_t *names; /* of the tasks it wants from every recipe */
    size_t nnames;
    const uint32_t *also; /* [recideptask]: tasks whose edges count as its own */
    size_t nalso;
};

struct bz_recurse {
    const struct bz_dag *dag; /* what was known before, of the recursive tasks too */
    uint32_t nrecipes;
    const uint32_t
        *first; /* [nrecipes + 1]: a recipe's tasks are first[i]..first[i + 1] */
    const uint32_t *name; /* [dag->n]: a task's name */
    const struct bz_recurse_task *tasks;
    size_t ntasks;
};

struct bz_recurse_edges BZ_VEC(struct bz_dag_edge);

/* Appends all edges of the recursive tasks, those in the graph included unless they
 * were taken out. */
void bz_recurse_run(const struct bz_recurse *r, struct bz_recurse_edges *out);

#endif
