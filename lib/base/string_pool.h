/* string_pool.h - strings in a file, each one once.
 *
 * A writer adds strings and gets references to them; equal strings have equal
 * references. The pool is then written as one block of bytes. A reader resolves
 * references in place: a string it gets points into the block and is followed by a
 * NUL byte.
 *
 * Format: the magic, then per string its length as a varint, its bytes and a NUL. A
 * reference is the offset of the length. Reference 0 is the NULL string. The format
 * does not depend on the byte order of the machine.
 *
 * The bytes of a block are not trusted: resolving a reference checks all bounds.
 */
#ifndef BZ_BASE_STRING_POOL_H
#define BZ_BASE_STRING_POOL_H

#include <endian.h>

#include "base/buf.h"

#define BZ_STRING_POOL_MAGIC                                                           \
    "bzpool1\n" /* 8 bytes; the digit is the format version                            \
                 */

enum { BZ_STRING_POOL_RECENT = 512, BZ_STRING_POOL_RARE = 4096 }; /* powers of two */

struct bz_string_pool_slot {
    uint32_t tag; /* of the hash */
    uint32_t ref; /* 0: the slot is free */
};

/* The writer. {0} is an empty pool. One thread at a time. */
struct bz_string_pool {
    struct bz_buf block;               /* as it will be written */
    struct bz_string_pool_slot *slots; /* hash table with linear probing */
    uint32_t nslots;                   /* a power of two, or 0 */
    uint32_t n;                        /* strings */
    bool full;                         /* a string did not fit into 4 GiB */
    struct {
        uint64_t a, b; /* all of its bytes */
        uint32_t n, ref;
    } recent[BZ_STRING_POOL_RECENT]; /* short strings, found without hashing */
    struct bz_string_pool_slot rare[BZ_STRING_POOL_RARE];
};

/* The reference of a string, which is copied. */
uint32_t bz_string_pool_add(struct bz_string_pool *pool, struct bz_str s);

/* The same for strings that have references to others. With `rare` it is one that
 * cannot be there, unless it was added a moment ago: it has a reference that is new.
 * Such strings are many, so they are remembered for a while only; one that comes again
 * later is added again. */
uint32_t bz_string_pool_add_refs(struct bz_string_pool *pool, struct bz_str s,
                                 bool rare);

/* The block, valid until a string is added; empty if there is no string. */
static inline struct bz_str bz_string_pool_block(const struct bz_string_pool *pool)
{
    return bz_buf_str(&pool->block);
}

/* Appends the block to `out`. BZ_E_LIMIT if the strings do not fit into 4 GiB. */
int bz_string_pool_write(const struct bz_string_pool *pool, struct bz_buf *out,
                         struct bz_err *err) BZ_MUST_CHECK;
void bz_string_pool_release(struct bz_string_pool *pool);

/* BZ_E_CORRUPT unless the bytes begin as a block of this format version does. */
int bz_string_pool_check(struct bz_str block, struct bz_err *err) BZ_MUST_CHECK;

/* ---- varints: 7 bits per byte, the lowest first ---- */

void bz_string_pool_put(struct bz_buf *out, uint64_t number);

/* Reads numbers from a range of bytes. Past the end, and for a number of more than 64
 * bits, `bad` is set and the number is 0. */
struct bz_string_pool_cursor {
    const unsigned char *at, *end;
    bool bad;
};

uint64_t bz_string_pool_take_long(struct bz_string_pool_cursor *c);

static inline uint64_t bz_string_pool_take(struct bz_string_pool_cursor *c)
{
    if (BZ_LIKELY(c->at < c->end && *c->at < 0x80))
        return *c->at++;
    return bz_string_pool_take_long(c);
}

static inline struct bz_string_pool_cursor bz_string_pool_cursor(struct bz_str bytes)
{
    const unsigned char *p = (const unsigned char *)bytes.p;

    return (struct bz_string_pool_cursor){.at = p, .end = p ? p + bytes.n : p};
}

/* A number below 2^32 in four bytes, the lowest first: quicker to read. */
static inline void bz_string_pool_store32(unsigned char *to, uint32_t number)
{
    number = htole32(number);
    memcpy(to, &number, sizeof(number));
}

static inline uint32_t bz_string_pool_load32(const unsigned char *from)
{
    uint32_t number;

    memcpy(&number, from, sizeof(number));
    return le32toh(number);
}

static inline uint32_t bz_string_pool_take32(struct bz_string_pool_cursor *c)
{
    uint32_t number;

    if (BZ_UNLIKELY((size_t)(c->end - c->at) < sizeof(number))) {
        c->bad = true;
        c->at = c->end;
        return 0;
    }
    number = bz_string_pool_load32(c->at);
    c->at += sizeof(number);
    return number;
}

/* The string of a reference. False if the reference leads out of the block. */
bool bz_string_pool_get_long(struct bz_str block, uint64_t ref, struct bz_str *out);

static inline bool bz_string_pool_get(struct bz_str block, uint64_t ref,
                                      struct bz_str *out)
{
    const char *at;
    size_t n;

    if (BZ_UNLIKELY(ref == 0 || ref >= block.n))
        return bz_string_pool_get_long(block, ref, out);
    at = block.p + ref;
    n = (unsigned char)*at;
    if (BZ_UNLIKELY(n >= 0x80))
        return bz_string_pool_get_long(block, ref, out);
    *out = bz_str_of(at + 1, n);
    return n + 1 < block.n - ref && at[n + 1] == '\0';
}

#endif
