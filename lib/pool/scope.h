/* scope.h - spawn any number of bodies and wait for all of them.
 *
 * A scope lives in a body (usually on its stack): begin, spawn from it or from any
 * body spawned in it, end. Spawned bodies run on the workers of the lane in no
 * particular order; bz_scope_end returns when all of them have.
 *
 * How completion is detected without a contended counter: `pending` counts what is
 * outstanding plus the credits workers hold. A worker draws credits in bulk, spends
 * one per spawn and earns one per finished body, and hands back what it holds when it
 * turns to anything else or finds nothing to do. So pending is never below the number
 * of outstanding bodies, and it reaches zero once they are done and everyone idle.
 */
#ifndef BZ_POOL_SCOPE_H
#define BZ_POOL_SCOPE_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/sync.h"
#include "pool/cancel.h"
#include "pool/latch.h"
#include "pool/work.h"

struct bz_scope {
    BZ_PADDED _Atomic(int64_t) pending;
    struct bz_latch done;
    struct bz_cancel *cancel;
};

struct bz_scope_item;
struct bz_scope_chunk;

/* Spare items of a pool. They change hands between workers in whole batches, since
 * the worker that spawns is often not the one that finishes. */
struct bz_scope_store {
    struct bz_sync_mutex mu;
    struct bz_scope_item *batches; /* mu; each the head of a full batch */
    struct bz_scope_chunk *chunks; /* mu; the memory of all items */
};

/* What one worker keeps to spawn without locks or shared counters. */
struct bz_scope_cache {
    struct bz_scope *scope; /* whose credits these are; may be gone if there are none */
    int64_t credit;
    struct bz_scope_item *spare; /* fewer than a batch */
    unsigned nspare;
    struct bz_scope_item *full; /* one batch, or NULL */
    struct bz_scope_store *store;
};

/* `cancel` may be NULL. Once it is canceled, bodies not yet started are dropped. */
void bz_scope_begin(struct bz_scope *s, struct bz_worker *w, struct bz_cancel *cancel);
void bz_scope_spawn(struct bz_scope *s, struct bz_worker *w, bz_work_body body,
                    void *arg);
void bz_scope_end(struct bz_scope *s, struct bz_worker *w);

/* For work that is not spawned here but counts as part of a scope: one credit per
 * item, taken before it is queued, given after it is done. */
void bz_scope_flush(struct bz_scope_cache *c);
void bz_scope_refill(struct bz_scope_cache *c, struct bz_scope *s);

/* The worker is about to run something of scope `s`, or of none (NULL). */
static inline void bz_scope_enter(struct bz_scope_cache *c, struct bz_scope *s)
{
    if (BZ_UNLIKELY(c->scope != s)) {
        bz_scope_flush(c);
        c->scope = s;
    }
}

static inline void bz_scope_take(struct bz_scope_cache *c, struct bz_scope *s)
{
    bz_scope_enter(c, s);
    if (BZ_UNLIKELY(c->credit == 0))
        bz_scope_refill(c, s);
    c->credit--;
}

static inline void bz_scope_give(struct bz_scope_cache *c, struct bz_scope *s)
{
    bz_scope_enter(c, s);
    c->credit++;
}

/* Frees all items; no worker may use the store any more. */
void bz_scope_store_release(struct bz_scope_store *store);

#endif
