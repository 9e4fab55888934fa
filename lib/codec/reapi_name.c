#include "codec/reapi_name.h"

#include "codec/utf8.h"

bool bz_reapi_name_target_ok(struct bz_str raw)
{
    return raw.n > 0 && raw.n <= BZ_REAPI_TARGET_MAX &&
           bz_str_find_byte(raw, '\0') == BZ_STR_NONE;
}

bool bz_reapi_name_ok(struct bz_str raw)
{
    return bz_reapi_name_target_ok(raw) && raw.n <= BZ_REAPI_NAME_MAX &&
           bz_str_find_byte(raw, '/') == BZ_STR_NONE && !bz_str_eq(raw, BZ_STR(".")) &&
           !bz_str_eq(raw, BZ_STR(".."));
}

/* How many bytes at p stay as they are: a character, or 0 if the byte is escaped. */
static size_t kept(const char *p, size_t n)
{
    return *p == '%' ? 0 : bz_utf8_len(p, n);
}

struct bz_str bz_reapi_name_escape(struct bz_arena *a, struct bz_str raw)
{
    static const char digits[] = "0123456789ABCDEF";
    char *text = bz_arena_alloc(a, 3 * raw.n + 1, 1);
    size_t n = 0;

    for (size_t i = 0; i < raw.n;) {
        size_t len = kept(raw.p + i, raw.n - i);
        uint8_t byte = (uint8_t)raw.p[i];

        if (len > 0) {
            memcpy(text + n, raw.p + i, len);
            n += len;
            i += len;
        } else {
            text[n++] = '%';
            text[n++] = digits[byte >> 4];
            text[n++] = digits[byte & 15];
            i++;
        }
    }
    text[n] = '\0';
    return bz_str_of(text, n);
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int bz_reapi_name_unescape(struct bz_arena *a, struct bz_str text, struct bz_str *raw,
                           struct bz_err *err)
{
    struct bz_arena_mark mark;
    char *out = bz_arena_alloc(a, text.n + 1, 1);
    size_t n = 0;
    bool same;

    for (size_t i = 0; i < text.n; i++) {
        int hi, lo;

        if (text.p[i] != '%') {
            out[n++] = text.p[i];
            continue;
        }
        hi = i + 2 < text.n ? digit(text.p[i + 1]) : -1;
        lo = hi >= 0 ? digit(text.p[i + 2]) : -1;
        if (lo < 0)
            return bz_fail(err, BZ_E_INVAL, "'%%' without two digits in a name");
        out[n++] = (char)(hi << 4 | lo);
        i += 2;
    }
    out[n] = '\0';
    *raw = bz_str_of(out, n);
    /* "%41" and "A" would be two texts for one name. */
    mark = bz_arena_mark(a);
    same = bz_str_eq(bz_reapi_name_escape(a, *raw), text);
    bz_arena_rewind(a, mark);
    return same ? 0
                : bz_fail(err, BZ_E_INVAL, "a byte of a name is escaped for nothing");
}
