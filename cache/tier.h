/* tier.h - interface of a place that may have what the local store lacks.
 *
 * Tiers are asked in order after the local store, which they fill: what one has is
 * copied into the local store, checked on the way, and used from there. A cache may
 * only save time, so every failure of a tier is a miss to its user.
 *
 * Implementations: tier_dir.h, a directory that others share; tier_http.h, a web
 * server.
 */
#ifndef BZ_CACHE_TIER_H
#define BZ_CACHE_TIER_H

#include "cache/action.h"
#include "pool/pool.h"

struct bz_tier;

/* Blobs that were copied, either way; what was there already does not count. */
struct bz_tier_moved {
    uint64_t blobs, bytes;
};

/* What a call may use, and when it has to be back. A tier bounds silence by itself, so
 * the token need not: a large batch may take long as long as it moves. */
struct bz_tier_call {
    struct bz_digest_hasher *h;
    struct bz_cancel *cancel;    /* or NULL */
    struct bz_pool *pool;        /* to help, beside the calling thread; or NULL */
    struct bz_tier_moved *moved; /* what the call copies is added, on its thread; or
                                    NULL */
};

static inline void bz_tier_note_moved(const struct bz_tier_call *call,
                                      const struct bz_reapi_digest *d)
{
    if (!call->moved)
        return;
    call->moved->blobs++;
    call->moved->bytes += d->size;
}

/* One blob of a batch and what became of it: 0, or BZ_E_NOENT if the source has it not,
 * or bad; BZ_E_LIMIT if it is too large for the tier; or a failure. */
struct bz_tier_blob {
    struct bz_reapi_digest digest;
    int status; /* written by the call */
    /* Putting: the tier had it already, and has no way to be told that it is relied on.
     * To be put again after the result. */
    bool found;
};

/* Any thread may call these, several at a time; a hasher belongs to one. BZ_E_NOENT is
 * a miss and BZ_E_NOSUP a tier that takes no writes; BZ_E_CANCELED and BZ_E_TIMEOUT may
 * be the token's; all else is a tier that does not work. */
struct bz_tier_ops {
    const char *kind;
    /* The result of a key, in the arena. */
    int (*get_action)(struct bz_tier *t, const struct bz_tier_call *call,
                      const struct bz_digest *key, struct bz_arena *a,
                      struct bz_reapi_result *out, struct bz_err *err);
    int (*put_action)(struct bz_tier *t, const struct bz_tier_call *call,
                      const struct bz_digest *key, const struct bz_reapi_result *r,
                      struct bz_err *err);
    /* From the tier into the local store, and the other way round; what is there is not
     * copied again. Every status is written, whatever is returned: 0 if all blobs are
     * there, the code of a tier that does not work (those not tried have it too), or
     * else the first status that is not 0. The tier works on many at a time where that
     * helps; on a file system it is the caller who may split the batch. */
    int (*get_blobs)(struct bz_tier *t, const struct bz_tier_call *call,
                     struct bz_tier_blob *blobs, size_t n, struct bz_cas *into,
                     struct bz_err *err);
    int (*put_blobs)(struct bz_tier *t, const struct bz_tier_call *call,
                     struct bz_tier_blob *blobs, size_t n, struct bz_cas *from,
                     struct bz_err *err);
    void (*close)(struct bz_tier *t);
};

struct bz_tier {
    const struct bz_tier_ops *ops;
};

#endif
