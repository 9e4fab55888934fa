/* proc.h - start one child process, with nothing of ours leaking into it.
 *
 *   1. A child has the three standard descriptors and no others.
 *   2. Its signal mask is empty and every signal has its default action.
 *   3. Unless told otherwise it leads a process group of its own, so that it and what
 *      it starts can be signalled together.
 *   4. That it could not be started at all is an error of the call; there is no child.
 *
 * Most callers want proc_run.h for one child or proc_pump.h for many. Any thread may
 * start children; one thread at a time owns a struct bz_proc. Needs Linux 5.4 (pidfds).
 */
#ifndef BZ_OS_PROC_H
#define BZ_OS_PROC_H

#include <sys/resource.h>
#include <sys/types.h>

#include "base/str.h"

enum bz_proc_group {
    BZ_PROC_OWN_GROUP,
    BZ_PROC_OWN_SESSION, /* and no terminal either */
    BZ_PROC_OUR_GROUP,   /* for an interactive child, which needs the terminal */
};

enum bz_proc_in_kind {
    BZ_PROC_IN_NULL,  /* /dev/null */
    BZ_PROC_IN_BYTES, /* a private file that holds `bytes`: it never blocks anybody */
    BZ_PROC_IN_FD,    /* `fd`, which stays the caller's; 0 to inherit */
};

enum bz_proc_out_kind {
    BZ_PROC_CAPTURE, /* a pipe; its read end is in struct bz_proc */
    BZ_PROC_NULL,    /* /dev/null */
    BZ_PROC_FD,      /* `fd`, which stays the caller's; 1 or 2 to inherit */
    BZ_PROC_MERGE,   /* stderr only: where stdout goes */
};

struct bz_proc_in {
    enum bz_proc_in_kind kind;
    int fd;
    struct bz_str bytes;
};

struct bz_proc_out {
    enum bz_proc_out_kind kind;
    int fd;
};

/* Borrowed for the time of the call. Zeroed fields are sensible; argv is required. */
struct bz_proc_spec {
    /* argv[0] names the program. With a slash it is a path, relative to cwd. Without
     * one it is looked up in the PATH of `env`, whose relative entries do not count. */
    const char *const *argv;
    const char *const *env; /* NULL: our own environment */
    const char *cwd;        /* NULL: our own */
    enum bz_proc_group group;
    struct bz_proc_in in;
    struct bz_proc_out out, err;

    /* What proc_pump.h needs to know; bz_proc_spawn() does not read it. */
    int64_t deadline;   /* clock.h; when it passes the child is stopped */
    int64_t grace;      /* ns between SIGTERM and SIGKILL; 0: BZ_PROC_PUMP_GRACE */
    size_t capture_max; /* bytes kept of each stream; 0: BZ_PROC_PUMP_CAPTURE */
};

/* What a child that is not the program itself, but waits for it, tells at its end. */
struct bz_proc_told {
    int32_t status; /* waitpid's */
    int32_t unused;
    int64_t peak; /* KiB of memory that the largest process had */
};

struct bz_proc {
    pid_t pid;
    int pidfd;        /* readable when the child has ended */
    int out, err;     /* read ends, non-blocking; -1 if not captured */
    bool leads_group; /* signals go to its group */
    int status;       /* -1, or a pipe with a struct bz_proc_told, if the child is not
                         the program but one that waits for it */
};

/* BZ_E_NOENT when there is no such program; the message names it, or the directory. */
int bz_proc_spawn(const struct bz_proc_spec *spec, struct bz_proc *p,
                  struct bz_err *err) BZ_MUST_CHECK;

/* Sends a signal to the child, and to its group if it has its own. Valid until it is
 * reaped: its number is not given to another process before. */
void bz_proc_signal(const struct bz_proc *p, int sig);

/* Waits for the child to end, closes what is open and reports waitpid's status. Kills
 * first what is left of the child's own group. Blocks unless pidfd is readable. */
void bz_proc_reap(struct bz_proc *p, int *status, struct rusage *usage);

#endif
