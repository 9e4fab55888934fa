/* lookup.h - results by key, from the local store and the remote caches.
 *
 * What the store has is read at once. Remote caches are asked for all others together,
 * on the io lane of the pool, and what they have is fetched there if that is wanted,
 * one result after another, for many name the same blobs. The calling thread waits.
 */
#ifndef BZ_PLAN_LOOKUP_H
#define BZ_PLAN_LOOKUP_H

#include "cache/cache.h"
#include "plan/plan.h"

struct bz_lookup {
    /* To be set before: */
    struct bz_cache *cache;
    struct bz_pool *pool;     /* may be NULL if there are no remote caches */
    bool fetch;               /* the blobs of a result too: it counts as found then */
    struct bz_cancel *cancel; /* ends it: what is not found by then is not looked for */
    /* Waits until `fd` is readable, for a caller with other things to do meanwhile;
     * NULL: just waits. */
    void (*wait)(void *ctx, int fd);
    void *wait_ctx;

    struct bz_arena arena; /* of results */
    struct bz_digest_hasher *hasher;
    struct bz_lookup_hand *hands; /* that have asked; for their results */
};

int bz_lookup_open(struct bz_lookup *l, struct bz_err *err) BZ_MUST_CHECK;
/* And of all results. Fine on a failed open. */
void bz_lookup_release(struct bz_lookup *l);

/* Of struct bz_plan_store; ctx is a struct bz_lookup. */
void bz_lookup_ask(void *ctx, struct bz_plan_ask *at, size_t n);

/* With `ask` and all else filled in. */
struct bz_plan_store bz_lookup_store(struct bz_lookup *l);

#endif
