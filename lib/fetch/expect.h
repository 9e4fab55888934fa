/* expect.h - the checksums that a recipe gives for a source, and files against them.
 *
 * They stand in the entry itself (;sha256sum=) or in flags of SRC_URI: [sha256sum], or
 * [NAME.sha256sum] for an entry with ;name=NAME. As in BitBake every one that is given
 * must agree.
 */
#ifndef BZ_FETCH_EXPECT_H
#define BZ_FETCH_EXPECT_H

#include "codec/checksum.h"
#include "fetch/policy.h"

struct bz_expect {
    struct bz_str want[BZ_CHECKSUM_KINDS]; /* "" where none is given */
    unsigned kinds;                        /* bits of those that are given */
    struct bz_str name;                    /* of the entry, or "" */
};

/* `flags`: also look at those of SRC_URI. */
int bz_expect_read(struct bz_expect *v, struct bz_arena *arena,
                   const struct bz_uri *uri, const struct bz_policy *p, bool flags,
                   struct bz_err *err) BZ_MUST_CHECK;

/* BZ_E_CORRUPT if a checksum is another one; *got has its digits then. `name` is for
 * the message. With none given this succeeds without reading. */
int bz_expect_file(const struct bz_expect *v, int fd, const char *name,
                   char got[BZ_CHECKSUM_HEX], struct bz_err *err) BZ_MUST_CHECK;

/* Appends the line that a recipe lacks: SRC_URI[sha256sum] = "...". */
int bz_expect_line(const struct bz_expect *v, int fd, struct bz_buf *out,
                   struct bz_err *err) BZ_MUST_CHECK;

#endif
