/* tier.h - interface of a place that may have what the local store lacks.
 *
 * Tiers are asked in order after the local store, which they fill: what one has is
 * copied into the local store, checked on the way, and used from there. A cache may
 * only save time, so every failure of a tier is a miss to its user.
 *
 * Implementations: tier_dir.h, a directory that others share.
 */
#ifndef BZ_CACHE_TIER_H
#define BZ_CACHE_TIER_H

#include "cache/action.h"

struct bz_tier;

/* Any thread may call these; a hasher belongs to one. BZ_E_NOENT is a miss, all else is
 * a tier that does not work. */
struct bz_tier_ops {
    const char *kind;
    /* The result of a key, in the arena. */
    int (*get_action)(struct bz_tier *t, struct bz_digest_hasher *h,
                      const struct bz_digest *key, struct bz_arena *a,
                      struct bz_reapi_result *out, struct bz_err *err);
    int (*put_action)(struct bz_tier *t, struct bz_digest_hasher *h,
                      const struct bz_digest *key, const struct bz_reapi_result *r,
                      struct bz_err *err);
    /* From the tier into the local store, and the other way round. */
    int (*get_blob)(struct bz_tier *t, struct bz_digest_hasher *h,
                    const struct bz_reapi_digest *d, struct bz_cas *into,
                    struct bz_err *err);
    int (*put_blob)(struct bz_tier *t, struct bz_digest_hasher *h,
                    const struct bz_reapi_digest *d, struct bz_cas *from,
                    struct bz_err *err);
    void (*close)(struct bz_tier *t);
};

struct bz_tier {
    const struct bz_tier_ops *ops;
};

#endif
