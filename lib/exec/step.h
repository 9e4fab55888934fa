/* step.h - one task in its sandbox: set up, started, and its output captured.
 *
 * The sandbox sees the layers that the task was handed on, with an empty one on top,
 * which takes all that the task writes, changes and deletes. When it has ended well,
 * that layer is its output: taken apart into what lies below the recipe's work
 * directory and what does not, both stored. One thread.
 */
#ifndef BZ_EXEC_STEP_H
#define BZ_EXEC_STEP_H

#include "exec/job.h"
#include "exec/output.h"
#include "exec/trees.h"
#include "sandbox/sandbox.h"

/* What the steps of one build share; all of it outlives them. */
struct bz_step_shop {
    struct bz_cache *cache;
    struct bz_pool *pool;
    struct bz_trees *trees;
    struct bz_sandbox *sandbox;
    const char *scratch; /* a directory of this build, on the store's file system */
    const struct bz_job_view *views;
    size_t nviews;
    unsigned started; /* numbers the steps */
};

struct bz_step {
    struct bz_arena arena;
    struct bz_sandbox_child child;
    const char *dir;       /* below scratch */
    struct bz_str workdir; /* below BZ_JOB_ROOT, without a slash before it; or empty */
    struct bz_digest lost; /* a layer that could not be had; zero if there is none */
};

/* Starts the task. `handed` is what it was handed on. If it fails because one of these
 * layers is not to be had, s->lost tells which. Release it in any case. */
int bz_step_start(struct bz_step_shop *shop, const struct bz_job *job,
                  const struct bz_output *handed, struct bz_step *s,
                  struct bz_err *err) BZ_MUST_CHECK;

/* The child has ended well and has been reaped: stores what it wrote. Trees that are
 * empty are none. */
int bz_step_finish(struct bz_step_shop *shop, struct bz_step *s,
                   struct bz_reapi_digest *own, struct bz_reapi_digest *shared,
                   struct bz_err *err) BZ_MUST_CHECK;

/* Removes what it leaves in scratch, and frees its memory. */
void bz_step_release(struct bz_step *s);

#endif
