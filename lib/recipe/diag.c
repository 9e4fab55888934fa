#include "recipe/diag.h"

#include <stdarg.h>
#include <stdio.h>

enum {
    MESSAGE_MAX = 320, /* bytes, the terminator included */
    SOURCE_MAX = 160,  /* bytes of the source line that are kept */
    SOURCE_LEFT = 100, /* of these, how many may stand before the column */
};

static bool continues_char(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* The last place at or before `at` where a character begins. */
static size_t char_start(struct bz_str s, size_t at)
{
    while (at > 0 && at < s.n && continues_char(s.p[at]))
        at--;
    return at;
}

static uint32_t count_chars(struct bz_str s)
{
    uint32_t n = 0;

    for (size_t i = 0; i < s.n; i++)
        n += !continues_char(s.p[i]);
    return n;
}

static void keep_source(struct bz_diag *d, struct bz_arena *arena,
                        const struct bz_diag_place *place)
{
    size_t from = 0, to = place->source.n;

    if (to > SOURCE_MAX && place->offset > SOURCE_LEFT)
        from = char_start(place->source, place->offset - SOURCE_LEFT);
    if (to - from > SOURCE_MAX)
        to = char_start(place->source, from + SOURCE_MAX);
    d->source = bz_arena_dup(arena, bz_str_sub(place->source, from, to));
    d->caret = count_chars(bz_str_sub(place->source, from, place->offset));
}

static const char *keep_message(struct bz_arena *arena, const char *fmt, va_list ap)
    BZ_PRINTF(2, 0);
static const char *keep_message(struct bz_arena *arena, const char *fmt, va_list ap)
{
    char text[MESSAGE_MAX];
    struct bz_str s = {text, 0};
    int n = vsnprintf(text, sizeof(text), fmt, ap);

    BZ_ASSERT(n >= 0);
    s.n = (size_t)n;
    if (s.n < sizeof(text))
        return bz_arena_dup(arena, s).p;
    s.n = sizeof(text) - 1;
    return bz_arena_printf(arena, "%.*s...", (int)char_start(s, s.n - 4), text).p;
}

void bz_diag_add(struct bz_diag_list *list, enum bz_diag_severity severity,
                 const struct bz_diag_place *place, const char *expected,
                 const char *fmt, ...)
{
    size_t *found = severity == BZ_DIAG_ERROR ? &list->errors : &list->warnings;
    struct bz_diag *d;
    va_list ap;

    BZ_ASSERT(place->offset <= place->source.n);
    if ((*found)++ >= BZ_DIAG_KEEP)
        return;
    d = BZ_ARENA_NEW(list->arena, struct bz_diag);
    d->severity = severity;
    d->path = place->path;
    d->line = place->line;
    d->column = 1 + count_chars(bz_str_sub(place->source, 0, place->offset));
    d->expected = expected;
    va_start(ap, fmt);
    d->message = keep_message(list->arena, fmt, ap);
    va_end(ap);
    keep_source(d, list->arena, place);
    if (list->last)
        list->last->next = d;
    else
        list->first = d;
    list->last = d;
}

/* One column for each character. The controls above ASCII, U+0080 to U+009F, steer
 * some terminals as well as those below it. */
static void add_visible(struct bz_buf *out, struct bz_str s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (c == 0xc2 && i + 1 < s.n && (unsigned char)s.p[i + 1] < 0xa0) {
            bz_buf_add_char(out, '?');
            i++;
        } else if (c == '\t') {
            bz_buf_add_char(out, ' ');
        } else if (c < 0x20 || c == 0x7f) {
            bz_buf_add_char(out, '?');
        } else {
            bz_buf_add_char(out, s.p[i]);
        }
    }
}

static const char *const severities[] = {
    [BZ_DIAG_WARNING] = "warning",
    [BZ_DIAG_ERROR] = "error",
    [BZ_DIAG_NOTE] = "note",
};

void bz_diag_format(const struct bz_diag *d, struct bz_buf *out)
{
    add_visible(out, bz_str_from(d->path));
    bz_buf_addf(out, ":%u:%u: %s: ", d->line, d->column, severities[d->severity]);
    add_visible(out, bz_str_from(d->message));
    bz_buf_add_str(out, BZ_STR("\n  "));
    add_visible(out, d->source);
    bz_buf_addf(out, "\n  %*s^", (int)d->caret, "");
    if (d->expected)
        bz_buf_addf(out, " expected %s", d->expected);
    bz_buf_add_char(out, '\n');
}
