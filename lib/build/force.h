/* force.h - tasks that a build was told to run although their results are stored.
 */
#ifndef BZ_BUILD_FORCE_H
#define BZ_BUILD_FORCE_H

#include "cache/cache.h"
#include "sig/signing.h"

struct bz_force {
    struct bz_taint *taint;
    const struct bz_goal *goal;
    struct bz_bitset *forced; /* gets the tasks that are tainted */
    struct bz_buf *notes;     /* for people, one a line */
};

/* Taints the targets if `all`, and the task called `task` of each target's recipe if
 * that is not NULL. BZ_E_NOENT if a recipe has none that is to be built. */
int bz_force_mark(const struct bz_force *f, bool all, const char *task,
                  struct bz_err *err) BZ_MUST_CHECK;

/* After a build that went well: where tainted tasks came out as without their taints,
 * or were not known without them, the taints have done their work and go; then what
 * others have made is found again. Notes tell what stays; they may be NULL. */
int bz_force_settle(struct bz_taint *t, const struct bz_goal *goal,
                    const struct bz_signing *s, struct bz_cache *cache,
                    struct bz_buf *notes, struct bz_err *err) BZ_MUST_CHECK;

#endif
