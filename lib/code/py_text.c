#include "code/py_text.h"

#include "code/py_letter.h"

struct reader {
    const char *p, *end;
    char *to;
    bool bytes;
    bool named; /* there was a character by its name */
    struct bz_err *err;
};

static int hex_value(char c)
{
    if (bz_py_letter_is_digit(c))
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static char *put(char *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
        return to;
    }
    if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
    } else {
        if (c < 0x10000) {
            *to++ = (char)(0xe0 | c >> 12);
        } else {
            *to++ = (char)(0xf0 | c >> 18);
            *to++ = (char)(0x80 | (c >> 12 & 0x3f));
        }
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
    }
    *to++ = (char)(0x80 | (c & 0x3f));
    return to;
}

static int truncated(struct reader *r)
{
    return bz_fail(r->err, BZ_E_INVAL, "an escape in the string is cut short");
}

static int read_hex(struct reader *r, int digits)
{
    uint32_t value = 0;

    for (; digits > 0; digits--) {
        int d = r->p < r->end ? hex_value(*r->p) : -1;

        if (d < 0)
            return truncated(r);
        value = value << 4 | (uint32_t)d;
        r->p++;
    }
    if (value > 0x10ffff)
        return bz_fail(r->err, BZ_E_INVAL, "there is no such Unicode character");
    if (r->bytes)
        *r->to++ = (char)value;
    else
        r->to = put(r->to, value);
    return 0;
}

static void read_octal(struct reader *r)
{
    uint32_t value = 0;
    int i;

    for (i = 0; i < 3 && r->p < r->end && *r->p >= '0' && *r->p <= '7'; i++)
        value = value << 3 | (uint32_t)(*r->p++ - '0');
    if (r->bytes)
        *r->to++ = (char)value;
    else
        r->to = put(r->to, value);
}

static int read_named(struct reader *r)
{
    const char *end = r->p < r->end && *r->p == '{'
                          ? memchr(r->p, '}', (size_t)(r->end - r->p))
                          : NULL;

    if (!end || end == r->p + 1)
        return truncated(r);
    r->p = end + 1;
    r->named = true;
    return 0;
}

/* One escape, at the character behind the backslash. An unknown one is kept. */
static int unescape(struct reader *r)
{
    static const char from[] = "abfnrtv\\'\"";
    static const char to[] = "\a\b\f\n\r\t\v\\'\"";
    char c = *r->p;
    const char *at = c ? strchr(from, c) : NULL;

    if (at || c == '\n') {
        r->p++;
        if (at)
            *r->to++ = to[at - from];
        return 0;
    }
    if (c >= '0' && c <= '7') {
        read_octal(r);
        return 0;
    }
    if (c == 'x' || (!r->bytes && (c == 'u' || c == 'U'))) {
        r->p++;
        return read_hex(r, c == 'x' ? 2 : c == 'u' ? 4 : 8);
    }
    if (!r->bytes && c == 'N') {
        r->p++;
        return read_named(r);
    }
    *r->to++ = '\\';
    return 0;
}

static bool is_ascii(struct bz_str s)
{
    size_t i;

    for (i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] >= 0x80)
            return false;
    return true;
}

int bz_py_text_value(struct bz_py_quote q, struct bz_str body, struct bz_arena *arena,
                     struct bz_str *out, bool *known, struct bz_err *err)
{
    struct reader r = {
        .p = body.p, .end = body.p + body.n, .bytes = q.bytes, .err = err};
    char *text;

    *known = true;
    *out = body;
    if (q.bytes && !is_ascii(body))
        return bz_fail(err, BZ_E_INVAL,
                       "bytes can only contain ASCII literal characters");
    if (q.raw || body.n == 0 || !memchr(body.p, '\\', body.n))
        return 0;
    text = r.to = bz_arena_alloc(arena, body.n, 1); /* no escape grows */
    while (r.p < r.end) {
        int rc;

        if (*r.p != '\\' || r.p + 1 == r.end) {
            *r.to++ = *r.p++;
            continue;
        }
        r.p++;
        rc = unescape(&r);
        if (rc < 0)
            return rc;
    }
    *out = bz_str_of(text, (size_t)(r.to - text));
    *known = !r.named;
    return 0;
}
