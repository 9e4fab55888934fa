/* buf.h - a growing byte buffer, with a hard limit if it has one.
 *
 *   1. Once data is not NULL, data[len] is '\0'. The bytes before it may be any.
 *   2. len never exceeds limit, if limit is not 0.
 *   3. A call that fails leaves the buffer as it was.
 *
 * There are two families. For a buffer without a limit use bz_buf_add...: they cannot
 * fail, so there is nothing to check; calling them on a buffer with a limit is a bug
 * and asserts. When input decides the size, set a limit and use bz_buf_try_...: they
 * fail with BZ_E_LIMIT, also when memory is out. Growth doubles, so n bytes cost O(n)
 * however they are added.
 *
 * A buffer belongs to one thread at a time. What is added must not lie in the buffer
 * itself, since growing moves it.
 */
#ifndef BZ_BASE_BUF_H
#define BZ_BASE_BUF_H

#include <stdarg.h>

#include "base/err.h"
#include "base/str.h"

struct bz_buf {
    char *data; /* NULL until something is added or reserved */
    size_t len;
    size_t cap;   /* bytes allocated at data, the terminator included */
    size_t limit; /* the largest len allowed; 0 if any is */
};

void bz_buf_add(struct bz_buf *b, const void *p, size_t n);
void bz_buf_add_str(struct bz_buf *b, struct bz_str s);
/* The text as one word for a shell. */
void bz_buf_add_quoted(struct bz_buf *b, struct bz_str word);
void bz_buf_add_char(struct bz_buf *b, char c);
void bz_buf_addf(struct bz_buf *b, const char *fmt, ...) BZ_PRINTF(2, 3);
void bz_buf_addv(struct bz_buf *b, const char *fmt, va_list ap) BZ_PRINTF(2, 0);

int bz_buf_try_add(struct bz_buf *b, const void *p, size_t n,
                   struct bz_err *err) BZ_MUST_CHECK;
int bz_buf_try_add_str(struct bz_buf *b, struct bz_str s,
                       struct bz_err *err) BZ_MUST_CHECK;
int bz_buf_try_add_char(struct bz_buf *b, char c, struct bz_err *err) BZ_MUST_CHECK;
int bz_buf_try_addf(struct bz_buf *b, struct bz_err *err, const char *fmt,
                    ...) BZ_MUST_CHECK BZ_PRINTF(3, 4);

/* Room for n more bytes, to be filled directly, as by read(2). They become part of the
 * buffer with bz_buf_commit(b, m), m <= n, before any other call adds to it. */
char *bz_buf_reserve(struct bz_buf *b, size_t n);
void bz_buf_commit(struct bz_buf *b, size_t n);

/* Cuts the end off, keeping the memory. len <= b->len. */
void bz_buf_truncate(struct bz_buf *b, size_t len);

/* Frees the contents; the buffer is empty, keeps its limit and may be used again. */
void bz_buf_release(struct bz_buf *b);

/* Gives the bytes, terminated and never NULL, to the caller, who frees them. The
 * buffer is as after bz_buf_release. */
char *bz_buf_detach(struct bz_buf *b) BZ_MUST_CHECK;

/* The contents, valid until the buffer changes: as a slice, and as a C string, which
 * is never NULL. */
static inline struct bz_str bz_buf_str(const struct bz_buf *b)
{
    return bz_str_of(b->data, b->len);
}

static inline const char *bz_buf_text(const struct bz_buf *b)
{
    return b->data ? b->data : "";
}

#endif
