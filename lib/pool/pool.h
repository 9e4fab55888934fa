/* pool.h - threads that run work: the face of this module.
 *
 *     struct bz_pool *pool;
 *     bz_pool_new(&(struct bz_pool_opts){0}, &pool, &err);
 *     bz_pool_call(pool, body, arg);      run a body here, with all workers helping
 *     bz_pool_submit(pool, ...);          or hand an item in and wait for it later
 *     bz_pool_free(pool);
 *
 * Inside a body: bz_pool_join for two things at once, bz_pool_for for a range,
 * bz_scope_* for any number, and flow.h for things that depend on each other.
 *
 * Bodies on the compute lane should not block; blocking belongs on the io lane. Any
 * thread may submit, any number of threads may call.
 */
#ifndef BZ_POOL_POOL_H
#define BZ_POOL_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "pool/cancel.h"
#include "pool/lane.h"
#include "pool/latch.h"
#include "pool/work.h"

struct bz_pool;

struct bz_pool_opts {
    unsigned compute; /* threads; 0: as many as this process may use CPUs */
    unsigned io;      /* threads at most, started on demand; 0: 16 */
};

/* On success the caller owns *out. */
int bz_pool_new(const struct bz_pool_opts *opts, struct bz_pool **out,
                struct bz_err *err) BZ_MUST_CHECK;

/* Runs what has been submitted to its end, then stops the threads. NULL is allowed. */
void bz_pool_free(struct bz_pool *pool);
void bz_pool_freep(struct bz_pool **pool); /* for BZ_CLEANUP */

/* Runs the body and returns when it has. Not for workers. The calling thread becomes
 * the main worker and works too; if another caller is that already, a compute thread
 * runs the body and this one sleeps. */
void bz_pool_call(struct bz_pool *pool, bz_work_body body, void *arg);

/* An item handed in from outside, in the caller's storage. */
struct bz_pool_item {
    bz_work_body body;
    void *arg;
    struct bz_cancel *cancel; /* or NULL; if it cancels first, body is not run */

    /* If set, it is called last, on the worker, with 0 or the reason why the body did
     * not run; it may free the item. Otherwise bz_pool_wait reports that. */
    void (*finish)(struct bz_pool_item *item, int status);

    struct bz_work work; /* from here on the pool's */
    struct bz_latch done;
    int status;
};

/* Queues the item, which must not move until it is done. `from` is the worker this is
 * called on, or NULL: the worker's own lane is then reached without a shared queue. */
void bz_pool_submit(struct bz_pool *pool, struct bz_worker *from, enum bz_lane_id lane,
                    struct bz_pool_item *item);

/* Blocks until an item without `finish` is done and returns its status: 0 if the body
 * ran, BZ_E_CANCELED or BZ_E_TIMEOUT if its token stopped it. BZ_E_BUSY if it is not
 * done at `deadline`: the item is still the pool's then. Not for workers. */
int bz_pool_wait(struct bz_pool_item *item, int64_t deadline) BZ_MUST_CHECK;

/* Runs both bodies, b on another worker if one is free, and returns after both. */
void bz_pool_join(struct bz_worker *w, bz_work_body a, void *arg_a, bz_work_body b,
                  void *arg_b);

typedef void (*bz_pool_range_fn)(struct bz_worker *w, size_t begin, size_t end,
                                 void *arg);

/* Calls the body for pieces that together make up [begin, end), each at most `grain`
 * long; 0 chooses a grain that gives each worker several pieces. */
void bz_pool_for(struct bz_worker *w, size_t begin, size_t end, size_t grain,
                 bz_pool_range_fn body, void *arg);

struct bz_lane *bz_pool_lane(struct bz_pool *pool, enum bz_lane_id lane);

struct bz_pool_stats {
    uint64_t executed, stolen, injected, wakes, sleeps;
};

/* How many slots a lane has: its threads and, last, the main worker. */
unsigned bz_pool_workers(struct bz_pool *pool, enum bz_lane_id lane);

/* Of one slot, or with `index` past the last, of the whole lane including the wakes
 * by threads from outside. */
void bz_pool_stats(struct bz_pool *pool, enum bz_lane_id lane, unsigned index,
                   struct bz_pool_stats *out);

#endif
