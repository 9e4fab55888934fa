#include "codec/jsonw.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "codec/utf8.h"

static bool in_map(const struct bz_jsonw *w)
{
    return w->depth > 0 && (w->maps >> (w->depth - 1) & 1);
}

static void new_line(struct bz_jsonw *w)
{
    if (w->indent == 0)
        return;
    bz_buf_add_char(w->out, '\n');
    for (unsigned i = 0; i < w->indent * w->depth; i++)
        bz_buf_add_char(w->out, ' ');
}

/* What goes before a key, an item of a list, or a text. */
static void separate(struct bz_jsonw *w)
{
    if (w->depth == 0)
        return;
    if (w->has_item)
        bz_buf_add_char(w->out, ',');
    new_line(w);
}

static void before_value(struct bz_jsonw *w)
{
    BZ_ASSERT(in_map(w) == w->after_key);
    if (!w->after_key)
        separate(w);
    w->after_key = false;
    w->has_item = true;
}

static void begin(struct bz_jsonw *w, char bracket, bool map)
{
    before_value(w);
    BZ_ASSERT(w->depth < BZ_JSONW_DEPTH);
    bz_buf_add_char(w->out, bracket);
    w->maps = (w->maps & ~(UINT64_C(1) << w->depth)) | (uint64_t)map << w->depth;
    w->depth++;
    w->has_item = false;
}

static void end(struct bz_jsonw *w, char bracket, bool map)
{
    BZ_ASSERT(w->depth > 0 && in_map(w) == map && !w->after_key);
    w->depth--;
    if (w->has_item)
        new_line(w);
    bz_buf_add_char(w->out, bracket);
    w->has_item = true;
}

void bz_jsonw_map(struct bz_jsonw *w)
{
    begin(w, '{', true);
}

void bz_jsonw_map_end(struct bz_jsonw *w)
{
    end(w, '}', true);
}

void bz_jsonw_list(struct bz_jsonw *w)
{
    begin(w, '[', false);
}

void bz_jsonw_list_end(struct bz_jsonw *w)
{
    end(w, ']', false);
}

/* One byte that may not stand in a string as it is. */
static void add_escape(struct bz_buf *out, char c)
{
    static const char letters[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* byte, letter, ... */

    for (size_t i = 0; i + 1 < sizeof(letters); i += 2) {
        if (letters[i] == c) {
            char pair[2] = {'\\', letters[i + 1]};

            bz_buf_add(out, pair, sizeof(pair));
            return;
        }
    }
    bz_buf_addf(out, "\\u%04x", (unsigned)c);
}

static bool is_plain(uint8_t c)
{
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

/* How many bytes at the start of s go out as they are. */
static size_t plain_run(struct bz_str s)
{
    size_t i = 0;

    while (i < s.n) {
        if (is_plain((uint8_t)s.p[i])) {
            i++;
        } else if (s.p[i] & 0x80) {
            size_t len = bz_utf8_len(s.p + i, s.n - i);

            if (len == 0)
                break;
            i += len;
        } else {
            break;
        }
    }
    return i;
}

static void add_quoted(struct bz_buf *out, struct bz_str s)
{
    bz_buf_add_char(out, '"');
    while (s.n > 0) {
        size_t run = plain_run(s);

        bz_buf_add(out, s.p, run);
        s = bz_str_sub(s, run, s.n);
        if (s.n == 0)
            break;
        if (s.p[0] & 0x80)
            bz_buf_add_str(out, BZ_STR("\xef\xbf\xbd"));
        else
            add_escape(out, s.p[0]);
        s = bz_str_sub(s, 1, s.n);
    }
    bz_buf_add_char(out, '"');
}

struct bz_jsonw *bz_jsonw_key_str(struct bz_jsonw *w, struct bz_str key)
{
    BZ_ASSERT(in_map(w) && !w->after_key);
    separate(w);
    add_quoted(w->out, key);
    bz_buf_add_str(w->out, w->indent ? BZ_STR(": ") : BZ_STR(":"));
    w->after_key = true;
    return w;
}

struct bz_jsonw *bz_jsonw_key(struct bz_jsonw *w, const char *key)
{
    return bz_jsonw_key_str(w, bz_str_from(key));
}

void bz_jsonw_str(struct bz_jsonw *w, struct bz_str s)
{
    before_value(w);
    add_quoted(w->out, s);
}

void bz_jsonw_cstr(struct bz_jsonw *w, const char *s)
{
    bz_jsonw_str(w, bz_str_from(s));
}

void bz_jsonw_int(struct bz_jsonw *w, int64_t i)
{
    before_value(w);
    bz_buf_addf(w->out, "%" PRId64, i);
}

void bz_jsonw_uint(struct bz_jsonw *w, uint64_t u)
{
    before_value(w);
    bz_buf_addf(w->out, "%" PRIu64, u);
}

/* The shortest of the texts with 15 to 17 digits that leads back to r; 17 always do. */
static void print_real(double r, char *text, size_t size)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, r);
        if (strtod(text, NULL) == r)
            break;
    }
}

void bz_jsonw_real(struct bz_jsonw *w, double r)
{
    locale_t c, old;
    char text[32];

    if (!isfinite(r)) {
        bz_jsonw_null(w);
        return;
    }
    /* The decimal point must not be that of the user's language. */
    c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    BZ_ASSERT(c != (locale_t)0);
    old = uselocale(c);
    print_real(r, text, sizeof(text));
    uselocale(old);
    freelocale(c);
    before_value(w);
    bz_buf_add_str(w->out, bz_str_from(text));
    if (!strpbrk(text, ".e"))
        bz_buf_add_str(w->out, BZ_STR(".0"));
}

void bz_jsonw_millionths(struct bz_jsonw *w, int64_t i)
{
    uint64_t n = i < 0 ? -(uint64_t)i : (uint64_t)i;
    char text[40];
    size_t end;

    before_value(w);
    end = (size_t)snprintf(text, sizeof(text), "%s%" PRIu64 ".%06" PRIu64,
                           i < 0 ? "-" : "", n / 1000000, n % 1000000);
    while (text[end - 1] == '0' && text[end - 2] != '.')
        end--;
    bz_buf_add(w->out, text, end);
}

void bz_jsonw_bool(struct bz_jsonw *w, bool b)
{
    before_value(w);
    bz_buf_add_str(w->out, b ? BZ_STR("true") : BZ_STR("false"));
}

void bz_jsonw_null(struct bz_jsonw *w)
{
    before_value(w);
    bz_buf_add_str(w->out, BZ_STR("null"));
}
