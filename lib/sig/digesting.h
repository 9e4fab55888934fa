/* digesting.h - evaluates recipes of a graph and digests their tasks.
 *
 * Several at a time, on the pool; after each recipe all but the digests is freed. The
 * result does not depend on the number of threads.
 */
#ifndef BZ_SIG_DIGESTING_H
#define BZ_SIG_DIGESTING_H

#include "graph/goal.h"
#include "sig/base.h"
#include "sig/memo.h"
#include "sig/taskspec.h"
#include "survey/evaluate.h"

/* What code takes for the time wherever keys are made: always the same. */
#define BZ_DIGESTING_CLOCK 981173106

/* The evaluated recipe, if the catalog cannot give it again. Lives as long as the
 * bz_digesting. */
struct bz_digesting_own {
    struct bz_evaluate_table table; /* .table.p is NULL if the catalog has it */
    /* [tasks], or NULL: the inputs of a recipe whose code asked the host, which may
     * answer otherwise the next time. */
    const struct bz_taskspec_inputs *inputs;
};

/* One recipe, and what was found. */
struct bz_digesting_item {
    uint32_t recipe; /* of the graph */
    /* From here on the result: the tasks of the graph in their order. */
    struct bz_memo_recipe memo; /* its key is zero if it must not be remembered */
    struct bz_meta_names appends;
    struct bz_evaluate_table table; /* .table.p is NULL if the catalog has none */
    struct bz_digesting_own own;
    unsigned row; /* the thread that evaluated it */
};

struct bz_digesting {
    struct bz_catalog *p; /* loaded */
    const struct bz_goal *goal;
    /* This file's own. */
    struct bz_digesting_arenas BZ_VEC(struct bz_arena) arenas; /* of results */
};

/* Lists the inputs of a task. If `list` is not NULL, the files that count are added to
 * it (sig/files.h), except for what the sandbox shows of layers. */
int bz_digesting_inputs(struct bz_taskspec *spec, struct bz_vars *vars,
                        const struct bz_facts_task *task,
                        struct bz_taskspec_inputs *inputs, struct bz_buf *list,
                        struct bz_err *err) BZ_MUST_CHECK;

/* Evaluates all n items. If any fails, so does this, with the error of the first one.
 * The results live until *e is released. */
int bz_digesting_run(struct bz_digesting *e, struct bz_digesting_item *items, size_t n,
                     struct bz_err *err) BZ_MUST_CHECK;
void bz_digesting_release(struct bz_digesting *e);

#endif
