/* job.h - all it takes to run one task, whatever it was made from.
 *
 * Paths are those inside the sandbox unless it says so: they are the same on every
 * machine. Texts belong to whoever made the job.
 */
#ifndef BZ_EXEC_JOB_H
#define BZ_EXEC_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* Where the work is seen: the directory that layers lie on. */
#define BZ_JOB_ROOT "/bitzel"
/* Where the layers of metadata are seen, each under its name. */
#define BZ_JOB_LAYERS "/layers"

struct bz_job {
    struct bz_str script;  /* for /bin/sh */
    struct bz_str workdir; /* what lies below it is for tasks of the recipe alone */
    const char *run;       /* on the host: where to leave the script */
    const char *log;       /* on the host: where its output goes */
    bool network;          /* the host's */
    bool root;             /* to be user 0 inside */
};

/* A directory of the host to be seen, read-only. */
struct bz_job_view {
    const char *inside, *host;
};

/* Makes the job of a task, in the arena. */
typedef int (*bz_job_fn)(void *ctx, uint32_t task, struct bz_arena *a,
                         struct bz_job *out, struct bz_err *err);

#endif
