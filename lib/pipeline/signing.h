/* signing.h - a graph of tasks to their signatures.
 *
 * Evaluates each recipe of the graph once and signs its tasks. One thread.
 */
#ifndef BZ_PIPELINE_SIGNING_H
#define BZ_PIPELINE_SIGNING_H

#include "pipeline/goal.h"
#include "sig/base.h"

struct bz_signing {
    struct bz_digest *base; /* [tasks of the graph]: without what they wait for */
    struct bz_digest *keys; /* [tasks of the graph]: the signatures */
};

/* What counts for one task. Everything lasts for the call that shows it. */
struct bz_signing_view {
    const struct bz_base_inputs *inputs;
    struct bz_vars *vars; /* the recipe's store: where values came from, say */
    const struct bz_base_files *files;
};

/* Told of each task as it is signed. */
typedef void (*bz_signing_fn)(void *ctx, uint32_t task,
                              const struct bz_signing_view *view);

/* `fn` may be NULL. The message of a failure names the recipe. Release *s in any case.
 */
int bz_signing_run(struct bz_signing *s, struct bz_pipeline *p,
                   const struct bz_goal *goal, bz_signing_fn fn, void *ctx,
                   struct bz_err *err) BZ_MUST_CHECK;
void bz_signing_release(struct bz_signing *s);

/* Shows what counts for some tasks only; other recipes are not evaluated. */
int bz_signing_show(struct bz_pipeline *p, const struct bz_goal *goal,
                    const struct bz_bitset *tasks, bz_signing_fn fn, void *ctx,
                    struct bz_err *err) BZ_MUST_CHECK;

#endif
