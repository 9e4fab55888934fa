/* ring.h - a bounded queue of pointers, for any number of writers and readers.
 *
 * No locks: a place is claimed by compare-and-swap on a ticket, and its own sequence
 * number says whether it may be written or read. Everything that is put in comes out
 * exactly once; what one thread puts in comes out in that order.
 */
#ifndef BZ_JOBS_RING_H
#define BZ_JOBS_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/defs.h"

struct bz_ring_cell {
    atomic_size_t seq;
    void *item;
};

struct bz_ring {
    struct bz_ring_cell *cells;
    size_t mask;
    BZ_PADDED atomic_size_t tail; /* the next ticket to write */
    BZ_PADDED atomic_size_t head; /* the next ticket to read */
};

/* At least `capacity` places, rounded up to a power of two. */
void bz_ring_init(struct bz_ring *r, size_t capacity);
/* The same; false if there is no memory. */
bool bz_ring_try_init(struct bz_ring *r, size_t capacity) BZ_MUST_CHECK;
void bz_ring_release(struct bz_ring *r);

/* False if it is full. The item is not NULL. */
bool bz_ring_push(struct bz_ring *r, void *item);
/* NULL if it is empty, or if the first item is only just being written. */
void *bz_ring_pop(struct bz_ring *r);

/* About how many items there are. */
size_t bz_ring_len(const struct bz_ring *r);

#endif
