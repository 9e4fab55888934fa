#include "base/string_pool.h"

#include <stdlib.h>

#include "base/mem.h"

enum {
    SLOTS_FIRST = 256,
    HEAD_MAX = 10, /* bytes of a length */
    MAGIC = sizeof(BZ_STRING_POOL_MAGIC) - 1,
    LAST_SHIFT = 63, /* the tenth byte of a number has one bit */
    SHORT = 16,
};

#define MIX UINT64_C(0x9e3779b97f4a7c15)

void bz_string_pool_put(struct bz_buf *out, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        bz_buf_add_char(out, (char)(0x80 | (number & 0x7f)));
    bz_buf_add_char(out, (char)number);
}

uint64_t bz_string_pool_take_long(struct bz_string_pool_cursor *c)
{
    uint64_t number = 0;

    for (unsigned shift = 0; c->at < c->end && shift <= LAST_SHIFT; shift += 7) {
        unsigned char byte = *c->at++;

        if (shift == LAST_SHIFT && byte > 1)
            break;
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return number;
    }
    c->bad = true;
    c->at = c->end;
    return 0;
}

bool bz_string_pool_get_long(struct bz_str block, uint64_t ref, struct bz_str *out)
{
    struct bz_string_pool_cursor c;
    uint64_t n;

    *out = (struct bz_str){0};
    if (ref == 0)
        return true;
    if (ref >= block.n)
        return false;
    c = bz_string_pool_cursor(bz_str_drop(block, ref));
    n = bz_string_pool_take(&c);
    if (c.bad || n >= (uint64_t)(c.end - c.at) || c.at[n] != '\0')
        return false;
    *out = bz_str_of((const char *)c.at, n);
    return true;
}

static void insert(struct bz_string_pool_slot *slots, uint32_t nslots,
                   struct bz_string_pool_slot slot)
{
    uint32_t i = slot.tag & (nslots - 1);

    while (slots[i].ref > 0)
        i = (i + 1) & (nslots - 1);
    slots[i] = slot;
}

static void grow(struct bz_string_pool *pool)
{
    uint32_t nslots = pool->nslots > 0 ? pool->nslots * 2 : SLOTS_FIRST;
    struct bz_string_pool_slot *slots = bz_mem_array(nslots, sizeof(slots[0]));

    for (uint32_t i = 0; i < pool->nslots; i++)
        if (pool->slots[i].ref > 0)
            insert(slots, nslots, pool->slots[i]);
    free(pool->slots);
    pool->slots = slots;
    pool->nslots = nslots;
}

/* Appends a string to the block. */
static uint32_t append(struct bz_string_pool *pool, struct bz_str s)
{
    uint32_t ref;
    size_t n = s.n;
    char *to;

    if (pool->block.len == 0)
        bz_buf_add(&pool->block, BZ_STRING_POOL_MAGIC, MAGIC);
    if (pool->block.len + HEAD_MAX + s.n + 1 > UINT32_MAX) {
        pool->full = true;
        return 0;
    }
    ref = (uint32_t)pool->block.len;
    to = bz_buf_reserve(&pool->block, HEAD_MAX + s.n + 1);
    for (; n >= 0x80; n >>= 7)
        *to++ = (char)(0x80 | (n & 0x7f));
    *to++ = (char)n;
    if (s.n > 0)
        memcpy(to, s.p, s.n);
    to[s.n] = '\0';
    bz_buf_commit(&pool->block, (size_t)(to + s.n + 1 - pool->block.data) - ref);
    return ref;
}

static bool is_at(const struct bz_string_pool *pool, uint32_t ref, struct bz_str s)
{
    struct bz_str there;

    return bz_string_pool_get(bz_buf_str(&pool->block), ref, &there) &&
           bz_str_eq(there, s);
}

static uint32_t add(struct bz_string_pool *pool, struct bz_str s, uint32_t tag)
{
    uint32_t i;

    if (pool->n >= pool->nslots / 8 * 5)
        grow(pool);
    for (i = tag & (pool->nslots - 1); pool->slots[i].ref > 0;
         i = (i + 1) & (pool->nslots - 1))
        if (pool->slots[i].tag == tag && is_at(pool, pool->slots[i].ref, s))
            return pool->slots[i].ref;
    pool->slots[i] = (struct bz_string_pool_slot){tag, append(pool, s)};
    pool->n += pool->slots[i].ref > 0;
    return pool->slots[i].ref;
}

/* A string of up to 16 bytes as two numbers, which together with its length are the
 * same for no other. */
static void words_of(struct bz_str s, uint64_t *a, uint64_t *b)
{
    uint32_t first, last;

    *a = 0;
    *b = 0;
    if (s.n >= 8) {
        memcpy(a, s.p, 8);
        memcpy(b, s.p + s.n - 8, 8);
    } else if (s.n >= 4) {
        memcpy(&first, s.p, 4);
        memcpy(&last, s.p + s.n - 4, 4);
        *a = first;
        *b = last;
    } else if (s.n > 0) {
        *a = (uint64_t)(unsigned char)s.p[0] << 16 |
             (uint64_t)(unsigned char)s.p[s.n / 2] << 8 | (unsigned char)s.p[s.n - 1];
    }
}

uint32_t bz_string_pool_add(struct bz_string_pool *pool, struct bz_str s)
{
    uint64_t a, b, mixed;
    size_t i;

    if (!s.p || pool->full)
        return 0;
    if (s.n > SHORT)
        return add(pool, s, (uint32_t)bz_str_hash(s));
    words_of(s, &a, &b);
    mixed = (a ^ b << 7 ^ s.n) * MIX;
    i = (mixed >> 40) % BZ_STRING_POOL_RECENT;
    if (pool->recent[i].ref == 0 || pool->recent[i].a != a || pool->recent[i].b != b ||
        pool->recent[i].n != s.n) {
        pool->recent[i].a = a;
        pool->recent[i].b = b;
        pool->recent[i].n = (uint32_t)s.n;
        pool->recent[i].ref = add(pool, s, (uint32_t)bz_str_hash(s));
    }
    return pool->recent[i].ref;
}

uint32_t bz_string_pool_add_refs(struct bz_string_pool *pool, struct bz_str s,
                                 bool rare)
{
    uint32_t tag = (uint32_t)bz_str_hash(s);
    struct bz_string_pool_slot *slot = &pool->rare[tag % BZ_STRING_POOL_RARE];

    if (!s.p || pool->full)
        return 0;
    if (slot->ref > 0 && slot->tag == tag && is_at(pool, slot->ref, s))
        return slot->ref;
    if (!rare)
        return add(pool, s, tag);
    *slot = (struct bz_string_pool_slot){tag, append(pool, s)};
    return slot->ref;
}

int bz_string_pool_write(const struct bz_string_pool *pool, struct bz_buf *out,
                         struct bz_err *err)
{
    if (pool->full)
        return bz_fail(err, BZ_E_LIMIT, "the string pool exceeds 4 GiB");
    if (pool->block.len == 0)
        bz_buf_add(out, BZ_STRING_POOL_MAGIC, MAGIC);
    else
        bz_buf_add_str(out, bz_buf_str(&pool->block));
    return 0;
}

void bz_string_pool_release(struct bz_string_pool *pool)
{
    bz_buf_release(&pool->block);
    free(pool->slots);
    *pool = (struct bz_string_pool){0};
}

int bz_string_pool_check(struct bz_str block, struct bz_err *err)
{
    if (!bz_str_starts(block, BZ_STR(BZ_STRING_POOL_MAGIC)))
        return bz_fail(err, BZ_E_CORRUPT,
                       "the string pool has no format that this program reads");
    return 0;
}
