/* tiers.h - the tiers of a cache, in order, and what becomes of those that fail.
 *
 *   1. A tier is opened when it is first needed, and every call to it is watched
 *      (tier_watch.h): one that does not answer in time is not waited for.
 *   2. A tier that does not work or does not answer is left out for the rest of the
 *      run; one that cannot be written is only read. Either is said once in the log.
 *   3. A miss is a miss: blobs that are absent or bad say nothing about the tier.
 *   4. Of a tier that trusts certain keys a result counts only if one of them signed
 *      it; otherwise it is a miss, counted, and said once.
 *
 * Any thread may call anything but close.
 */
#ifndef BZ_CACHE_TIERS_H
#define BZ_CACHE_TIERS_H

#include "cache/tier_spec.h"
#include "cache/trust.h"

struct bz_tiers;

typedef int (*bz_tiers_open_fn)(const struct bz_tier_spec *spec, struct bz_tier **out,
                                struct bz_err *err);

#define BZ_TIERS_TIMEOUT (5 * BZ_CLOCK_S)

/* A key that a tier may be said to trust. */
struct bz_tiers_key {
    struct bz_str name;
    struct bz_signature_public key;
};

struct bz_tiers_opts {
    const struct bz_tier_spec *specs; /* [n]; the texts are copied */
    size_t n;
    const struct bz_tiers_key *keys; /* [nkeys]; one that is not here trusts nobody */
    size_t nkeys;
    int64_t timeout;       /* ns without an answer; 0: BZ_TIERS_TIMEOUT */
    bz_tiers_open_fn open; /* NULL: bz_tier_spec_open */
};

/* Touches nothing yet. The caller closes it. */
struct bz_tiers *bz_tiers_new(const struct bz_tiers_opts *opts);
/* Gives up what is under way. False if a call hangs in the kernel: what it uses, stores
 * included, must then stay open until the process ends, or it is closed again. NULL is
 * fine. */
bool bz_tiers_close(struct bz_tiers *t);

size_t bz_tiers_count(const struct bz_tiers *t);
/* Whether results are meant for the i-th. */
bool bz_tiers_wants(const struct bz_tiers *t, size_t i);

/* The result of a key from the first tier that has it, in the arena. BZ_E_NOENT if none
 * has, also when all of them fail; BZ_E_CANCELED. */
struct bz_tiers_found {
    struct bz_reapi_result result;
    size_t from; /* which tier has it */
};
int bz_tiers_get_action(struct bz_tiers *t, struct bz_digest_hasher *h,
                        const struct bz_digest *key, struct bz_cancel *cancel,
                        struct bz_arena *a, struct bz_tiers_found *out,
                        struct bz_err *err) BZ_MUST_CHECK;

/* What of the blobs is not in the store is copied there, from the tier `first` or the
 * others, many at a time. BZ_E_NOENT if a blob is nowhere; BZ_E_IO if the store takes
 * none. */
int bz_tiers_get_blobs(struct bz_tiers *t, size_t first, struct bz_cas *into,
                       const struct bz_reapi_digest *blobs, size_t n,
                       struct bz_cancel *cancel, struct bz_err *err) BZ_MUST_CHECK;

/* A result and what it needs into the i-th tier: the blobs, in this order, then the
 * result. BZ_E_NOSUP if it takes no more. */
struct bz_tiers_load {
    struct bz_digest key;
    const struct bz_reapi_result *result;
    const struct bz_reapi_digest *blobs;
    size_t n;
    struct bz_cas *from;
};
int bz_tiers_put(struct bz_tiers *t, size_t i, const struct bz_tiers_load *load,
                 struct bz_cancel *cancel, struct bz_err *err) BZ_MUST_CHECK;

struct bz_tiers_stats {
    const char *name; /* the tiers' */
    enum bz_tier_spec_kind kind;
    bool write, works;
    uint64_t hits, misses;           /* of results */
    uint64_t fetched;                /* blobs that it gave */
    uint64_t stored;                 /* results */
    struct bz_tier_moved read, sent; /* what was copied from it, and to it */
    uint64_t untrusted; /* results that were there, but not signed as they must be */
};
void bz_tiers_stats(struct bz_tiers *t, size_t i, struct bz_tiers_stats *out);

#endif
