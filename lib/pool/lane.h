/* lane.h - a group of workers with its own queues, limit and sleep state.
 *
 * The pool has two: compute, for work that keeps a CPU busy, and io, for work that
 * blocks. They share no thread, so blocked io work cannot starve compute.
 *
 * Slots [0, limit) are background threads; they are started when there is work for
 * one more. The last slot is the main worker: the place of a thread from outside that
 * lends itself to the lane for the duration of a call.
 */
#ifndef BZ_POOL_LANE_H
#define BZ_POOL_LANE_H

#include "base/err.h"
#include "base/sync.h"
#include "pool/injector.h"
#include "pool/sleep.h"

struct bz_scope_store;
struct bz_worker;

enum bz_lane_id {
    BZ_LANE_COMPUTE,
    BZ_LANE_IO,
    BZ_LANE_COUNT,
};

struct bz_lane {
    struct bz_sleep sleep;
    struct bz_injector injector;
    BZ_PADDED struct bz_worker *worker; /* [limit + 1] */
    unsigned limit;
    atomic_uint started;         /* background threads; grows under start_mu */
    atomic_bool main_taken;      /* somebody is the main worker */
    atomic_ullong outside_wakes; /* workers woken by threads that are not ours */
    struct bz_sync_mutex start_mu;
    bool stopping;    /* start_mu */
    const char *name; /* static; threads are called "<name>-<index>" */
    struct bz_scope_store *store;
};

/* Sets the lane up with `eager` of its `limit` threads running. */
int bz_lane_init(struct bz_lane *lane, const char *name, unsigned limit, unsigned eager,
                 struct bz_scope_store *store, struct bz_err *err) BZ_MUST_CHECK;

/* Stops and joins the threads; what is still queued stays queued. */
void bz_lane_stop(struct bz_lane *lane);
void bz_lane_release(struct bz_lane *lane); /* after bz_lane_stop, queues empty */

/* Queues from any thread and sees to it that somebody will run it. */
void bz_lane_inject(struct bz_lane *lane, struct bz_work *work);

/* True if some queue of the lane seems to hold work. */
bool bz_lane_has_work(struct bz_lane *lane);

static inline bool bz_lane_may_grow(struct bz_lane *lane)
{
    return atomic_load_explicit(&lane->started, memory_order_relaxed) < lane->limit;
}

/* `n` items were queued, on the injector or on a deque that was empty or not: sees to
 * it that somebody comes for them. Returns how many workers were woken. */
unsigned bz_lane_announce(struct bz_lane *lane, unsigned n, bool was_empty);

/* There is more work than awake workers: wakes one, or starts a thread. Returns how
 * many were woken. */
unsigned bz_lane_rouse(struct bz_lane *lane);

/* Becomes the main worker, or NULL if another thread is. */
struct bz_worker *bz_lane_enter(struct bz_lane *lane);
void bz_lane_leave(struct bz_lane *lane, struct bz_worker *w);

#endif
