/* filling.h - what bitzel does of a task by itself, on other threads: it waits for
 * locks, and does what comes before the script.
 *
 * All calls come from the thread that has the build; what ends on others, and how far
 * they are, is taken by it when the pump wakes. For the files of this module only.
 */
#ifndef BZ_EXEC_FILLING_H
#define BZ_EXEC_FILLING_H

#include "exec/state.h"

#define BZ_FILLING_WHAT 256

struct bz_filling_fetched;

/* A part of whatever runs the task. */
struct bz_filling {
    struct bz_exec *x;
    uint32_t task;
    const struct bz_job_fill *fill; /* may have nothing to run: then there are locks */
    int64_t timeout;                /* ns that it may take, once it has them; 0: any */
    const char *top;
    struct bz_step *step; /* whose it is, to lay it on what was there; or NULL */
    int log;
    struct bz_lockset *locks; /* to be taken first; they stay locked */
    int64_t began;            /* once it has ended: when it had them; 0: never */
    bool late;                /* likewise: it failed since its time was over */
    int rc;                   /* and how it ended */
    struct bz_err err;
    /* From here on this file's own. */
    struct bz_pool_item item;
    struct bz_filling *next, *next_moved;
    bool moved; /* there is progress to be told */
    char what[BZ_FILLING_WHAT];
    uint64_t bytes, total;
    struct bz_filling_fetched *fetched, *last; /* to be told of when it has ended */
};

/* The first part of *f is filled in; it must not move until it was taken. */
void bz_filling_start(struct bz_filling *f);

/* Tells of progress and of downloads, and calls fn for each that has ended. */
void bz_filling_take(struct bz_exec *x, void (*fn)(struct bz_filling *f));

#endif
