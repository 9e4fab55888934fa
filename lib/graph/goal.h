/* goal.h - from the names of targets to the graph of tasks they need.
 *
 * Owns what lies between: the indexes of who provides what, and which recipes are
 * needed. One thread.
 */
#ifndef BZ_GRAPH_GOAL_H
#define BZ_GRAPH_GOAL_H

#include "graph/tgraph.h"
#include "survey/survey.h"

/* What to do about Python functions that targets need and that are not run. */
enum bz_goal_python {
    BZ_GOAL_REFUSE_PYTHON,   /* fail */
    BZ_GOAL_PRUNE_PYTHON,    /* leave out the tasks that need them; fail if all do */
    BZ_GOAL_DESCRIBE_PYTHON, /* nothing: the graph as it is without them */
};

struct bz_goal_opts {
    const char *const
        *targets; /* [n], as target.h reads them; world and universe, too */
    size_t n;
    const char *task; /* for targets that name none, with or without do_; NULL: the
                         configuration's BB_DEFAULT_TASK */
    bool incomplete;  /* leave out what nothing provides; do not fail for it */
    enum bz_goal_python python;
};

struct bz_goal {
    struct bz_survey *survey;    /* to be set before: of all recipes; outlives it */
    struct bz_str *mcs;          /* [nparts]: the names of the configurations */
    struct bz_provide **provide; /* [nparts] */
    size_t nparts;
    bool world;    /* world or universe was asked for */
    bool tolerant; /* to be set before: of these, leave out what cannot be had */
    struct bz_need need;
    struct bz_tgraph graph;
    struct bz_arena arena;
    size_t functions, recipes; /* in Python that were pruned, and of how many recipes */
};

/* BZ_E_NOENT for a target that nothing provides or that has no such task, BZ_E_INVAL
 * for a cycle, and for recipes that provide the same (clash.h), unless that is only to
 * be expected, and for Python functions; `why` then shows the steps that lead there, or
 * the functions, one a line. It also shows functions that are pruned. Notes about
 * choices between providers, and about recipes that are wrong, are added to `notes`,
 * one a line. Close *g in any case. */
int bz_goal_open(struct bz_goal *g, const struct bz_goal_opts *opts,
                 struct bz_buf *notes, struct bz_buf *why,
                 struct bz_err *err) BZ_MUST_CHECK;
void bz_goal_close(struct bz_goal *g);

/* Adds the Python functions that are not run: of the recipes of the graph, and with
 * `tasks` of its tasks, too. Returns how many recipes have any. */
size_t bz_goal_list_python(const struct bz_goal *g, bool tasks,
                           struct bz_pyfunc_set *out);

/* The failure for functions that were pruned. */
int bz_goal_fail_pruned(const struct bz_goal *g, struct bz_err *err) BZ_MUST_CHECK;

/* Append "[mc:NAME:]recipe", and the same of a task with ":do_task". */
void bz_goal_name(const struct bz_goal *g, uint32_t recipe, struct bz_buf *out);
void bz_goal_task_name(const struct bz_goal *g, uint32_t task, struct bz_buf *out);

/* MACHINE of each configuration, [nparts]; "" if it is not set. In g->arena. */
const struct bz_str *bz_goal_machines(struct bz_goal *g);

#endif
