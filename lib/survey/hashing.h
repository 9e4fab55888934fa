/* hashing.h - hashers to share: contents are hashed by whichever thread reads them.
 *
 * Any number of threads may hash at the same time; each gets a hasher of its own, which
 * goes back for the next one. {0} is empty.
 */
#ifndef BZ_SURVEY_HASHING_H
#define BZ_SURVEY_HASHING_H

#include "base/str.h"
#include "base/sync.h"
#include "base/vec.h"
#include "codec/digest.h"

struct bz_hashing_spare {
    struct bz_digest_hasher *hasher;
};

struct bz_hashing {
    struct bz_sync_mutex mu;
    struct BZ_VEC(struct bz_hashing_spare) spare; /* mu */
};

void bz_hashing_release(struct bz_hashing *h); /* nobody hashes any more */

/* The SHA-256 of the bytes; all zero if this system cannot compute it. `h` is a struct
 * bz_hashing *; the types are those of library.h. */
void bz_hashing_bytes(void *h, struct bz_str bytes, uint8_t out[32]);

#endif
