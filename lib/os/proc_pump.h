/* proc_pump.h - one loop that serves any number of child processes.
 *
 * The pump waits with epoll on every child's pipes and pidfd; no child costs a thread.
 * One thread owns a pump and makes all calls; only bz_proc_pump_wake() may come from
 * any thread. Callbacks run inside bz_proc_pump_run*(): they may add and stop children,
 * but not run or close the pump.
 *
 * How a child ends:
 *   1. It exits, and everything it wrote has been read: done() is called. That its
 *      pipes are closed is not enough, nor is its exit alone.
 *   2. If something it started holds a pipe open after the exit, reading goes on for
 *      BZ_PROC_PUMP_DRAIN, or for the rest of the grace if the child was stopped.
 *      Then the pipe is closed and done() is called.
 *   3. Either way, what is left of the child's own group is killed before done().
 *   4. Stopping, at the deadline or by call, sends SIGTERM to the group, and SIGKILL
 *      when the child still lives after its grace.
 */
#ifndef BZ_OS_PROC_PUMP_H
#define BZ_OS_PROC_PUMP_H

#include "os/capture.h"
#include "os/clock.h"
#include "os/proc.h"

#define BZ_PROC_PUMP_DRAIN (250 * BZ_CLOCK_MS)
#define BZ_PROC_PUMP_GRACE (5 * BZ_CLOCK_S)
#define BZ_PROC_PUMP_CAPTURE ((size_t)1 << 20)

enum bz_proc_pump_why {
    BZ_PROC_PUMP_ENDED,
    BZ_PROC_PUMP_TIMEOUT,
    BZ_PROC_PUMP_STOPPED
};

struct bz_proc_result {
    enum bz_proc_pump_why why; /* by itself, at its deadline, or stopped by call */
    int exit_code;             /* -1 if a signal ended it */
    int signal;                /* 0 if it exited */
    int64_t wall, user, sys;   /* ns; CPU time with that of the children it reaped */
    uint64_t max_rss;          /* bytes */
    struct bz_capture out, err;
};
void bz_proc_pump_release_result(struct bz_proc_result *r);

struct bz_proc_id {
    uint64_t i;
};

enum bz_proc_pump_stream { BZ_PROC_PUMP_OUT, BZ_PROC_PUMP_ERR };

struct bz_proc_handler {
    /* Bytes as they come, besides being captured. May be NULL. */
    void (*output)(void *ctx, enum bz_proc_pump_stream from, struct bz_str bytes);
    /* Exactly once for each child that was added. To keep the result, copy the struct
     * and zero this one; otherwise it is released after the call. */
    void (*done)(void *ctx, struct bz_proc_result *r);
    void *ctx;
};

struct bz_proc_pump;

/* Gives SIGCHLD its default action if it is ignored: nobody could wait for a child
 * otherwise. */
int bz_proc_pump_open(struct bz_proc_pump **out, struct bz_err *err) BZ_MUST_CHECK;
/* Kills the children that are left and reaps them; their done() is not called. */
void bz_proc_pump_close(struct bz_proc_pump *pump);
void bz_proc_pump_closep(struct bz_proc_pump **pump); /* for BZ_CLEANUP */

/* Starts a child. On failure there is none and no callback comes. `id` may be NULL. */
int bz_proc_pump_add(struct bz_proc_pump *pump, const struct bz_proc_spec *spec,
                     const struct bz_proc_handler *handler, struct bz_proc_id *id,
                     struct bz_err *err) BZ_MUST_CHECK;

/* The same for a child that somebody else has started; of the spec only what concerns
 * the pump is read. On failure the child has been killed and reaped. */
int bz_proc_pump_adopt(struct bz_proc_pump *pump, struct bz_proc *p,
                       const struct bz_proc_spec *spec,
                       const struct bz_proc_handler *handler, struct bz_proc_id *id,
                       struct bz_err *err) BZ_MUST_CHECK;

size_t bz_proc_pump_count(const struct bz_proc_pump *pump); /* not yet done */

/* Stopping a child twice, or one that is done, changes nothing. */
void bz_proc_pump_stop(struct bz_proc_pump *pump, struct bz_proc_id id);
void bz_proc_pump_stop_all(struct bz_proc_pump *pump);

/* Calls fn in the loop when fd is readable: a signal's descriptor, say. For as long as
 * the pump lives; fd stays the caller's. */
int bz_proc_pump_watch(struct bz_proc_pump *pump, int fd, void (*fn)(void *ctx),
                       void *ctx, struct bz_err *err) BZ_MUST_CHECK;

/* Waits until something happens, at most until the deadline, and handles it. Also
 * without any child. That the deadline passed is no error. */
int bz_proc_pump_run_once(struct bz_proc_pump *pump, int64_t deadline,
                          struct bz_err *err) BZ_MUST_CHECK;
/* Until all children are done. BZ_E_CANCELED when woken before: they go on, so call
 * bz_proc_pump_stop_all() if that was meant, and run again. */
int bz_proc_pump_run(struct bz_proc_pump *pump, struct bz_err *err) BZ_MUST_CHECK;

/* Makes the current or the next run return. Safe from any thread, also several times;
 * wakes before a run count as one. */
void bz_proc_pump_wake(struct bz_proc_pump *pump);

#endif
