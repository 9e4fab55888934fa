/* digest.h - SHA-256, one of the doors to libcrypto; checksum.h and signature.h are
 * others.
 *
 * A digest is 32 bytes by value. Digests are made by a hasher, an object that keeps
 * what libcrypto takes long to set up: hashing a short string with a kept hasher costs
 * a quarter of what a fresh context does. A hasher belongs to one thread at a time; a
 * digest is plain data.
 *
 * The text form is 64 lower-case hexadecimal digits and nothing else, so that one
 * digest has one name wherever names are compared, in a file system or a database.
 */
#ifndef BZ_CODEC_DIGEST_H
#define BZ_CODEC_DIGEST_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "base/str.h"

#define BZ_DIGEST_LEN 32
#define BZ_DIGEST_HEX_LEN 64 /* without the terminator */

struct bz_digest {
    uint8_t b[BZ_DIGEST_LEN];
};

struct bz_digest_hasher;

/* BZ_E_NOSUP if libcrypto has no SHA-256. The caller frees
 * *out. */
int bz_digest_hasher_new(struct bz_digest_hasher **out,
                         struct bz_err *err) BZ_NONNULL BZ_MUST_CHECK;
void bz_digest_hasher_free(struct bz_digest_hasher *h); /* NULL is fine */
static inline void bz_digest_hasher_freep(struct bz_digest_hasher **h)
{
    bz_digest_hasher_free(*h);
}

/* One message at a time: begin, any number of adds, end. A begin drops an unfinished
 * message. p may be NULL when n is 0. */
void bz_digest_begin(struct bz_digest_hasher *h) BZ_NONNULL;
void bz_digest_add(struct bz_digest_hasher *h, const void *p, size_t n);
void bz_digest_end(struct bz_digest_hasher *h, struct bz_digest *out) BZ_NONNULL;

/* Adds one byte of tag, n as 64 bits little-endian, then the n bytes. A message made of
 * such fields alone can be read in only one way: no two different lists of fields hash
 * the same bytes. */
void bz_digest_add_field(struct bz_digest_hasher *h, uint8_t tag, const void *p,
                         size_t n);

/* Whole messages; these begin and end by themselves. */
void bz_digest_bytes(struct bz_digest_hasher *h, const void *p, size_t n,
                     struct bz_digest *out);

/* From the file offset of fd to its end; *size is the number of bytes hashed. fd stays
 * open, at the end. */
int bz_digest_fd(struct bz_digest_hasher *h, int fd, struct bz_digest *out,
                 uint64_t *size, struct bz_err *err) BZ_NONNULL BZ_MUST_CHECK;

/* The regular file at `path`, which is relative to the directory `dirfd` or to the
 * working directory with AT_FDCWD. BZ_E_NOENT if absent; BZ_E_INVAL for anything but a
 * regular file, without waiting for the other end of a pipe. */
int bz_digest_file(struct bz_digest_hasher *h, int dirfd, const char *path,
                   struct bz_digest *out, uint64_t *size,
                   struct bz_err *err) BZ_NONNULL BZ_MUST_CHECK;

/* Writes the text form, terminated. */
void bz_digest_hex(const struct bz_digest *d,
                   char out[BZ_DIGEST_HEX_LEN + 1]) BZ_NONNULL;

/* Reads the text form: exactly 64 lower-case digits, else BZ_E_INVAL and *out is
 * unchanged. */
int bz_digest_parse(struct bz_str hex, struct bz_digest *out,
                    struct bz_err *err) BZ_NONNULL BZ_MUST_CHECK;

/* The order of the bytes, which is also the order of the text forms. */
static inline int bz_digest_cmp(const struct bz_digest *a, const struct bz_digest *b)
{
    return memcmp(a->b, b->b, sizeof(a->b));
}

static inline bool bz_digest_eq(const struct bz_digest *a, const struct bz_digest *b)
{
    return bz_digest_cmp(a, b) == 0;
}

/* True of `= {0}`, which no known message hashes to and which stands for "none". */
static inline bool bz_digest_is_zero(const struct bz_digest *d)
{
    return bz_digest_eq(d, &(const struct bz_digest){{0}});
}

#endif
