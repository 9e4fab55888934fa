/* seal.h - a small file that is believed only if it is whole.
 *
 * For what a build directory remembers: written by rename(2), read in one piece, and
 * closed with a digest of its content. Whatever is not as it was written (cut off, of
 * another kind or version, damaged) is BZ_E_CORRUPT, and the caller does without. The
 * digest finds what disks and half-written files do, not what somebody does on purpose:
 * readers check every reference in it as well.
 */
#ifndef BZ_SIG_SEAL_H
#define BZ_SIG_SEAL_H

#include "base/buf.h"
#include "codec/digest.h"

#define BZ_SEAL_MAX ((size_t)1 << 28)

/* 8 bytes that say what is in it, the version included. */
struct bz_seal_kind {
    char name[9];
};

/* The content, at a multiple of 8; the caller frees *bytes, which it lies in.
 * BZ_E_NOENT, BZ_E_CORRUPT, or what else keeps it from being read. */
int bz_seal_read(const char *path, struct bz_seal_kind kind,
                 struct bz_digest_hasher *hasher, char **bytes, struct bz_str *content,
                 struct bz_err *err) BZ_MUST_CHECK;

/* Replaces the file, and makes the directory above it if there is none. BZ_E_LIMIT if
 * it could not be read again. */
int bz_seal_write(const char *path, struct bz_seal_kind kind,
                  struct bz_digest_hasher *hasher, struct bz_str content,
                  struct bz_err *err) BZ_MUST_CHECK;

#endif
