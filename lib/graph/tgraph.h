/* tgraph.h - the task graph: every task that targets need, and what it waits for.
 *
 * Edges are BitBake's: those of addtask, and what the flags [depends], [rdepends],
 * [deptask], [rdeptask], [recrdeptask], [recideptask] and [mcdepends] ask for. Tasks
 * that no target leads to are left out. The graph has no cycle.
 *
 * Built by one thread; afterwards it does not change and any number may read it.
 */
#ifndef BZ_GRAPH_TGRAPH_H
#define BZ_GRAPH_TGRAPH_H

#include "graph/dag.h"
#include "graph/need.h"
#include "survey/place.h"

struct bz_tgraph_recipe {
    const struct bz_facts *facts;
    uint32_t part;
    uint32_t first; /* its tasks are first..first of the next recipe */
};

struct bz_tgraph_task {
    const struct bz_facts_task *facts;
    uint32_t recipe;
};

/* What is asked for: a task of whatever provides the name. */
struct bz_tgraph_target {
    uint32_t part;
    struct bz_str name;
    struct bz_str task; /* with do_; with a '-' at its end only what it waits for */
};

/* Why one task waits for another. */
enum bz_tgraph_rule {
    BZ_TGRAPH_AFTER,       /* addtask */
    BZ_TGRAPH_MCDEPENDS,   /* [mcdepends] */
    BZ_TGRAPH_DEPTASK,     /* [deptask] over DEPENDS */
    BZ_TGRAPH_RDEPTASK,    /* [rdeptask] over RDEPENDS and RRECOMMENDS */
    BZ_TGRAPH_DEPENDS,     /* [depends] */
    BZ_TGRAPH_RDEPENDS,    /* [rdepends] */
    BZ_TGRAPH_RECRDEPTASK, /* [recrdeptask] over DEPENDS, RDEPENDS and all behind them
                            */
};

/* One step of a cycle, for whoever shows it. */
struct bz_tgraph_step {
    const struct bz_facts *recipe;
    const struct bz_facts_task *task;
    enum bz_tgraph_rule rule; /* by which it waits for the next step, the last one for
                                 the first */
    struct bz_place place;    /* where that is written */
};

struct bz_tgraph_steps BZ_VEC(struct bz_tgraph_step);

struct bz_tgraph {
    struct bz_tgraph_recipe
        *recipes; /* [nrecipes + 1]: those with tasks in the graph */
    uint32_t nrecipes;
    struct bz_tgraph_task *tasks; /* [dag.n]: in the order of recipes and their tasks */
    struct bz_dag dag;
    struct bz_dag_ids order;      /* each task after those it waits for */
    struct bz_dag_ids targets;    /* the tasks asked for */
    struct bz_tgraph_steps cycle; /* after a failure for that reason */
    struct bz_buf lack;           /* likewise: who needs what nothing provides */
};

/* Takes what the targets need into *need and builds the graph. `mcs` names the parts.
 * BZ_E_NOENT: nothing provides a target, or it has no such task; BZ_E_INVAL: a cycle, a
 * dependency on a task that does not exist, a flag that is not as it should be. Release
 * *g in any case. */
int bz_tgraph_build(struct bz_tgraph *g, struct bz_need *need, const struct bz_str *mcs,
                    const struct bz_tgraph_target *targets, size_t n,
                    struct bz_err *err) BZ_MUST_CHECK;
void bz_tgraph_release(struct bz_tgraph *g);

/* The task of that name in a recipe of the graph, or BZ_NEED_NONE. */
uint32_t bz_tgraph_find(const struct bz_tgraph *g, uint32_t recipe, struct bz_str task);

#endif
