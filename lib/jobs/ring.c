#include "jobs/ring.h"

#include <stdlib.h>

#include "base/mem.h"

static size_t places_for(size_t capacity)
{
    size_t n = 2;

    while (n < capacity)
        n *= 2;
    return n;
}

static void set_up(struct bz_ring *r, struct bz_ring_cell *cells, size_t n)
{
    r->cells = cells;
    r->mask = n - 1;
    for (size_t i = 0; i < n; i++)
        atomic_init(&r->cells[i].seq, i);
    atomic_init(&r->tail, 0);
    atomic_init(&r->head, 0);
}

void bz_ring_init(struct bz_ring *r, size_t capacity)
{
    size_t n = places_for(capacity);

    set_up(r, bz_mem_array(n, sizeof(*r->cells)), n);
}

bool bz_ring_try_init(struct bz_ring *r, size_t capacity)
{
    size_t n = places_for(capacity);
    struct bz_ring_cell *cells = calloc(n, sizeof(*cells));

    if (cells)
        set_up(r, cells, n);
    return cells;
}

void bz_ring_release(struct bz_ring *r)
{
    free(r->cells);
    r->cells = NULL;
}

/* A cell's number is the ticket that may write it; one more, and that ticket may read
 * it; a round more, and the next writer may have it. */
bool bz_ring_push(struct bz_ring *r, void *item)
{
    size_t at = atomic_load_explicit(&r->tail, memory_order_relaxed);

    for (;;) {
        struct bz_ring_cell *cell = &r->cells[at & r->mask];
        size_t seq = atomic_load_explicit(&cell->seq, memory_order_acquire);
        ptrdiff_t ahead = (ptrdiff_t)(seq - at);

        if (ahead < 0)
            return false;
        if (ahead > 0) {
            at = atomic_load_explicit(&r->tail, memory_order_relaxed);
        } else if (atomic_compare_exchange_weak(&r->tail, &at, at + 1)) {
            /* seq_cst: whoever looks at the length afterwards sees it; see gang.h */
            cell->item = item;
            atomic_store_explicit(&cell->seq, at + 1, memory_order_release);
            return true;
        }
    }
}

void *bz_ring_pop(struct bz_ring *r)
{
    size_t at = atomic_load_explicit(&r->head, memory_order_relaxed);

    for (;;) {
        struct bz_ring_cell *cell = &r->cells[at & r->mask];
        size_t seq = atomic_load_explicit(&cell->seq, memory_order_acquire);
        ptrdiff_t ahead = (ptrdiff_t)(seq - (at + 1));

        if (ahead < 0)
            return NULL;
        if (ahead > 0) {
            at = atomic_load_explicit(&r->head, memory_order_relaxed);
        } else if (atomic_compare_exchange_weak_explicit(&r->head, &at, at + 1,
                                                         memory_order_relaxed,
                                                         memory_order_relaxed)) {
            void *item = cell->item;

            atomic_store_explicit(&cell->seq, at + r->mask + 1, memory_order_release);
            return item;
        }
    }
}

size_t bz_ring_len(const struct bz_ring *r)
{
    size_t tail = atomic_load(&r->tail);
    size_t head = atomic_load_explicit(&r->head, memory_order_relaxed);

    return tail > head ? tail - head : 0;
}
