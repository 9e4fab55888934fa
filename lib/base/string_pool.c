#include "base/string_pool.h"

enum {
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

static size_t varint_size(uint64_t number)
{
    size_t n = 1;

    while (number >>= 7)
        n++;
    return n;
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

/* Assigns references to the symbols that have none yet. */
static void assign(struct bz_string_pool *pool)
{
    for (size_t i = pool->refs.len; i < bz_intern_count(&pool->strings); i++) {
        struct bz_str s = bz_intern_str(&pool->strings, (struct bz_sym){(uint32_t)i});

        BZ_VEC_PUSH(&pool->refs, (uint32_t)(MAGIC + pool->size));
        pool->size += varint_size(s.n) + s.n + 1;
    }
    if (MAGIC + pool->size > UINT32_MAX)
        pool->full = true;
}

static uint32_t add(struct bz_string_pool *pool, struct bz_str s)
{
    struct bz_sym sym = bz_intern_add(&pool->strings, s);

    if (sym.i >= pool->refs.len)
        assign(pool);
    return pool->refs.at[sym.i];
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
        return add(pool, s);
    words_of(s, &a, &b);
    mixed = (a ^ b << 7 ^ s.n) * MIX;
    i = (mixed >> 40) % BZ_STRING_POOL_RECENT;
    if (pool->recent[i].ref == 0 || pool->recent[i].a != a || pool->recent[i].b != b ||
        pool->recent[i].n != s.n) {
        pool->recent[i].a = a;
        pool->recent[i].b = b;
        pool->recent[i].n = (uint32_t)s.n;
        pool->recent[i].ref = add(pool, s);
    }
    return pool->recent[i].ref;
}

int bz_string_pool_write(const struct bz_string_pool *pool, struct bz_buf *out,
                         struct bz_err *err)
{
    if (pool->full)
        return bz_fail(err, BZ_E_LIMIT, "the string pool exceeds 4 GiB");
    bz_buf_reserve(out, MAGIC + pool->size);
    bz_buf_commit(out, 0);
    bz_buf_add(out, BZ_STRING_POOL_MAGIC, MAGIC);
    for (size_t i = 0; i < pool->refs.len; i++) {
        struct bz_str s = bz_intern_str(&pool->strings, (struct bz_sym){(uint32_t)i});

        bz_string_pool_put(out, s.n);
        bz_buf_add_str(out, s);
        bz_buf_add_char(out, '\0');
    }
    return 0;
}

void bz_string_pool_release(struct bz_string_pool *pool)
{
    bz_intern_release(&pool->strings);
    bz_vec_release(&pool->refs);
    *pool = (struct bz_string_pool){0};
}

int bz_string_pool_check(struct bz_str block, struct bz_err *err)
{
    if (!bz_str_starts(block, BZ_STR(BZ_STRING_POOL_MAGIC)))
        return bz_fail(err, BZ_E_CORRUPT,
                       "the string pool has no format that this program reads");
    return 0;
}
