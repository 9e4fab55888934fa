#include "recipe/lex.h"

#include <string.h>

void bz_lex_init(struct bz_lex *lex, struct bz_arena *arena, struct bz_str text)
{
    /* A line needs no more room than it had, but for the LF that the last may lack. */
    *lex = (struct bz_lex){
        .at = text.n ? text.p : "",
        .out = bz_arena_alloc(arena, text.n + 1, 1),
        .has_cr = bz_str_find_byte(text, '\r') != BZ_STR_NONE,
    };
    lex->end = lex->at + text.n;
}

/* Where the line at lex->at ends, and how many bytes its end has. */
static const char *line_end(const struct bz_lex *lex, size_t *width)
{
    size_t left = (size_t)(lex->end - lex->at);
    const char *p;

    if (BZ_LIKELY(!lex->has_cr)) {
        p = memchr(lex->at, '\n', left);
        *width = p ? 1 : 0;
        return p ? p : lex->end;
    }
    for (p = lex->at; p < lex->end && *p != '\n' && *p != '\r'; p++)
        continue;
    if (p == lex->end)
        *width = 0;
    else
        *width = *p == '\r' && p + 1 < lex->end && p[1] == '\n' ? 2 : 1;
    return p;
}

bool bz_lex_source(struct bz_lex *lex, struct bz_str *line)
{
    const char *end;
    size_t width;

    if (lex->at == lex->end)
        return false;
    end = line_end(lex, &width);
    *line = bz_str_of(lex->at, (size_t)(end - lex->at));
    /* Nearly every line ends in a byte that is plainly not white space. */
    if (line->n && ((unsigned char)end[-1] <= ' ' || (unsigned char)end[-1] >= 0x80))
        *line = bz_str_trim_end(*line);
    lex->at = end + width;
    lex->line++;
    return true;
}

bool bz_lex_line(struct bz_lex *lex, struct bz_str *line)
{
    char *out = lex->out;

    if (!bz_lex_source(lex, line))
        return false;
    memcpy(out, line->p, line->n);
    out[line->n] = '\n';
    line->p = out;
    lex->out = out + line->n + 1;
    return true;
}

bool bz_lex_join(struct bz_lex *lex, struct bz_str *line, struct bz_str *piece)
{
    bool more;

    BZ_ASSERT(line->n > 0 && line->p + line->n + 1 == lex->out);
    lex->out -= 2; /* the backslash and the LF */
    line->n--;
    more = bz_lex_line(lex, piece);
    if (!more) {
        *piece = bz_str_of(lex->out, 0);
        *lex->out++ = '\n';
        lex->line++;
    }
    line->n += piece->n;
    return more;
}

/* The length of the character of more than one byte at p, as RFC 3629 has it; 0 if
 * there is none. The second byte is where overlong forms, surrogates and what lies
 * above U+10FFFF show. */
static size_t wide_len(const unsigned char *p, size_t n)
{
    unsigned char low = 0x80, high = 0xbf;
    size_t len = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;

    if (p[0] < 0xc2 || p[0] > 0xf4 || n < len)
        return 0;
    if (p[0] == 0xe0)
        low = 0xa0;
    else if (p[0] == 0xed)
        high = 0x9f;
    else if (p[0] == 0xf0)
        low = 0x90;
    else if (p[0] == 0xf4)
        high = 0x8f;
    if (p[1] < low || p[1] > high)
        return 0;
    for (size_t i = 2; i < len; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return len;
}

/* Whether none of the 8 bytes at p is NUL or above ASCII. A byte of zero borrows into
 * its top bit; one that is merely below a zero may seem to, which costs a second look
 * and nothing else. */
static bool plain_word(const char *p)
{
    uint64_t w;

    memcpy(&w, p, sizeof(w));
    return ((w | (w - 0x0101010101010101u)) & 0x8080808080808080u) == 0;
}

size_t bz_lex_valid(struct bz_str s)
{
    size_t i = 0, len;

    while (i < s.n) {
        if (s.n - i >= 8 && plain_word(s.p + i)) {
            i += 8;
            continue;
        }
        len = s.p[i] != '\0';
        if ((unsigned char)s.p[i] >= 0x80)
            len = wide_len((const unsigned char *)s.p + i, s.n - i);
        if (len == 0)
            break;
        i += len;
    }
    return i;
}

size_t bz_lex_char(struct bz_str s, uint32_t *c)
{
    const unsigned char *p = (const unsigned char *)s.p;
    size_t len;

    *c = p[0];
    if (p[0] < 0x80)
        return 1;
    len = wide_len(p, s.n);
    BZ_ASSERT(len > 0);
    *c = p[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++)
        *c = *c << 6 | (p[i] & 0x3fu);
    return len;
}

size_t bz_lex_space(struct bz_str s, size_t at)
{
    unsigned char c;
    size_t len;

    if (at >= s.n)
        return 0;
    c = (unsigned char)s.p[at];
    if (BZ_LIKELY(c < 0x80))
        return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f);
    len = wide_len((const unsigned char *)s.p + at, s.n - at);
    return len && bz_str_trim_end(bz_str_sub(s, at, at + len)).n == 0 ? len : 0;
}

size_t bz_lex_space_before(struct bz_str s, size_t at)
{
    size_t start = at;

    if (at == 0)
        return 0;
    do {
        start--;
    } while (start > 0 && at - start < 4 && ((unsigned char)s.p[start] & 0xc0) == 0x80);
    return bz_lex_space(bz_str_sub(s, 0, at), start) == at - start ? at - start : 0;
}

size_t bz_lex_skip(struct bz_str s, size_t at)
{
    size_t n;

    while ((n = bz_lex_space(s, at)) != 0)
        at += n;
    return at;
}
