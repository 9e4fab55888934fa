#include "code/sh_quote.h"

#include <string.h>

static int unclosed(struct bz_err *err, char kind)
{
    return bz_fail(err, BZ_E_INVAL, "%s%c is not closed",
                   kind == '(' || kind == '{' ? "$" : "", kind);
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_';
}

/* Whether a backslash in front of c quotes it, or stands for itself. */
static bool escapes(const struct bz_sh_quote *q, char c)
{
    char kind = '\0';

    if (q->open.len > 0)
        kind = BZ_VEC_LAST(&q->open).kind;
    if (kind == '"')
        return c == '$' || c == '\\' || c == '`' || c == '"';
    if (kind == '`')
        return c == '$' || c == '\\' || c == '`';
    return true;
}

static void open_frame(struct bz_sh_quote *q, char kind)
{
    if (kind == '(' || kind == '{')
        bz_buf_add_char(q->out, '$');
    if (kind != '"' || !q->strip)
        bz_buf_add_char(q->out, kind);
    BZ_VEC_PUSH(&q->open, (struct bz_sh_quote_frame){kind, q->out->len});
}

static void close_frame(struct bz_sh_quote *q, char closer)
{
    struct bz_sh_quote_frame f = BZ_VEC_POP(&q->open);
    bool shown = q->open.len == 0 || (q->open.len == 1 && q->open.at[0].kind == '"');

    if (q->commands && shown && (f.kind == '(' || f.kind == '`'))
        BZ_VEC_PUSH(q->commands, (struct bz_sh_quote_span){f.from, q->out->len});
    if (f.kind != '"' || !q->strip)
        bz_buf_add_char(q->out, closer);
}

/* At a '$': opens a frame, or copies it with the name that follows. */
static int read_dollar(struct bz_sh_quote *q, struct bz_str text, size_t *pos,
                       struct bz_err *err)
{
    size_t at = *pos + 1, end = at;

    if (at == text.n)
        return bz_fail(err, BZ_E_INVAL, "there is nothing after $");
    if (text.p[at] == '(' || text.p[at] == '{') {
        if (text.p[at] == '(' && at + 1 == text.n)
            return unclosed(err, '(');
        if (text.p[at] == '(' && text.p[at + 1] == '(')
            return bz_fail(
                err, BZ_E_NOSUP,
                "$((...)) is not understood, as in BitBake; use $(expr ...)");
        open_frame(q, text.p[at]);
        *pos = at + 1;
        return 0;
    }
    if (text.p[at] != '\0' && strchr("@*#?-$!0", text.p[at]))
        end++;
    else
        while (end < text.n && is_name(text.p[end]))
            end++;
    bz_buf_add(q->out, text.p + *pos, end - *pos);
    *pos = end;
    return 0;
}

static int read_single(struct bz_sh_quote *q, struct bz_str text, size_t *pos,
                       struct bz_err *err)
{
    struct bz_str rest = bz_str_sub(text, *pos + 1, text.n);
    size_t n = bz_str_find_byte(rest, '\'');

    if (n == BZ_STR_NONE)
        return unclosed(err, '\'');
    if (!q->strip)
        bz_buf_add_char(q->out, '\'');
    bz_buf_add(q->out, rest.p, n);
    if (!q->strip)
        bz_buf_add_char(q->out, '\'');
    *pos += n + 2;
    return 0;
}

static int read_backslash(struct bz_sh_quote *q, struct bz_str text, size_t *pos,
                          struct bz_err *err)
{
    if (*pos + 1 == text.n)
        return bz_fail(err, BZ_E_INVAL, "there is nothing after \\");
    if (text.p[*pos + 1] != '\n') {
        if (!q->strip || !escapes(q, text.p[*pos + 1]))
            bz_buf_add_char(q->out, '\\');
        bz_buf_add_char(q->out, text.p[*pos + 1]);
    }
    *pos += 2;
    return 0;
}

/* At a byte that begins a part. */
static int read_opener(struct bz_sh_quote *q, struct bz_str text, size_t *pos,
                       struct bz_err *err)
{
    switch (text.p[*pos]) {
    case '\'':
        return read_single(q, text, pos, err);
    case '\\':
        return read_backslash(q, text, pos, err);
    case '$':
        return read_dollar(q, text, pos, err);
    default:
        open_frame(q, text.p[(*pos)++]);
        return 0;
    }
}

static char closer_of(char kind)
{
    switch (kind) {
    case '(':
        return ')';
    case '{':
        return '}';
    default:
        return kind;
    }
}

/* Copies what is plain inside of the innermost frame; closes that if it ends here. */
static int read_inside(struct bz_sh_quote *q, struct bz_str text, size_t *pos,
                       struct bz_err *err)
{
    char kind = BZ_VEC_LAST(&q->open).kind;
    char closer = closer_of(kind);
    size_t end = *pos;

    while (end < text.n && text.p[end] != closer &&
           (!bz_sh_quote_begins(text.p[end]) || (text.p[end] == '\'' && kind == '"')))
        end++;
    if (end == text.n)
        return unclosed(err, kind);
    bz_buf_add(q->out, text.p + *pos, end - *pos);
    *pos = end;
    if (text.p[end] == closer) {
        close_frame(q, closer);
        ++*pos;
        return 0;
    }
    return read_opener(q, text, pos, err);
}

int bz_sh_quote_part(struct bz_sh_quote *q, struct bz_str text, size_t *pos,
                     struct bz_err *err)
{
    int rc;

    BZ_VEC_CLEAR(&q->open);
    rc = read_opener(q, text, pos, err);
    while (rc == 0 && q->open.len > 0)
        rc = read_inside(q, text, pos, err);
    return rc;
}

int bz_sh_quote_word(struct bz_sh_quote *q, struct bz_str word, struct bz_err *err)
{
    size_t pos = 0;

    while (pos < word.n) {
        size_t end = pos;
        int rc;

        while (end < word.n && !bz_sh_quote_begins(word.p[end]))
            end++;
        bz_buf_add(q->out, word.p + pos, end - pos);
        pos = end;
        if (pos == word.n)
            break;
        rc = bz_sh_quote_part(q, word, &pos, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

void bz_sh_quote_release(struct bz_sh_quote *q)
{
    bz_vec_release(&q->open);
}
