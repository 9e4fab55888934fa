#include "base/string_pool.h"

enum {
    MAGIC = sizeof(BZ_STRING_POOL_MAGIC) - 1,
    LAST_SHIFT = 63, /* the tenth byte of a number has one bit */
};

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

uint32_t bz_string_pool_add(struct bz_string_pool *pool, struct bz_str s)
{
    struct bz_sym sym;

    if (!s.p || pool->full)
        return 0;
    sym = bz_intern_add(&pool->strings, s);
    if (sym.i >= pool->refs.len)
        assign(pool);
    return pool->refs.at[sym.i];
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
