/* follower.h - hashes a file while it grows, on another thread if one is free.
 *
 * Who receives a large blob should receive: hashing it takes as long as writing it. A
 * follower reads what was written, a little behind the writer, in pieces that it hands
 * to the pool; between pieces it holds no thread. The file is the buffer, so memory
 * stays bounded. When the pool is busy the writer does the work itself, whenever it is
 * BZ_FOLLOWER_LAG ahead and at the end, and so never waits for a thread that may not
 * come.
 *
 * The writer's thread calls these.
 */
#ifndef BZ_CACHE_FOLLOWER_H
#define BZ_CACHE_FOLLOWER_H

#include "codec/digest.h"
#include "pool/pool.h"

#define BZ_FOLLOWER_STEP ((uint64_t)512 << 10) /* what is worth waking a thread for */
#define BZ_FOLLOWER_LAG ((uint64_t)8 << 20)

struct bz_follower;

/* The hasher is the follower's until its end. */
struct bz_follower *bz_follower_new(struct bz_pool *pool, struct bz_digest_hasher *h,
                                    int fd);

/* The file is empty, perhaps again: a new message begins. */
void bz_follower_begin(struct bz_follower *f);

/* The file begins with `n` bytes that will not change any more. It may be shorter: the
 * rest is zeros. */
void bz_follower_grow(struct bz_follower *f, uint64_t n);

/* Hashes the rest; then the hasher is the caller's, with a message to be ended. */
int bz_follower_finish(struct bz_follower *f, struct bz_err *err) BZ_MUST_CHECK;

/* Stops; then the hasher and the file are the caller's. NULL is fine. */
void bz_follower_free(struct bz_follower *f);

#endif
