#include "jobs/tasklist.h"

void bz_tasklist_init(struct bz_tasklist *l, size_t capacity, size_t limit)
{
    bz_ring_init(&l->rings[0], capacity);
    atomic_init(&l->nrings, 1);
    l->limit = limit > capacity ? limit : capacity;
    l->grow = (struct bz_sync_mutex){0};
}

void bz_tasklist_release(struct bz_tasklist *l)
{
    for (unsigned i = 0; i < atomic_load(&l->nrings); i++)
        bz_ring_release(&l->rings[i]);
}

/* A larger ring after the last, unless somebody else has just put one there. */
static bool grow(struct bz_tasklist *l, unsigned seen)
{
    size_t size = (l->rings[seen - 1].mask + 1) * 2;
    bool done = true;

    bz_sync_lock(&l->grow);
    if (atomic_load_explicit(&l->nrings, memory_order_relaxed) == seen) {
        /* Without memory there is as much room as before. */
        done = seen < BZ_TASKLIST_RINGS && size <= l->limit * 2 &&
               bz_ring_try_init(&l->rings[seen], size);
        if (done)
            atomic_store_explicit(&l->nrings, seen + 1, memory_order_release);
    }
    bz_sync_unlock(&l->grow);
    return done;
}

bool bz_tasklist_push(struct bz_tasklist *l, void *task)
{
    for (;;) {
        unsigned n = atomic_load_explicit(&l->nrings, memory_order_acquire);

        if (bz_ring_push(&l->rings[n - 1], task))
            return true;
        if (!grow(l, n))
            return false;
    }
}

void *bz_tasklist_pop(struct bz_tasklist *l)
{
    unsigned n = atomic_load_explicit(&l->nrings, memory_order_acquire);
    void *task = NULL;

    for (unsigned i = 0; i < n && !task; i++)
        task = bz_ring_pop(&l->rings[i]);
    return task;
}

size_t bz_tasklist_len(const struct bz_tasklist *l)
{
    unsigned n = atomic_load_explicit(&l->nrings, memory_order_acquire);
    size_t len = 0;

    for (unsigned i = 0; i < n; i++)
        len += bz_ring_len(&l->rings[i]);
    return len;
}
