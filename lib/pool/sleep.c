#include "pool/sleep.h"

#include <sched.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "os/clock.h"
#include "os/futex.h"
#include "os/membarrier.h"

enum {
    ROUNDS_UNTIL_SLEEPY = 32,
};

enum {
    AWAKE,  /* running, or on its way up */
    DROWSY, /* about to register: a waker that takes it here needs no system call */
    ASLEEP, /* registered in `sleeping`: whoever takes it from here deregisters it */
};

void bz_sleep_init(struct bz_sleep *s, unsigned count, bool fenced)
{
    BZ_ASSERT(count <= BZ_SLEEP_MAX_WORKERS);
    atomic_init(&s->counters, 0);
    s->nap = bz_mem_padded(count * sizeof(s->nap[0]));
    s->count = count;
    s->fenced = fenced;
}

void bz_sleep_release(struct bz_sleep *s)
{
    free(s->nap);
    s->nap = NULL;
}

static bool is_sleepy(uint64_t counters)
{
    return (bz_sleep_events(counters) & 1) == 0;
}

/* I3: makes the event counter even, so that the next poster has to change it. */
static uint32_t announce_sleepy(struct bz_sleep *s)
{
    uint64_t c = atomic_load_explicit(&s->counters, memory_order_seq_cst);

    while (!is_sleepy(c))
        if (atomic_compare_exchange_weak_explicit(
                &s->counters, &c, c + BZ_SLEEP_ONE_EVENT, memory_order_seq_cst,
                memory_order_seq_cst))
            return bz_sleep_events(c) + 1;
    return bz_sleep_events(c);
}

/* I8: counts itself as sleeping, unless work has come since the announcement. */
static bool register_sleeper(struct bz_sleep *s, uint32_t events)
{
    uint64_t c = atomic_load_explicit(&s->counters, memory_order_seq_cst);

    do {
        if (bz_sleep_events(c) != events)
            return false;
    } while (!atomic_compare_exchange_weak_explicit(
        &s->counters, &c, c + BZ_SLEEP_ONE_SLEEPING, memory_order_seq_cst,
        memory_order_seq_cst));
    return true;
}

/* I9: blocks, unless a waker came between registering and this. */
static void block(struct bz_sleep *s, struct bz_sleep_nap *nap)
{
    unsigned drowsy = DROWSY;

    if (!atomic_compare_exchange_strong_explicit(
            &nap->state, &drowsy, ASLEEP, memory_order_seq_cst, memory_order_acquire)) {
        /* The waker saw DROWSY and left the count alone. */
        atomic_fetch_sub_explicit(&s->counters, BZ_SLEEP_ONE_SLEEPING,
                                  memory_order_seq_cst);
        return;
    }
    /* acquire: pairs with the exchange in bz_sleep_wake. */
    while (atomic_load_explicit(&nap->state, memory_order_acquire) == ASLEEP)
        bz_futex_wait(&nap->state, ASLEEP, BZ_CLOCK_NEVER);
}

/* I5..I10 */
static void fall_asleep(struct bz_sleep *s, unsigned self, struct bz_sleep_idle *idle,
                        struct bz_latch *latch)
{
    struct bz_sleep_nap *nap = &s->nap[self];

    idle->rounds = 0;
    if (!bz_latch_get_sleepy(latch))
        return;
    /* I6 before I7: a setter that finds the latch SLEEPING must find the nap too. */
    atomic_store_explicit(&nap->state, DROWSY, memory_order_seq_cst);
    if (!bz_latch_fall_asleep(latch)) {
        atomic_exchange_explicit(&nap->state, AWAKE, memory_order_seq_cst);
        return;
    }
    if (register_sleeper(s, idle->events)) {
        block(s, nap);
        idle->slept++;
    } else {
        atomic_exchange_explicit(&nap->state, AWAKE, memory_order_seq_cst);
        idle->rounds = ROUNDS_UNTIL_SLEEPY; /* look once more, then announce again */
    }
    bz_latch_wake_up(latch);
}

void bz_sleep_no_work(struct bz_sleep *s, unsigned self, struct bz_sleep_idle *idle,
                      struct bz_latch *latch)
{
    if (idle->rounds > ROUNDS_UNTIL_SLEEPY) {
        fall_asleep(s, self, idle, latch);
        return;
    }
    if (idle->rounds == ROUNDS_UNTIL_SLEEPY) {
        idle->events = announce_sleepy(s);
        /* Every push whose poster has not seen the announcement becomes visible to
         * the search that follows. */
        if (!s->fenced)
            bz_membarrier_all();
    }
    idle->rounds++;
    sched_yield();
}

/* N1: makes the event counter odd, so that whoever is sleepy looks again. */
static uint64_t announce_work(struct bz_sleep *s)
{
    uint64_t c = atomic_load_explicit(&s->counters, memory_order_seq_cst);

    while (is_sleepy(c)) {
        if (atomic_compare_exchange_weak_explicit(
                &s->counters, &c, c + BZ_SLEEP_ONE_EVENT, memory_order_seq_cst,
                memory_order_seq_cst))
            return c + BZ_SLEEP_ONE_EVENT;
    }
    return c;
}

static unsigned awake_but_idle(uint64_t c)
{
    unsigned inactive = bz_sleep_inactive(c), sleeping = bz_sleep_sleeping(c);

    return inactive > sleeping ? inactive - sleeping : 0;
}

unsigned bz_sleep_new_work(struct bz_sleep *s, unsigned n, bool was_empty)
{
    uint64_t c = announce_work(s);
    unsigned idle = 0;

    if (bz_sleep_sleeping(c) == 0)
        return 0;
    if (was_empty && awake_but_idle(c) > 0) {
        /* N3: relying on an idle worker to come across the items is sound only if
         * they were visible to it while it was still idle. A push may still sit in
         * this CPU's store buffer: the RMW drains it and reads the counters anew. */
        c = atomic_fetch_add_explicit(&s->counters, 0, memory_order_seq_cst);
        idle = awake_but_idle(c);
    }
    return idle < n ? bz_sleep_wake_any(s, n - idle) : 0;
}

unsigned bz_sleep_wake(struct bz_sleep *s, unsigned index)
{
    struct bz_sleep_nap *nap = &s->nap[index];
    unsigned was;

    if (atomic_load_explicit(&nap->state, memory_order_seq_cst) == AWAKE)
        return 0;
    /* seq_cst: exactly one waker gets ASLEEP or DROWSY out of it. */
    was = atomic_exchange_explicit(&nap->state, AWAKE, memory_order_seq_cst);
    if (was == ASLEEP) {
        atomic_fetch_sub_explicit(&s->counters, BZ_SLEEP_ONE_SLEEPING,
                                  memory_order_seq_cst);
        bz_futex_wake(&nap->state, 1);
    }
    return was == AWAKE ? 0 : 1;
}

unsigned bz_sleep_wake_any(struct bz_sleep *s, unsigned n)
{
    unsigned woken = 0;

    for (unsigned i = 0; i < s->count && woken < n; i++)
        woken += bz_sleep_wake(s, i);
    return woken;
}
