#include "pool/worker.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

void bz_worker_init(struct bz_worker *w, struct bz_lane *lane, unsigned index)
{
    bz_deque_init(&w->deque, lane->sleep.fenced);
    bz_latch_init(&w->stop, &lane->sleep, index);
    w->lane = lane;
    w->index = index;
    w->random = UINT64_C(0x9e3779b97f4a7c15) * (index + 1);
    w->cache.store = lane->store;
}

void bz_worker_release(struct bz_worker *w)
{
    BZ_ASSERT(bz_deque_len(&w->deque) == 0);
    bz_deque_release(&w->deque);
}

void bz_worker_join(struct bz_worker *w)
{
    int rc = pthread_join(w->thread, NULL);

    BZ_ASSERT(rc == 0);
}

void bz_worker_notify(struct bz_worker *w)
{
    unsigned n = bz_lane_announce(w->lane, 1, bz_deque_len(&w->deque) <= 1);

    bz_worker_count(&w->stats.wakes, n);
}

/* xorshift64*: only has to differ between workers and from call to call. */
static unsigned random_below(struct bz_worker *w, unsigned n)
{
    w->random ^= w->random >> 12;
    w->random ^= w->random << 25;
    w->random ^= w->random >> 27;
    return (unsigned)((w->random * UINT64_C(0x2545f4914f6cdd1d) >> 32) % n);
}

static struct bz_work *steal_round(struct bz_worker *w, bool *retry)
{
    struct bz_lane *lane = w->lane;
    unsigned n = atomic_load_explicit(&lane->started, memory_order_acquire);
    struct bz_work *work = NULL;
    unsigned start;

    if (w->index != lane->limit)
        work = bz_deque_steal(&lane->worker[lane->limit].deque, retry);
    if (work || n == 0)
        return work;
    start = n > 1 ? random_below(w, n) : 0;
    for (unsigned k = 0; k < n && !work; k++) {
        unsigned i = start + k < n ? start + k : start + k - n;

        if (i != w->index)
            work = bz_deque_steal(&lane->worker[i].deque, retry);
    }
    return work;
}

static struct bz_work *steal(struct bz_worker *w)
{
    struct bz_work *work;
    bool retry;

    do {
        retry = false;
        work = steal_round(w, &retry);
    } while (!work && retry); /* somebody else made progress, there may be more */
    if (work)
        bz_worker_count(&w->stats.stolen, 1);
    return work;
}

/* Takes everything from the injector: runs the oldest, queues the rest on the own
 * deque, where the others find it. */
static struct bz_work *take_injected(struct bz_worker *w)
{
    struct bz_work *first = bz_injector_take(&w->lane->injector);
    struct bz_work *rest = NULL;
    unsigned n = 0;

    if (!first)
        return NULL;
    /* Pushed newest first, so that popping yields them in the order they came. */
    for (struct bz_work *it = first->next; it;) {
        struct bz_work *next = it->next;

        it->next = rest;
        rest = it;
        it = next;
        n++;
    }
    while (rest) {
        struct bz_work *next = rest->next;

        bz_deque_push(&w->deque, rest);
        rest = next;
    }
    if (n > 0)
        bz_worker_count(&w->stats.wakes, bz_lane_announce(w->lane, n, false));
    bz_worker_count(&w->stats.injected, n + 1);
    return first;
}

struct bz_work *bz_worker_find(struct bz_worker *w)
{
    struct bz_work *work = bz_deque_pop(&w->deque);

    if (!work)
        work = steal(w);
    if (!work)
        work = take_injected(w);
    return work;
}

void bz_worker_settle(struct bz_worker *w)
{
    bz_scope_flush(&w->cache);
}

/* The worker leaves the ranks of the idle. A poster may have counted on it for work
 * that it is not going to take: if there is some, the next one has to come. */
static void stop_looking(struct bz_worker *w)
{
    struct bz_lane *lane = w->lane;
    bool asleep = bz_sleep_stop_looking(&lane->sleep);

    if ((asleep || bz_lane_may_grow(lane)) && bz_lane_has_work(lane))
        bz_worker_count(&w->stats.wakes, bz_lane_rouse(lane));
}

/* Looks for work until there is some or the latch is set: then NULL. */
static struct bz_work *look_for_work(struct bz_worker *w, struct bz_latch *latch)
{
    struct bz_sleep_idle idle = {0};
    struct bz_work *work = NULL;

    bz_sleep_start_looking(&w->lane->sleep);
    while (!bz_latch_probe(latch)) {
        work = bz_worker_find(w);
        if (work)
            break;
        bz_sleep_no_work(&w->lane->sleep, w->index, &idle, latch);
    }
    bz_worker_count(&w->stats.sleeps, idle.slept);
    stop_looking(w);
    return work;
}

void bz_worker_wait(struct bz_worker *w, struct bz_latch *latch)
{
    while (!bz_latch_probe(latch)) {
        struct bz_work *work = bz_worker_find(w);

        if (!work) {
            bz_worker_settle(w); /* which may be what sets the latch */
            if (bz_latch_probe(latch))
                break;
            work = look_for_work(w, latch);
        }
        if (work)
            bz_worker_run(w, work);
    }
}

static void *thread_main(void *arg)
{
    struct bz_worker *w = arg;
    struct bz_work *work;
    char name[16];

    snprintf(name, sizeof(name), "%s-%u", w->lane->name, w->index);
    pthread_setname_np(pthread_self(), name);
    /* It starts as one that looks for work, so that when it finds some, and there is
     * more, it brings in the next (stop_looking). */
    work = look_for_work(w, &w->stop);
    if (work)
        bz_worker_run(w, work);
    bz_worker_wait(w, &w->stop);
    return NULL;
}

int bz_worker_start(struct bz_worker *w, struct bz_err *err)
{
    sigset_t all, old;
    int rc;

    /* Signals are for the thread that reads them (os/signal.h), never for workers. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    rc = pthread_create(&w->thread, NULL, thread_main, w);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (rc != 0)
        return bz_fail(err, BZ_E_IO, "create a thread: %s", strerrordesc_np(rc));
    return 0;
}
