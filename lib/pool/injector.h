/* injector.h - how threads outside a lane hand work in.
 *
 * A Treiber stack: push is one CAS. It is only ever taken whole, which leaves no room
 * for the ABA problem of popping one element, and the taker gets the items in the
 * order they came. Any thread may call anything.
 */
#ifndef BZ_POOL_INJECTOR_H
#define BZ_POOL_INJECTOR_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/defs.h"
#include "pool/work.h"

struct bz_injector {
    BZ_PADDED _Atomic(struct bz_work *) head; /* newest first */
};

/* True if it was empty before. A read-modify-write, so also a full barrier. */
bool bz_injector_push(struct bz_injector *q, struct bz_work *work);

/* All items, oldest first, linked by `next`; NULL if there are none. */
struct bz_work *bz_injector_take(struct bz_injector *q);

static inline bool bz_injector_empty(struct bz_injector *q)
{
    /* seq_cst: ordered after the sleeper's announcement, see sleep.c (I3). */
    return atomic_load_explicit(&q->head, memory_order_seq_cst) == NULL;
}

#endif
