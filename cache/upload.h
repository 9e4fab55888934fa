/* upload.h - results on their way to the tiers, in the background.
 *
 * A build hands in what it has stored and goes on. What waits is bounded: what finds no
 * room is not uploaded, and neither is what is left when time is up at the end. Both
 * are counted and said once, for nothing is lost but somebody else's time.
 *
 * Any thread may add; one closes.
 */
#ifndef BZ_CACHE_UPLOAD_H
#define BZ_CACHE_UPLOAD_H

#include "cache/tiers.h"
#include "pool/pool.h"

#define BZ_UPLOAD_MAX 4096                 /* results that wait */
#define BZ_UPLOAD_BYTES ((size_t)64 << 20) /* of these results, encoded */

struct bz_upload;

/* The tiers and the store outlive it. It runs on the io lane of `pool`, or of a small
 * one of its own if that is NULL. The caller closes it. */
struct bz_upload *bz_upload_new(struct bz_tiers *tiers, struct bz_cas *from,
                                struct bz_pool *pool);

/* A result whose blobs are in the store, for the first `n` of the tiers, as far as they
 * take it. */
void bz_upload_add(struct bz_upload *u, struct bz_digest_hasher *h,
                   const struct bz_digest *key, const struct bz_reapi_result *r,
                   size_t n);

/* Waits for what is under way until `deadline`; true if all is done. Not for workers of
 * its pool. */
bool bz_upload_flush(struct bz_upload *u, int64_t deadline);

struct bz_upload_stats {
    uint64_t done;    /* results that reached all tiers meant for them */
    uint64_t dropped; /* results that did not */
    uint64_t waiting;
};
void bz_upload_stats(struct bz_upload *u, struct bz_upload_stats *out);

/* Flushes, then drops what is left. Not for workers of its pool. NULL is fine. */
void bz_upload_close(struct bz_upload *u, int64_t deadline);

#endif
