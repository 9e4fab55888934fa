/* step.h - one task in its sandbox: set up, started, and its output captured.
 *
 * The sandbox sees the layers that the task was handed on, with an empty one on top,
 * which takes all that the task writes, changes and deletes. When it has ended well,
 * that layer is its output: taken apart into what lies below the recipe's work
 * directory and what does not, both stored. On bare ground (ground.h) the layers are
 * copied, and what differs afterwards is brought to that layer. One thread.
 */
#ifndef BZ_EXEC_STEP_H
#define BZ_EXEC_STEP_H

#include "exec/copied.h"
#include "exec/desk.h"
#include "exec/ground.h"
#include "exec/job.h"
#include "exec/jobserver.h"
#include "exec/lockset.h"
#include "exec/trees.h"
#include "plan/output.h"
#include "sandbox/sandbox.h"

/* What the steps of one build share; all of it outlives them. */
struct bz_step_shop {
    struct bz_cache *cache;
    struct bz_pool *pool;
    struct bz_trees *trees;
    struct bz_ground ground;
    struct bz_sandbox *sandbox;
    struct bz_desk_list desks; /* on the store's file system */
    struct bz_jobserver jobserver;
};

struct bz_step {
    struct bz_arena arena;
    struct bz_spec spec; /* of its sandbox, once it is planned */
    struct bz_proc_spec io;
    struct bz_sandbox_child child;
    struct bz_desk_list *desks;
    struct bz_desk *desk;
    const char *top; /* what it writes goes here */
    uint32_t layers; /* how many it has, once they are linked */
    bool linked;
    bool prepared;           /* what goes before the fill has run */
    const char *tmp;         /* its /tmp */
    int log;                 /* its output; -1: not open */
    struct bz_lockset locks; /* not locked yet; the sandbox gets them */
    bool bare;               /* it works in `copied` */
    struct bz_copied copied;
    struct bz_str workdir; /* below the root, without a slash before it; or empty */
    struct bz_digest lost; /* a layer that could not be had; zero if there is none */
};

/* Makes its directories and an empty log. `handed` is what it was handed on. Release it
 * in any case. */
int bz_step_open(struct bz_step_shop *shop, const struct bz_job *job,
                 const struct bz_output *handed, struct bz_step *s,
                 struct bz_err *err) BZ_MUST_CHECK;

/* Before a fill: where it is to write. */
int bz_step_fill(struct bz_step *s, const char **top, struct bz_err *err) BZ_MUST_CHECK;

/* After it: what it wrote is the task's, on what was done before it. */
int bz_step_filled(const struct bz_step_shop *shop, struct bz_step *s,
                   struct bz_err *err) BZ_MUST_CHECK;

/* Lays out what its sandbox is to have: first, if the job has something that goes
 * before its fill, for that, then for the script. If it fails because one of the layers
 * is not to be had, s->lost tells which. */
int bz_step_plan(struct bz_step_shop *shop, const struct bz_job *job,
                 const struct bz_output *handed, struct bz_step *s,
                 struct bz_err *err) BZ_MUST_CHECK;

/* What goes before the fill has run to a good end: the script is next. */
void bz_step_prepared(struct bz_step *s);

/* Starts the script, as planned. Any thread, which then lives as long as the child. */
int bz_step_launch(struct bz_step_shop *shop, struct bz_step *s,
                   struct bz_err *err) BZ_MUST_CHECK;

/* The child, if any, has ended well and has been reaped: stores what it wrote. Trees
 * that are empty are none. */
int bz_step_finish(struct bz_step_shop *shop, struct bz_step *s,
                   struct bz_reapi_digest *own, struct bz_reapi_digest *shared,
                   struct bz_err *err) BZ_MUST_CHECK;

/* Removes what it leaves in scratch, and frees its memory. */
void bz_step_release(struct bz_step *s);

#endif
