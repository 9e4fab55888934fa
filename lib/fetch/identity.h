/* identity.h - what a fetched source is, whatever place it came from.
 *
 * A line for each file: its name and the digest of its content, with a mark for those
 * that may be executed; for links where they lead; for a repository its commit. Two
 * sources with equal lines unpack to the same.
 */
#ifndef BZ_FETCH_IDENTITY_H
#define BZ_FETCH_IDENTITY_H

#include "base/buf.h"
#include "fetch/fetch.h"

/* Appends the lines of one source, which has been fetched. */
int bz_identity_write(const struct bz_fetch *f, size_t i, struct bz_buf *out,
                      struct bz_err *err) BZ_MUST_CHECK;

#endif
