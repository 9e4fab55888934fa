/* remote_batch.h - many blobs from a server into a store, and back.
 *
 * Blobs are hashed as they arrive and appear in the store only if they are what was
 * asked for. What goes out is checked too, before its last byte is sent, so that a
 * damaged blob does not spread. What the server has is not sent again.
 */
#ifndef BZ_CACHE_REMOTE_BATCH_H
#define BZ_CACHE_REMOTE_BATCH_H

#include "cache/remote.h"

#define BZ_REMOTE_BATCH_SMALL                                                          \
    65536 /* blobs up to here are read into memory to be sent */

/* Bytes a second: how quickly a server moves what it got to its place, in silence. */
#define BZ_REMOTE_BATCH_FILES ((uint64_t)1 << 20)

/* As get_blobs and put_blobs of tier.h. */
int bz_remote_batch_get(struct bz_remote *r, const struct bz_tier_call *call,
                        struct bz_tier_blob *blobs, size_t n, struct bz_cas *into,
                        struct bz_err *err) BZ_MUST_CHECK;
int bz_remote_batch_put(struct bz_remote *r, const struct bz_tier_call *call,
                        struct bz_tier_blob *blobs, size_t n, struct bz_cas *from,
                        struct bz_err *err) BZ_MUST_CHECK;

#endif
