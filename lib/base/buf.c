#include "base/buf.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* The least that is worth a call to realloc. */
#define BUF_FIRST 64

/* What to allocate for n more bytes and the terminator. The caller has checked the
 * limit. */
static size_t cap_for(const struct bz_buf *b, size_t n)
{
    size_t need, cap;

    if (__builtin_add_overflow(b->len, n, &need) ||
        __builtin_add_overflow(need, 1, &need))
        return SIZE_MAX; /* which no allocator has */
    cap = b->cap > SIZE_MAX / 2 ? need : b->cap * 2;
    if (cap < BUF_FIRST)
        cap = BUF_FIRST;
    /* Doubling beyond the limit would only waste; need is within it already. */
    if (b->limit && cap - 1 > b->limit)
        cap = b->limit + 1;
    return cap < need ? need : cap;
}

static void take_memory(struct bz_buf *b, char *data, size_t cap)
{
    b->data = data;
    b->cap = cap;
    b->data[b->len] = '\0';
}

static BZ_NOINLINE void grow(struct bz_buf *b, size_t n)
{
    size_t cap = cap_for(b, n);

    take_memory(b, bz_mem_resize(b->data, cap, 1), cap);
}

static inline void need_room(struct bz_buf *b, size_t n)
{
    if (BZ_UNLIKELY(n >= b->cap - b->len)) /* the terminator takes one */
        grow(b, n);
}

static BZ_NOINLINE int try_grow(struct bz_buf *b, size_t n, struct bz_err *err)
{
    size_t cap = cap_for(b, n);
    char *data = realloc(b->data, cap);

    if (!data)
        return bz_fail(err, BZ_E_LIMIT, "no memory for %zu bytes and %zu more", b->len,
                       n);
    take_memory(b, data, cap);
    return 0;
}

static inline int try_room(struct bz_buf *b, size_t n, struct bz_err *err)
{
    return BZ_UNLIKELY(n >= b->cap - b->len) ? try_grow(b, n, err) : 0;
}

static inline void append(struct bz_buf *b, const void *p, size_t n)
{
    need_room(b, n);
    if (n)
        memcpy(b->data + b->len, p, n);
    b->len += n;
    b->data[b->len] = '\0';
}

static bool within_limit(const struct bz_buf *b, size_t n)
{
    return !b->limit || (b->len <= b->limit && n <= b->limit - b->len);
}

static int over_limit(const struct bz_buf *b, size_t n, struct bz_err *err)
{
    return bz_fail(err, BZ_E_LIMIT, "%zu bytes and %zu more exceed the limit of %zu",
                   b->len, n, b->limit);
}

void bz_buf_add(struct bz_buf *b, const void *p, size_t n)
{
    BZ_ASSERT(!b->limit);
    append(b, p, n);
}

void bz_buf_add_str(struct bz_buf *b, struct bz_str s)
{
    bz_buf_add(b, s.p, s.n);
}

void bz_buf_add_char(struct bz_buf *b, char c)
{
    bz_buf_add(b, &c, 1);
}

void bz_buf_add_quoted(struct bz_buf *b, struct bz_str word)
{
    bz_buf_add_char(b, '\'');
    for (size_t i = 0; i < word.n; i++) {
        if (word.p[i] == '\'')
            bz_buf_add_str(b, BZ_STR("'\\''"));
        else
            bz_buf_add_char(b, word.p[i]);
    }
    bz_buf_add_char(b, '\'');
}

void bz_buf_addf(struct bz_buf *b, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    bz_buf_addv(b, fmt, ap);
    va_end(ap);
}

/* Formats into the room there is and reports how many bytes there should be. */
static BZ_PRINTF(2, 0) size_t format(struct bz_buf *b, const char *fmt, va_list ap)
{
    int n = vsnprintf(b->data + b->len, b->cap - b->len, fmt, ap);

    BZ_ASSERT(n >= 0); /* it fails only for a bad format or above INT_MAX */
    return (size_t)n;
}

void bz_buf_addv(struct bz_buf *b, const char *fmt, va_list ap)
{
    va_list again;
    size_t n;

    BZ_ASSERT(!b->limit);
    va_copy(again, ap);
    need_room(b, 0);
    n = format(b, fmt, ap);
    if (n >= b->cap - b->len) {
        need_room(b, n);
        format(b, fmt, again);
    }
    b->len += n;
    va_end(again);
}

int bz_buf_try_add(struct bz_buf *b, const void *p, size_t n, struct bz_err *err)
{
    int rc;

    if (!within_limit(b, n))
        return over_limit(b, n, err);
    rc = try_room(b, n, err);
    if (rc == 0)
        append(b, p, n);
    return rc;
}

int bz_buf_try_add_str(struct bz_buf *b, struct bz_str s, struct bz_err *err)
{
    return bz_buf_try_add(b, s.p, s.n, err);
}

int bz_buf_try_add_char(struct bz_buf *b, char c, struct bz_err *err)
{
    return bz_buf_try_add(b, &c, 1, err);
}

int bz_buf_try_addf(struct bz_buf *b, struct bz_err *err, const char *fmt, ...)
{
    va_list ap;
    size_t n;

    need_room(b, 0);
    va_start(ap, fmt);
    n = format(b, fmt, ap);
    va_end(ap);
    if (!within_limit(b, n)) {
        b->data[b->len] = '\0';
        return over_limit(b, n, err);
    }
    if (n >= b->cap - b->len) {
        if (try_room(b, n, err) < 0) {
            b->data[b->len] = '\0';
            return err->code;
        }
        va_start(ap, fmt);
        format(b, fmt, ap);
        va_end(ap);
    }
    b->len += n;
    return 0;
}

char *bz_buf_reserve(struct bz_buf *b, size_t n)
{
    BZ_ASSERT(!b->limit);
    need_room(b, n);
    return b->data + b->len;
}

void bz_buf_commit(struct bz_buf *b, size_t n)
{
    BZ_ASSERT(n < b->cap - b->len && within_limit(b, n));
    b->len += n;
    b->data[b->len] = '\0';
}

void bz_buf_truncate(struct bz_buf *b, size_t len)
{
    BZ_ASSERT(len <= b->len);
    if (!b->data)
        return;
    b->len = len;
    b->data[len] = '\0';
}

void bz_buf_release(struct bz_buf *b)
{
    free(b->data);
    *b = (struct bz_buf){.limit = b->limit};
}

char *bz_buf_detach(struct bz_buf *b)
{
    char *data;

    need_room(b, 0);
    data = b->data;
    *b = (struct bz_buf){.limit = b->limit};
    return data;
}
