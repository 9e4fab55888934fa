#include "pool/deque.h"

#include <stdlib.h>

#include "base/mem.h"

enum { FIRST_SIZE = 256 };

static struct bz_deque_ring *ring_new(int64_t size, struct bz_deque_ring *older)
{
    struct bz_deque_ring *r;

    r = bz_mem_alloc(sizeof(*r) + (size_t)size * sizeof(r->slot[0]));
    r->older = older;
    r->mask = size - 1;
    return r;
}

void bz_deque_init(struct bz_deque *d, bool fenced)
{
    atomic_init(&d->top, 0);
    atomic_init(&d->bottom, 0);
    atomic_init(&d->ring, ring_new(FIRST_SIZE, NULL));
    d->top_seen = 0;
    d->fenced = fenced;
}

void bz_deque_release(struct bz_deque *d)
{
    struct bz_deque_ring *r = atomic_load_explicit(&d->ring, memory_order_relaxed);

    while (r) {
        struct bz_deque_ring *older = r->older;

        free(r);
        r = older;
    }
    atomic_store_explicit(&d->ring, NULL, memory_order_relaxed);
}

void bz_deque_grow(struct bz_deque *d)
{
    int64_t b = atomic_load_explicit(&d->bottom, memory_order_relaxed);
    struct bz_deque_ring *r = atomic_load_explicit(&d->ring, memory_order_relaxed);
    struct bz_deque_ring *bigger;

    /* acquire: a thief that moved top has finished reading the slot that the next
     * push will overwrite. */
    d->top_seen = atomic_load_explicit(&d->top, memory_order_acquire);
    if (b - d->top_seen <= r->mask)
        return; /* thieves have made room since the last look */
    bigger = ring_new((r->mask + 1) * 2, r);
    for (int64_t i = d->top_seen; i < b; i++) {
        struct bz_work *work =
            atomic_load_explicit(&r->slot[i & r->mask], memory_order_relaxed);

        atomic_init(&bigger->slot[i & bigger->mask], work);
    }
    /* release: pairs with the acquire of ring in bz_deque_steal. */
    atomic_store_explicit(&d->ring, bigger, memory_order_release);
}
