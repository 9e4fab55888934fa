/* sleep.h - when workers sleep and who wakes them.
 *
 * One per lane. README.md explains the protocol and proves that no wake-up is lost;
 * the step names I1..I10, N1..N3 and W1 used there, here and in tests/model agree.
 *
 * All that must be read together is one 64-bit word:
 *
 *     bits  0-15  sleeping   workers registered as blocked
 *     bits 16-31  inactive   workers without work: looking for some, or blocked
 *     bits 32-63  events     even: somebody is about to sleep ("sleepy")
 *                            odd:  work has come since ("active")
 *
 * inactive - sleeping workers are awake and will come across new work by themselves.
 */
#ifndef BZ_POOL_SLEEP_H
#define BZ_POOL_SLEEP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/defs.h"
#include "pool/latch.h"

#define BZ_SLEEP_ONE_SLEEPING UINT64_C(1)
#define BZ_SLEEP_ONE_INACTIVE (UINT64_C(1) << 16)
#define BZ_SLEEP_ONE_EVENT (UINT64_C(1) << 32)
#define BZ_SLEEP_MAX_WORKERS 4096 /* far below what 16 bits can count */

/* What one worker sleeps on. */
struct bz_sleep_nap {
    BZ_PADDED atomic_uint state; /* AWAKE, DROWSY or ASLEEP; also the futex */
};

struct bz_sleep {
    BZ_PADDED _Atomic(uint64_t) counters;
    BZ_PADDED struct bz_sleep_nap *nap; /* [count] */
    unsigned count;
    bool fenced; /* pushes are full barriers: no membarrier needed to go to sleep */
};

/* How far a worker has come on its way to sleep; zeroed when it starts looking. */
struct bz_sleep_idle {
    unsigned rounds;
    uint32_t events; /* the counter when it announced that it is sleepy */
    unsigned slept;  /* how often it has blocked */
};

static inline unsigned bz_sleep_sleeping(uint64_t counters)
{
    return (unsigned)(counters & 0xffff);
}

static inline unsigned bz_sleep_inactive(uint64_t counters)
{
    return (unsigned)(counters >> 16 & 0xffff);
}

static inline uint32_t bz_sleep_events(uint64_t counters)
{
    return (uint32_t)(counters >> 32);
}

void bz_sleep_init(struct bz_sleep *s, unsigned count, bool fenced);
void bz_sleep_release(struct bz_sleep *s);

/* A worker found nothing and begins to look for work (I1). */
static inline void bz_sleep_start_looking(struct bz_sleep *s)
{
    atomic_fetch_add_explicit(&s->counters, BZ_SLEEP_ONE_INACTIVE,
                              memory_order_seq_cst);
}

/* It stops looking, with work in hand or because what it waited for is there (W1).
 * True if somebody sleeps: then, before it gets busy, it looks whether there is more
 * work and wakes one for it. */
static inline bool bz_sleep_stop_looking(struct bz_sleep *s)
{
    return bz_sleep_sleeping(atomic_fetch_sub_explicit(
               &s->counters, BZ_SLEEP_ONE_INACTIVE, memory_order_seq_cst)) > 0;
}

/* One fruitless round of the search by worker `self`: yields, announces, or sleeps
 * until woken or until `latch` is set (I2..I10). */
void bz_sleep_no_work(struct bz_sleep *s, unsigned self, struct bz_sleep_idle *idle,
                      struct bz_latch *latch);

/* `n` items were queued; call it after queueing. `was_empty` says that the queue they
 * went to held nothing else. Returns how many workers were woken (N1..N3). */
unsigned bz_sleep_new_work(struct bz_sleep *s, unsigned n, bool was_empty);

/* True if bz_sleep_new_work has nothing to do: no worker sleeps or is about to. The
 * whole cost of a push on a busy lane. */
static inline bool bz_sleep_all_busy(struct bz_sleep *s)
{
    uint64_t c = atomic_load_explicit(&s->counters, memory_order_seq_cst);

    return (c & (BZ_SLEEP_ONE_EVENT | 0xffff)) == BZ_SLEEP_ONE_EVENT;
}

/* Wakes up to n sleepers, or the one given. They return how many they woke. */
unsigned bz_sleep_wake_any(struct bz_sleep *s, unsigned n);
unsigned bz_sleep_wake(struct bz_sleep *s, unsigned index);

#endif
