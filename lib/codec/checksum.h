/* checksum.h - the checksums that recipes and registries give for files.
 *
 * Which ones are good enough is the caller's business: recipes still name MD5. All that
 * are wanted are computed in one pass over the file. Stored things are named by
 * digest.h. Any thread.
 */
#ifndef BZ_CODEC_CHECKSUM_H
#define BZ_CODEC_CHECKSUM_H

#include <stdbool.h>

#include "base/buf.h"

enum bz_checksum_kind {
    BZ_CHECKSUM_MD5,
    BZ_CHECKSUM_SHA1,
    BZ_CHECKSUM_SHA256,
    BZ_CHECKSUM_SHA384,
    BZ_CHECKSUM_SHA512,
    BZ_CHECKSUM_KINDS,
};

#define BZ_CHECKSUM_HEX                                                                \
    129 /* the longest in hexadecimal digits, with its terminator                      \
         */

/* Lower-case digits; "" where none was asked for. */
struct bz_checksums {
    char hex[BZ_CHECKSUM_KINDS][BZ_CHECKSUM_HEX];
};

const char *bz_checksum_name(enum bz_checksum_kind kind); /* "sha256" */
size_t bz_checksum_digits(enum bz_checksum_kind kind);

/* The kind of that name; false if there is none. */
bool bz_checksum_find(struct bz_str name, enum bz_checksum_kind *out);

/* Computes those whose bit (1 << kind) is in `kinds`, of the whole file. fd stays open.
 * BZ_E_NOSUP if libcrypto is not allowed one of them. */
int bz_checksum_fd(int fd, unsigned kinds, struct bz_checksums *out,
                   struct bz_err *err) BZ_MUST_CHECK;

/* "sha512-<base64>" as registries write it, to the kind and its digits. BZ_E_INVAL. */
int bz_checksum_integrity(struct bz_str text, enum bz_checksum_kind *kind,
                          char hex[BZ_CHECKSUM_HEX], struct bz_err *err) BZ_MUST_CHECK;

#endif
