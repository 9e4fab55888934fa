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
#include "pool/cancel.h"

/* Where the work is seen: the directory that layers lie on. */
#define BZ_JOB_ROOT "/bitzel"

/* Told how far a download is, and what it came to: bytes (0: not known) and ns. From
 * the thread that does it. */
struct bz_job_progress {
    void (*tell)(void *ctx, const char *what, uint64_t bytes, uint64_t total);
    void (*fetched)(void *ctx, const char *what, uint64_t bytes, int64_t ns);
    void *ctx;
};

/* What bitzel does of a task by itself, before the script: on another thread, outside
 * of any sandbox. It writes below `top`, an empty directory, which the sandbox then has
 * as its top layer of BZ_JOB_ROOT, on what was done before; what it has to say goes to
 * the descriptor `log`. */
struct bz_job_fill {
    int (*run)(void *ctx, const char *top, int log,
               const struct bz_job_progress *progress, struct bz_cancel *cancel,
               struct bz_err *err); /* NULL: there is nothing to do */
    void (*release)(void *ctx);
    void *ctx;
};

/* A file or directory of the host to be seen, read-only. */
struct bz_job_view {
    const char *inside, *host;
};

/* Instead of the script, a program to look around with: on our own terminal, in the
 * sandbox that the script would have, as the task has left it if it failed. */
struct bz_job_enter {
    const char *const *argv; /* up to a NULL */
    struct bz_str setup;     /* a file for it, BZ_JOB_SETUP */
};

#define BZ_JOB_SCRIPT "/run/task" /* where the script is seen */
#define BZ_JOB_SETUP "/run/setup"

struct bz_job {
    struct bz_job_fill fill;
    const struct bz_job_enter *enter; /* or NULL */
    struct bz_str before;             /* for /bin/sh, before the fill; or empty */
    struct bz_str script;             /* for /bin/sh; may be empty if there is a fill */
    struct bz_str workdir;    /* what lies below it is for tasks of the recipe alone */
    struct bz_str temp;       /* an empty directory that it finds; may be none */
    const char *run;          /* on the host: where to leave the script */
    const char *log;          /* on the host: where its output goes */
    const char *const *locks; /* on the host: files to lock meanwhile, [nlocks] */
    size_t nlocks;
    const struct bz_job_view *views; /* [nviews], none below another */
    size_t nviews;
    bool network;    /* the host's */
    bool root;       /* to be user 0 inside */
    int64_t timeout; /* ns that it may take once it has its locks; 0: for ever */
    bool makes;      /* it runs makes that share a jobserver with others */
};

/* Makes the job of a task, in the arena. */
typedef int (*bz_job_fn)(void *ctx, uint32_t task, struct bz_arena *a,
                         struct bz_job *out, struct bz_err *err);

#endif
