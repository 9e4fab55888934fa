/* archive.h - unpacks archives that others made, and the one door to libarchive.
 *
 * Formats: tar in all its kinds, zip, cpio, ar and rpm; compressed with gzip, bzip2,
 * xz, lzma, lzip, zstd, lz4 or compress. Everything is done in this process.
 *
 *   1. Nothing is written outside of the directory, whatever names and links the
 *      archive has (os/fs_below.h). A symbolic link may say anything, but nothing is
 *      written through one.
 *   2. Devices, pipes and sockets are BZ_E_INVAL. Owners, set-id bits, access lists and
 *      extended attributes are dropped; modes lose the bits of the mask; times stay.
 *   3. Members, bytes, and bytes for each byte of the file are bounded: BZ_E_LIMIT.
 *   4. The same archive gives the same files and the same error, whatever locale,
 *      user and umask.
 *
 * After a failure the directory has what came before it. Messages name the archive and
 * the member. Any thread.
 */
#ifndef BZ_CODEC_ARCHIVE_H
#define BZ_CODEC_ARCHIVE_H

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

#define BZ_ARCHIVE_MEMBERS ((uint64_t)4 << 20)
#define BZ_ARCHIVE_BYTES ((uint64_t)64 << 30)
#define BZ_ARCHIVE_RATIO 250
#define BZ_ARCHIVE_ALLOWED ((uint64_t)64 << 20) /* bytes, whatever the ratio */
#define BZ_ARCHIVE_UMASK 022
#define BZ_ARCHIVE_MASKED 01000 /* in a mask: it is meant, even if it has no bits */

/* {0} is sensible. */
struct bz_archive_opts {
    unsigned strip;    /* leading parts of each name to drop; what has no more is not
                          unpacked */
    const char *inner; /* unpack not the archive but the first archive in it whose name
                          begins so: "data.tar" of a Debian package; or NULL */
    uint64_t members;  /* at most; 0: BZ_ARCHIVE_MEMBERS */
    uint64_t bytes;    /* at most; 0: BZ_ARCHIVE_BYTES */
    uint64_t ratio;    /* at most; 0: BZ_ARCHIVE_RATIO */
    mode_t umask;      /* 0: BZ_ARCHIVE_UMASK; see BZ_ARCHIVE_MASKED */
    int (*check)(void *arg); /* asked now and then; a negative enum bz_code ends it;
                                or NULL */
    void *arg;
};

struct bz_archive_stats {
    uint64_t members, bytes;
};

/* Unpacks the file, from its beginning, into the directory. `name` is for messages.
 * BZ_E_CORRUPT if it is no archive or a broken one. `stats` may be NULL. */
int bz_archive_unpack(int fd, const char *name, int dir,
                      const struct bz_archive_opts *opts,
                      struct bz_archive_stats *stats, struct bz_err *err) BZ_MUST_CHECK;

/* Makes the file `to` of the bytes of a compressed file. Its time is the compressed
 * file's. BZ_E_CORRUPT if it is not compressed. */
int bz_archive_expand(int fd, const char *name, int dir, const char *to,
                      const struct bz_archive_opts *opts,
                      struct bz_err *err) BZ_MUST_CHECK;

#endif
