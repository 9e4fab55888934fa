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

/* One recipe, and what was found. */
struct bz_digesting_item {
    uint32_t recipe; /* of the graph */
    bool known;      /* it need not be remembered; not used here */
    /* From here on the result: the tasks of the graph in their order. */
    struct bz_memo_recipe memo; /* its key is zero if it must not be remembered */
    struct bz_meta_names appends;
    struct bz_evaluate_table table;
};

/* Told of each task while its recipe's store is there. */
struct bz_digesting_seen {
    struct bz_vars *vars;                    /* the recipe's */
    const struct bz_base_inputs *origins;    /* what its inputs are made from */
    const struct bz_taskspec_inputs *inputs; /* what its key is a digest of */
    const struct bz_memo_task *memo;
};
typedef int (*bz_digesting_fn)(void *ctx, uint32_t task,
                               const struct bz_digesting_seen *seen,
                               struct bz_err *err);

struct bz_digesting {
    struct bz_catalog *p; /* loaded */
    const struct bz_goal *goal;
    bz_digesting_fn fn; /* NULL: nobody; else there is only the calling thread */
    void *ctx;
    /* This file's own. */
    struct bz_digesting_arenas BZ_VEC(struct bz_arena) arenas; /* of results */
};

/* Evaluates all n items. If any fails, so does this, with the error of the first one.
 * The results live until *e is released. */
int bz_digesting_run(struct bz_digesting *e, struct bz_digesting_item *items, size_t n,
                     struct bz_err *err) BZ_MUST_CHECK;
void bz_digesting_release(struct bz_digesting *e);

#endif
