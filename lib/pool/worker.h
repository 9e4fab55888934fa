/* worker.h - one thread of a lane and how it finds work.
 *
 * A worker looks in this order: its own deque, newest first; the other deques, oldest
 * first, the main worker's before the rest, which it visits from a random start; the
 * injector. Functions that take a worker may be called only on its own thread, which
 * is why bodies are handed theirs.
 */
#ifndef BZ_POOL_WORKER_H
#define BZ_POOL_WORKER_H

#include <pthread.h>

#include "base/err.h"
#include "pool/deque.h"
#include "pool/lane.h"
#include "pool/latch.h"
#include "pool/scope.h"
#include "pool/sleep.h"

/* Written by the worker, readable by anyone: relaxed, each exact on its own. */
struct bz_worker_stats {
    atomic_ullong executed; /* items run */
    atomic_ullong stolen;   /* of them, from another worker's deque */
    atomic_ullong injected; /* of them, from outside */
    atomic_ullong wakes;    /* workers this one woke */
    atomic_ullong sleeps;   /* times it blocked */
};

struct bz_worker {
    struct bz_deque deque;
    BZ_PADDED struct bz_lane *lane;
    unsigned index;
    uint64_t random;
    struct bz_scope_cache cache;
    struct bz_worker_stats stats;
    struct bz_latch stop; /* set when the thread shall end */
    pthread_t thread;
};

void bz_worker_init(struct bz_worker *w, struct bz_lane *lane, unsigned index);
void bz_worker_release(struct bz_worker *w);
int bz_worker_start(struct bz_worker *w, struct bz_err *err) BZ_MUST_CHECK;
void bz_worker_join(struct bz_worker *w);

static inline void bz_worker_count(atomic_ullong *stat, unsigned long long n)
{
    /* One writer: no read-modify-write needed. */
    atomic_store_explicit(stat, atomic_load_explicit(stat, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

/* Tells others of work just pushed; bz_worker_push does it. */
void bz_worker_notify(struct bz_worker *w);

/* Queues work on this worker, to be run by it or by a thief. */
static inline void bz_worker_push(struct bz_worker *w, struct bz_work *work)
{
    bz_deque_push(&w->deque, work);
    if (BZ_UNLIKELY(!bz_sleep_all_busy(&w->lane->sleep) || bz_lane_may_grow(w->lane)))
        bz_worker_notify(w);
}

static inline void bz_worker_run(struct bz_worker *w, struct bz_work *work)
{
    bz_worker_count(&w->stats.executed, 1);
    work->run(w, work);
}

/* Works on whatever there is until `latch` is set. */
void bz_worker_wait(struct bz_worker *w, struct bz_latch *latch);

/* Work from any queue of the lane, or NULL if there is none to be seen. */
struct bz_work *bz_worker_find(struct bz_worker *w);

/* Gives back what the worker holds for speed, so that others may rely on counters. */
void bz_worker_settle(struct bz_worker *w);

#endif
