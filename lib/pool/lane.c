#include "pool/lane.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "os/membarrier.h"
#include "pool/worker.h"

/* Starts one more thread if the limit allows. */
static int start_one(struct bz_lane *lane, struct bz_err *err)
{
    unsigned n;
    int rc = 0;

    bz_sync_lock(&lane->start_mu);
    n = atomic_load_explicit(&lane->started, memory_order_relaxed);
    if (n < lane->limit && !lane->stopping) {
        /* Counted before it runs: what it pushes must not be out of the thieves' sight.
         * release: those that see the count see the worker set up. */
        atomic_store_explicit(&lane->started, n + 1, memory_order_release);
        rc = bz_worker_start(&lane->worker[n], err);
        if (rc < 0)
            atomic_store_explicit(&lane->started, n, memory_order_release);
    }
    bz_sync_unlock(&lane->start_mu);
    return rc;
}

int bz_lane_init(struct bz_lane *lane, const char *name, unsigned limit, unsigned eager,
                 struct bz_scope_store *store, struct bz_err *err)
{
    bool fenced = !bz_membarrier_register();

    BZ_ASSERT(limit > 0 && eager > 0 && eager <= limit);
    lane->name = name;
    lane->limit = limit;
    lane->store = store;
    lane->worker = bz_mem_padded((limit + 1) * sizeof(lane->worker[0]));
    bz_sleep_init(&lane->sleep, limit + 1, fenced);
    for (unsigned i = 0; i <= limit; i++)
        bz_worker_init(&lane->worker[i], lane, i);
    for (unsigned i = 0; i < eager; i++) {
        int rc = start_one(lane, err);

        if (rc < 0)
            return bz_err_wrap(err, "start %s thread %u of %u", name, i + 1, eager);
    }
    return 0;
}

void bz_lane_stop(struct bz_lane *lane)
{
    unsigned n;

    bz_sync_lock(&lane->start_mu);
    lane->stopping = true; /* what runs on elsewhere may still submit work here */
    n = atomic_load_explicit(&lane->started, memory_order_relaxed);
    bz_sync_unlock(&lane->start_mu);
    for (unsigned i = 0; i < n; i++)
        bz_latch_set(&lane->worker[i].stop);
    for (unsigned i = 0; i < n; i++)
        bz_worker_join(&lane->worker[i]);
}

void bz_lane_release(struct bz_lane *lane)
{
    if (!lane->worker)
        return;
    for (unsigned i = 0; i <= lane->limit; i++)
        bz_worker_release(&lane->worker[i]);
    free(lane->worker);
    lane->worker = NULL;
    bz_sleep_release(&lane->sleep);
}

bool bz_lane_has_work(struct bz_lane *lane)
{
    unsigned n = atomic_load_explicit(&lane->started, memory_order_acquire);

    if (!bz_injector_empty(&lane->injector) ||
        bz_deque_len(&lane->worker[lane->limit].deque) > 0)
        return true;
    for (unsigned i = 0; i < n; i++)
        if (bz_deque_len(&lane->worker[i].deque) > 0)
            return true;
    return false;
}

/* That the system refuses another thread is no failure: those that run get to the
 * work, only later. */
static void grow(struct bz_lane *lane)
{
    struct bz_err err;

    if (start_one(lane, &err) < 0)
        bz_log_info("pool", "%s goes on with fewer threads: %s", lane->name, err.msg);
}

unsigned bz_lane_rouse(struct bz_lane *lane)
{
    unsigned woken = bz_sleep_wake_any(&lane->sleep, 1);

    if (woken == 0 && bz_lane_may_grow(lane))
        grow(lane);
    return woken;
}

unsigned bz_lane_announce(struct bz_lane *lane, unsigned n, bool was_empty)
{
    unsigned woken = bz_sleep_new_work(&lane->sleep, n, was_empty);
    uint64_t c;

    if (woken > 0 || !bz_lane_may_grow(lane))
        return woken;
    /* An RMW, as in N3: the items must be visible before the idle are counted. If one
     * is idle but takes something else, it rouses the next itself (W1). */
    c = atomic_fetch_add_explicit(&lane->sleep.counters, 0, memory_order_seq_cst);
    if (bz_sleep_inactive(c) == 0)
        grow(lane);
    return 0;
}

void bz_lane_inject(struct bz_lane *lane, struct bz_work *work)
{
    bool was_empty = bz_injector_push(&lane->injector, work);
    unsigned woken = bz_lane_announce(lane, 1, was_empty);

    if (woken > 0)
        atomic_fetch_add_explicit(&lane->outside_wakes, woken, memory_order_relaxed);
}

struct bz_worker *bz_lane_enter(struct bz_lane *lane)
{
    /* acquire: pairs with the release in bz_lane_leave; the slot's state is handed
     * from one visitor to the next. */
    if (atomic_exchange_explicit(&lane->main_taken, true, memory_order_acquire))
        return NULL;
    return &lane->worker[lane->limit];
}

void bz_lane_leave(struct bz_lane *lane, struct bz_worker *w)
{
    BZ_ASSERT(w == &lane->worker[lane->limit]);
    bz_worker_settle(w);
    atomic_store_explicit(&lane->main_taken, false, memory_order_release);
}
