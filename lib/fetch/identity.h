/* identity.h - what a source is: as an entry of SRC_URI, and once it is fetched.
 *
 * The fields of an entry decide which bytes arrive and where they are unpacked: the
 * place without login, every parameter, the expected checksums, the resolved commit.
 * Mirrors and credentials are no fields. They are known without network and without
 * reading a file; of a local entry the files count as well (bz_fetch_path()).
 *
 * A fetched source has a line for each file: its name and the digest of its content,
 * with a mark for those that may be executed; for links where they lead; for a
 * repository its commit. Two sources with equal lines unpack to the same.
 */
#ifndef BZ_FETCH_IDENTITY_H
#define BZ_FETCH_IDENTITY_H

#include "base/buf.h"
#include "base/vec.h"
#include "fetch/fetch.h"

struct bz_identity_field {
    struct bz_str name, value; /* last as long as the sources */
};

struct bz_identity_fields BZ_VEC(struct bz_identity_field);

/* Appends the fields of one entry in a fixed order: "uri"; ";NAME" for each parameter,
 * by name; "md5sum" and so on for the checksums that are given, in lower case; for git
 * "commit", or, if that is to be resolved, "revision" with the question (revision.h),
 * and "destsuffix" if a variable decides it. */
int bz_identity_fields(struct bz_fetch *f, size_t i, struct bz_identity_fields *out,
                       struct bz_err *err) BZ_MUST_CHECK;

/* Appends the lines of one source, which has been fetched. */
int bz_identity_write(const struct bz_fetch *f, size_t i, struct bz_buf *out,
                      struct bz_err *err) BZ_MUST_CHECK;

#endif
