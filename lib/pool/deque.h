/* deque.h - one worker's double-ended queue of work (Chase and Lev).
 *
 * The owner pushes and pops at the bottom, newest first. Any other thread steals
 * from the top, oldest first, without locks. Items live at indices [top, bottom); an
 * index is used once and never comes back, the ring slot is index modulo its size.
 *
 *   1. Only the owner writes `bottom` and the slots; `top` only grows, by CAS.
 *   2. An item at index i is taken by whoever moves `top` from i to i+1, or by the
 *      owner without touching `top` if, after announcing bottom = i, it still sees
 *      top < i.
 *
 * Rule 2 is sound because announcing is an exchange: a thief that reads top = i does
 * so after the owner's look at `top` in the single order of seq_cst operations, hence
 * after the exchange, and then finds bottom = i: nothing to take. README.md has the
 * long form; tests/model checks it.
 *
 * A ring that proved too small is replaced by one twice the size and kept until the
 * deque is released, because a thief may still read a slot of it. What it reads there
 * is right, or else its CAS fails.
 */
#ifndef BZ_POOL_DEQUE_H
#define BZ_POOL_DEQUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/defs.h"
#include "pool/work.h"

struct bz_deque_ring {
    struct bz_deque_ring *older; /* replaced by this one */
    int64_t mask;
    _Atomic(struct bz_work *) slot[];
};

struct bz_deque {
    BZ_PADDED _Atomic(int64_t) top;
    BZ_PADDED _Atomic(int64_t) bottom;
    _Atomic(struct bz_deque_ring *) ring;
    int64_t top_seen; /* owner: a past value of top, to leave that line alone */
    bool fenced;      /* owner: publish by a read-modify-write; see bz_deque_init */
};

/* With `fenced`, bz_deque_push is a full barrier, which the sleep protocol needs
 * where membarrier(2) is missing. */
void bz_deque_init(struct bz_deque *d, bool fenced);
void bz_deque_release(struct bz_deque *d); /* no other thread may be near */

/* Owner only: makes room for one more item. */
void bz_deque_grow(struct bz_deque *d);

/* Owner only. Never fails; publishes *work to thieves. */
static inline void bz_deque_push(struct bz_deque *d, struct bz_work *work)
{
    int64_t b = atomic_load_explicit(&d->bottom, memory_order_relaxed);
    struct bz_deque_ring *r = atomic_load_explicit(&d->ring, memory_order_relaxed);

    if (BZ_UNLIKELY(b - d->top_seen > r->mask)) {
        bz_deque_grow(d);
        r = atomic_load_explicit(&d->ring, memory_order_relaxed);
    }
    atomic_store_explicit(&r->slot[b & r->mask], work, memory_order_relaxed);
    /* release: pairs with the acquire of bottom in bz_deque_steal. */
    if (BZ_LIKELY(!d->fenced))
        atomic_store_explicit(&d->bottom, b + 1, memory_order_release);
    else
        atomic_exchange_explicit(&d->bottom, b + 1, memory_order_seq_cst);
}

/* Owner only: the newest item, or NULL. */
static inline struct bz_work *bz_deque_pop(struct bz_deque *d)
{
    int64_t b = atomic_load_explicit(&d->bottom, memory_order_relaxed) - 1;
    struct bz_deque_ring *r = atomic_load_explicit(&d->ring, memory_order_relaxed);
    struct bz_work *work;
    int64_t t;

    /* Only the owner adds items: once top has caught up, the deque is empty. */
    if (atomic_load_explicit(&d->top, memory_order_relaxed) > b)
        return NULL;
    /* seq_cst exchange: announces the claim to index b before top is looked at
     * (rule 2); a plain store could be overtaken by the load below. */
    atomic_exchange_explicit(&d->bottom, b, memory_order_seq_cst);
    t = atomic_load_explicit(&d->top, memory_order_seq_cst);
    work = atomic_load_explicit(&r->slot[b & r->mask], memory_order_relaxed);
    if (BZ_LIKELY(t < b))
        return work;
    if (t > b || !atomic_compare_exchange_strong_explicit(
                     &d->top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed))
        work = NULL; /* a thief was faster */
    atomic_store_explicit(&d->bottom, b + 1, memory_order_release);
    return work;
}

/* Any thread: the oldest item, or NULL. *retry is set when another thread interfered,
 * so that NULL does not mean empty; it is never cleared. */
static inline struct bz_work *bz_deque_steal(struct bz_deque *d, bool *retry)
{
    /* seq_cst: see the header comment; free of charge on x86. */
    int64_t t = atomic_load_explicit(&d->top, memory_order_seq_cst);
    int64_t b = atomic_load_explicit(&d->bottom, memory_order_seq_cst);
    struct bz_deque_ring *r;
    struct bz_work *work;

    if (t >= b)
        return NULL;
    /* acquire: pairs with the release of a grown ring in deque.c. */
    r = atomic_load_explicit(&d->ring, memory_order_acquire);
    work = atomic_load_explicit(&r->slot[t & r->mask], memory_order_relaxed);
    if (!atomic_compare_exchange_strong_explicit(
            &d->top, &t, t + 1, memory_order_seq_cst, memory_order_relaxed)) {
        *retry = true;
        return NULL;
    }
    return work;
}

/* Any thread: how many items there seem to be. A hint, exact only for the owner of a
 * deque nobody steals from. */
static inline int64_t bz_deque_len(struct bz_deque *d)
{
    int64_t t = atomic_load_explicit(&d->top, memory_order_seq_cst);
    int64_t b = atomic_load_explicit(&d->bottom, memory_order_seq_cst);

    return b > t ? b - t : 0;
}

#endif
