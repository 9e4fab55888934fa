#include "pool/pool.h"

#include <stdlib.h>

#include "base/mem.h"
#include "os/cpu.h"
#include "pool/worker.h"

enum {
    DEFAULT_IO = 16,
    PIECES_PER_WORKER = 8,
};

struct bz_pool {
    struct bz_lane lane[BZ_LANE_COUNT];
    struct bz_scope_store store;
};

static int start(struct bz_pool *pool, const struct bz_pool_opts *opts,
                 struct bz_err *err)
{
    unsigned compute = opts->compute ? opts->compute : bz_cpu_count();
    unsigned io = opts->io ? opts->io : DEFAULT_IO;
    int rc;

    if (compute >= BZ_SLEEP_MAX_WORKERS || io >= BZ_SLEEP_MAX_WORKERS)
        return bz_fail(err, BZ_E_LIMIT, "at most %d threads a lane",
                       BZ_SLEEP_MAX_WORKERS - 1);
    rc = bz_lane_init(&pool->lane[BZ_LANE_COMPUTE], "bz-compute", compute, compute,
                      &pool->store, err);
    if (rc == 0)
        rc = bz_lane_init(&pool->lane[BZ_LANE_IO], "bz-io", io, 1, &pool->store, err);
    return rc;
}

int bz_pool_new(const struct bz_pool_opts *opts, struct bz_pool **out,
                struct bz_err *err)
{
    BZ_CLEANUP(bz_pool_freep) struct bz_pool *pool = bz_mem_padded(sizeof(*pool));
    int rc = start(pool, opts, err);

    if (rc < 0)
        return rc;
    *out = pool;
    pool = NULL; /* the caller owns it now */
    return 0;
}

/* Runs on the calling thread what the stopped workers left behind, which may queue
 * more, on either lane. */
static void drain(struct bz_pool *pool)
{
    for (unsigned idle = 0; idle < BZ_LANE_COUNT;) {
        idle = 0;
        for (unsigned i = 0; i < BZ_LANE_COUNT; i++) {
            struct bz_lane *lane = &pool->lane[i];
            struct bz_worker *w = lane->worker ? &lane->worker[lane->limit] : NULL;
            struct bz_work *work = w ? bz_worker_find(w) : NULL;

            if (work)
                bz_worker_run(w, work);
            else
                idle++;
        }
    }
}

void bz_pool_free(struct bz_pool *pool)
{
    if (!pool)
        return;
    /* io first: its bodies may hand work to compute, seldom the other way round; what
     * is left over either way is drained below. */
    bz_lane_stop(&pool->lane[BZ_LANE_IO]);
    bz_lane_stop(&pool->lane[BZ_LANE_COMPUTE]);
    drain(pool);
    for (unsigned i = 0; i < BZ_LANE_COUNT; i++)
        bz_lane_release(&pool->lane[i]);
    bz_scope_store_release(&pool->store);
    free(pool);
}

void bz_pool_freep(struct bz_pool **pool)
{
    bz_pool_free(*pool);
}

static void run_submitted(struct bz_worker *w, struct bz_work *work)
{
    struct bz_pool_item *item = BZ_CONTAINER(work, struct bz_pool_item, work);
    int status = bz_cancel_check(item->cancel);

    bz_scope_enter(&w->cache, NULL);
    if (status == 0)
        item->body(w, item->arg);
    if (item->finish) {
        item->finish(item, status);
        return;
    }
    item->status = status;
    bz_latch_set(&item->done);
}

void bz_pool_submit(struct bz_pool *pool, struct bz_worker *from, enum bz_lane_id lane,
                    struct bz_pool_item *item)
{
    struct bz_lane *to = &pool->lane[lane];

    item->work.run = run_submitted;
    bz_latch_init(&item->done, NULL, 0);
    if (from && from->lane == to)
        bz_worker_push(from, &item->work);
    else
        bz_lane_inject(to, &item->work);
}

int bz_pool_wait(struct bz_pool_item *item, int64_t deadline)
{
    return bz_latch_wait(&item->done, deadline) ? item->status : BZ_E_BUSY;
}

void bz_pool_call(struct bz_pool *pool, bz_work_body body, void *arg)
{
    struct bz_lane *lane = &pool->lane[BZ_LANE_COMPUTE];
    struct bz_worker *w = bz_lane_enter(lane);
    struct bz_pool_item item = {.body = body, .arg = arg};

    if (w) {
        body(w, arg);
        bz_lane_leave(lane, w);
        return;
    }
    bz_pool_submit(pool, NULL, BZ_LANE_COMPUTE, &item);
    bz_latch_wait(&item.done, 0);
}

struct join {
    struct bz_work work;
    bz_work_body body;
    void *arg;
    struct bz_latch done;
};

static void run_stolen(struct bz_worker *w, struct bz_work *work)
{
    struct join *j = BZ_CONTAINER(work, struct join, work);

    bz_scope_enter(&w->cache, NULL);
    j->body(w, j->arg);
    bz_latch_set(&j->done);
}

/* b was not on top of the deque: it is stolen, or under work that a left there. */
static BZ_NOINLINE void join_slow(struct bz_worker *w, struct join *j,
                                  struct bz_work *top)
{
    while (top && top != &j->work) {
        bz_worker_run(w, top);
        top = bz_deque_pop(&w->deque);
    }
    if (top)
        j->body(w, j->arg);
    else
        bz_worker_wait(w, &j->done);
}

void bz_pool_join(struct bz_worker *w, bz_work_body a, void *arg_a, bz_work_body b,
                  void *arg_b)
{
    struct join j = {.work.run = run_stolen, .body = b, .arg = arg_b};
    struct bz_work *top;

    bz_latch_init(&j.done, &w->lane->sleep, w->index);
    bz_worker_push(w, &j.work);
    a(w, arg_a);
    top = bz_deque_pop(&w->deque);
    if (BZ_LIKELY(top == &j.work)) {
        bz_worker_count(&w->stats.executed, 1);
        b(w, arg_b);
    } else {
        join_slow(w, &j, top);
    }
}

struct range {
    size_t begin, end, grain;
    bz_pool_range_fn body;
    void *arg;
};

static void run_range(struct bz_worker *w, void *arg)
{
    struct range *r = arg, low = *r, high = *r;

    if (r->end - r->begin <= r->grain) {
        r->body(w, r->begin, r->end, r->arg);
        return;
    }
    low.end = high.begin = r->begin + (r->end - r->begin) / 2;
    bz_pool_join(w, run_range, &low, run_range, &high);
}

void bz_pool_for(struct bz_worker *w, size_t begin, size_t end, size_t grain,
                 bz_pool_range_fn body, void *arg)
{
    struct range r = {begin, end, grain, body, arg};

    if (begin >= end)
        return;
    if (grain == 0)
        r.grain = (end - begin) / ((size_t)w->lane->limit * PIECES_PER_WORKER) + 1;
    run_range(w, &r);
}

struct bz_lane *bz_pool_lane(struct bz_pool *pool, enum bz_lane_id lane)
{
    return &pool->lane[lane];
}

unsigned bz_pool_workers(struct bz_pool *pool, enum bz_lane_id lane)
{
    return pool->lane[lane].limit + 1;
}

static void add_stats(struct bz_worker_stats *from, struct bz_pool_stats *to)
{
    to->executed += atomic_load_explicit(&from->executed, memory_order_relaxed);
    to->stolen += atomic_load_explicit(&from->stolen, memory_order_relaxed);
    to->injected += atomic_load_explicit(&from->injected, memory_order_relaxed);
    to->wakes += atomic_load_explicit(&from->wakes, memory_order_relaxed);
    to->sleeps += atomic_load_explicit(&from->sleeps, memory_order_relaxed);
}

void bz_pool_stats(struct bz_pool *pool, enum bz_lane_id lane, unsigned index,
                   struct bz_pool_stats *out)
{
    struct bz_lane *l = &pool->lane[lane];

    *out = (struct bz_pool_stats){0};
    if (index <= l->limit) {
        add_stats(&l->worker[index].stats, out);
        return;
    }
    for (unsigned i = 0; i <= l->limit; i++)
        add_stats(&l->worker[i].stats, out);
    out->wakes += atomic_load_explicit(&l->outside_wakes, memory_order_relaxed);
}
