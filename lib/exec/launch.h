/* launch.h - sandboxes of tasks, started on other threads.
 *
 * Making one takes a good part of a millisecond, most of it in the kernel and while the
 * thread that does it stands still: meanwhile the thread that has the build prepares
 * the next task. The child belongs to the thread that started it, which must not end
 * before it: threads of the pool do not. All calls come from the thread that has the
 * build. For the files of this module only.
 */
#ifndef BZ_EXEC_LAUNCH_H
#define BZ_EXEC_LAUNCH_H

#include "exec/state.h"

/* A part of whatever runs the task. */
struct bz_launch {
    struct bz_exec *x;
    struct bz_step *step; /* which is planned */
    int rc;               /* once it has ended: how */
    struct bz_err err;
    /* This file's own. */
    struct bz_pool_item item;
    struct bz_launch *next;
};

/* The first part of *l is filled in; it must not move until it was taken. */
void bz_launch_start(struct bz_launch *l);

/* Calls fn for each that has ended. */
void bz_launch_take(struct bz_exec *x, void (*fn)(struct bz_launch *l));

#endif
