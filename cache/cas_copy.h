/* cas_copy.h - copy a file's bytes and leave its holes holes.
 *
 * A sparse file of a gigabyte takes a moment and no space. Pure but for the two
 * descriptors.
 */
#ifndef BZ_CACHE_CAS_COPY_H
#define BZ_CACHE_CAS_COPY_H

#include "codec/digest.h"

/* Copies the first `size` bytes of `from` to the empty file `to`; the offsets of both
 * do not matter. With a hasher in a message, adds the bytes to it. Without one the
 * kernel copies, or shares the blocks where the file system can. BZ_E_BUSY if `from`
 * turns out to be shorter. */
int bz_cas_copy(int from, int to, uint64_t size, struct bz_digest_hasher *h,
                struct bz_err *err) BZ_MUST_CHECK;

#endif
