/* A text is read in three steps. The scan goes over the bytes once, without building
 * anything: it holds them against the grammar and the limits, and notes where each
 * value begins. Only a text that passed goes to cJSON, which on its own takes much that
 * is not JSON (leading zeros, control characters, any bytes after the first value) and
 * tells little about what it refuses. The last step turns cJSON's tree into ours. It
 * meets the values in the order in which the scan noted them, and so knows the place
 * and the digits of each.
 *
 * cJSON has one global, the place of the last error, which it writes in every parse.
 * Nothing reads it, here or there, unless cJSON_GetErrorPtr is called: do not. */
#include "codec/json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <cjson/cJSON.h>

#include "base/vec.h"
#include "codec/utf8.h"

enum {
    NUMBER_LEN = 63, /* what cJSON has room for */
    MAX_DEPTH = 512, /* bits for the kinds of open brackets; above doc.h's limit */
};

/* Where a value begins. */
struct place {
    uint32_t at, line, column;
    uint32_t key_line; /* 0 if it has no key */
    uint32_t len;      /* of a number */
};
struct places BZ_VEC(struct place);

/* What may come next. */
enum expect {
    EXPECT_VALUE,
    EXPECT_VALUE_OR_END,
    EXPECT_KEY,
    EXPECT_KEY_OR_END,
    EXPECT_COLON,
    EXPECT_COMMA_OR_END,
    EXPECT_NOTHING,
};

struct scan {
    struct bz_str text;
    struct bz_doc_limits limits;
    size_t i;          /* the next byte */
    uint32_t line;     /* from 1 */
    size_t line_start; /* offset of its first byte */
    size_t tails;      /* bytes of this line that continue a character */
    uint32_t key_line; /* of the latest key */
    enum expect expect;
    unsigned depth;
    uint8_t maps[MAX_DEPTH / 8]; /* bit d is set if the bracket at depth d is { */
    struct places *places;
    struct bz_err *err;
};

static struct place here(const struct scan *s)
{
    return (struct place){.at = (uint32_t)s->i,
                          .line = s->line,
                          .column = (uint32_t)(s->i - s->line_start - s->tails + 1)};
}

/* Puts the place before the message of a failure. */
static int placed(const struct scan *s, int rc)
{
    struct place at = here(s);

    BZ_ASSERT(rc < 0);
    return bz_err_wrap(s->err, "line %u, column %u", at.line, at.column);
}

static bool in_map(const struct scan *s)
{
    return s->depth > 0 && (s->maps[(s->depth - 1) / 8] >> (s->depth - 1) % 8 & 1);
}

/* The byte k after the next one; 0, which is in no token, beyond the end. */
static char peek(const struct scan *s, size_t k)
{
    if (k >= s->text.n - s->i)
        return '\0';
    return s->text.p[s->i + k];
}

static int fail_unexpected(struct scan *s)
{
    static const char *const wanted[] = {
        [EXPECT_VALUE] = "a value",
        [EXPECT_VALUE_OR_END] = "a value or ']'",
        [EXPECT_KEY] = "a key in quotes",
        [EXPECT_KEY_OR_END] = "a key in quotes or '}'",
        [EXPECT_COLON] = "':'",
        [EXPECT_NOTHING] = "nothing more",
    };
    const char *want = s->expect != EXPECT_COMMA_OR_END ? wanted[s->expect]
                       : in_map(s)                      ? "',' or '}'"
                                                        : "',' or ']'";
    char c = peek(s, 0);

    if (s->i == s->text.n)
        return placed(s,
                      bz_fail(s->err, BZ_E_INVAL, "expected %s, found the end", want));
    if (c > 0x20 && c < 0x7f)
        return placed(s,
                      bz_fail(s->err, BZ_E_INVAL, "expected %s, found '%c'", want, c));
    return placed(s, bz_fail(s->err, BZ_E_INVAL, "expected %s, found byte 0x%02x", want,
                             (uint8_t)c));
}

/* The state after a whole value. */
static enum expect after_value(const struct scan *s)
{
    return s->depth > 0 ? EXPECT_COMMA_OR_END : EXPECT_NOTHING;
}

/* Notes that a value begins here, if one may. */
static int begin_value(struct scan *s)
{
    if (s->expect != EXPECT_VALUE && s->expect != EXPECT_VALUE_OR_END)
        return fail_unexpected(s);
    if (s->places->len == s->limits.nodes)
        return placed(
            s, bz_fail(s->err, BZ_E_LIMIT, "more than %zu values", s->limits.nodes));
    BZ_VEC_PUSH(s->places, here(s));
    BZ_VEC_LAST(s->places).key_line = in_map(s) ? s->key_line : 0;
    s->expect = after_value(s);
    return 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static void skip_digits(const struct scan *s, size_t *k)
{
    while (is_digit(peek(s, *k)))
        ++*k;
}

static int scan_number(struct scan *s)
{
    int rc = begin_value(s);
    size_t k = peek(s, 0) == '-';
    bool ok = is_digit(peek(s, k));

    if (rc < 0)
        return rc;
    if (peek(s, k) == '0')
        k++; /* no digit may follow: the next token is then out of place */
    else
        skip_digits(s, &k);
    if (peek(s, k) == '.') {
        ok = ok && is_digit(peek(s, ++k));
        skip_digits(s, &k);
    }
    if (peek(s, k) == 'e' || peek(s, k) == 'E') {
        k++;
        if (peek(s, k) == '+' || peek(s, k) == '-')
            k++;
        ok = ok && is_digit(peek(s, k));
        skip_digits(s, &k);
    }
    if (!ok)
        return placed(s, bz_fail(s->err, BZ_E_INVAL, "malformed number"));
    if (k > NUMBER_LEN)
        return placed(s, bz_fail(s->err, BZ_E_LIMIT,
                                 "number of more than %d characters", NUMBER_LEN));
    BZ_VEC_LAST(s->places).len = (uint32_t)k;
    s->i += k;
    return 0;
}

static int scan_word(struct scan *s)
{
    static const struct bz_str words[] = {
        {"true",  4},
        {"false", 5},
        {"null",  4}
    };
    struct bz_str rest = bz_str_sub(s->text, s->i, s->text.n);

    for (size_t w = 0; w < BZ_COUNTOF(words); w++) {
        if (bz_str_starts(rest, words[w])) {
            int rc = begin_value(s);

            s->i += words[w].n;
            return rc;
        }
    }
    return fail_unexpected(s);
}

/* The value of the four digits at k; -1 if they are not all there. */
static int hex4(const struct scan *s, size_t k)
{
    int value = 0;

    for (size_t end = k + 4; k < end; k++) {
        char c = peek(s, k);

        if (is_digit(c))
            value = value << 4 | (c - '0');
        else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
            value = value << 4 | ((c | 0x20) - 'a' + 10);
        else
            return -1;
    }
    return value;
}

/* At a backslash. Surrogates must come in pairs, as nothing else is a character. */
static int scan_escape(struct scan *s)
{
    char c = peek(s, 1);
    int unit, low;

    if (c != 'u') {
        if (c == '\0' || !strchr("\"\\/bfnrt", c))
            return placed(s, bz_fail(s->err, BZ_E_INVAL, "unknown escape in a string"));
        s->i += 2;
        return 0;
    }
    unit = hex4(s, 2);
    if (unit < 0)
        return placed(
            s, bz_fail(s->err, BZ_E_INVAL, "\\u without four hexadecimal digits"));
    if (unit == 0)
        return placed(s, bz_fail(s->err, BZ_E_INVAL, "NUL in a string"));
    if (unit >= 0xd800 && unit <= 0xdfff) {
        low = peek(s, 6) == '\\' && peek(s, 7) == 'u' ? hex4(s, 8) : -1;
        if (unit >= 0xdc00 || low < 0xdc00 || low > 0xdfff)
            return placed(s, bz_fail(s->err, BZ_E_INVAL, "half of a surrogate pair"));
        s->i += 6;
    }
    s->i += 6;
    return 0;
}

/* At an opening quote; ends after the closing one. */
static int scan_string(struct scan *s)
{
    struct place start = here(s);
    int rc = 0;

    s->i++;
    while (rc == 0 && s->i < s->text.n) {
        uint8_t c = (uint8_t)s->text.p[s->i];

        if (c == '"') {
            s->i++;
            return 0;
        }
        if (c == '\\') {
            rc = scan_escape(s);
        } else if (c < 0x20) {
            rc = placed(s, bz_fail(s->err, BZ_E_INVAL,
                                   "unescaped control character in a string"));
        } else {
            size_t len = bz_utf8_len(s->text.p + s->i, s->text.n - s->i);

            if (len == 0)
                return placed(s, bz_fail(s->err, BZ_E_INVAL, "invalid UTF-8"));
            s->i += len;
            s->tails += len - 1;
        }
    }
    if (rc < 0)
        return rc;
    return bz_fail(s->err, BZ_E_INVAL, "line %u, column %u: string without end",
                   start.line, start.column);
}

static int scan_key_or_string(struct scan *s)
{
    int rc = 0;

    if (s->expect == EXPECT_KEY || s->expect == EXPECT_KEY_OR_END) {
        s->expect = EXPECT_COLON;
        s->key_line = s->line;
    } else {
        rc = begin_value(s);
    }
    return rc < 0 ? rc : scan_string(s);
}

static int scan_open(struct scan *s, bool map)
{
    int rc = begin_value(s);

    if (rc < 0)
        return rc;
    if (s->depth == s->limits.depth)
        return placed(
            s, bz_fail(s->err, BZ_E_LIMIT, "more than %u levels", s->limits.depth));
    s->maps[s->depth / 8] &= (uint8_t) ~(1U << s->depth % 8);
    s->maps[s->depth / 8] |= (uint8_t)((unsigned)map << s->depth % 8);
    s->depth++;
    s->expect = map ? EXPECT_KEY_OR_END : EXPECT_VALUE_OR_END;
    s->i++;
    return 0;
}

static int scan_close(struct scan *s, bool map)
{
    enum expect empty = map ? EXPECT_KEY_OR_END : EXPECT_VALUE_OR_END;

    if ((s->expect != EXPECT_COMMA_OR_END && s->expect != empty) || in_map(s) != map)
        return fail_unexpected(s);
    s->depth--;
    s->expect = after_value(s);
    s->i++;
    return 0;
}

/* A comma or colon. */
static int scan_mark(struct scan *s, enum expect where, enum expect next)
{
    if (s->expect != where)
        return fail_unexpected(s);
    s->expect = next;
    s->i++;
    return 0;
}

static int scan_token(struct scan *s)
{
    char c = s->text.p[s->i];

    switch (c) {
    case '\n':
        s->line++;
        s->line_start = s->i + 1;
        s->tails = 0;
        s->i++;
        return 0;
    case ' ':
    case '\t':
    case '\r':
        s->i++;
        return 0;
    case '{':
    case '[':
        return scan_open(s, c == '{');
    case '}':
    case ']':
        return scan_close(s, c == '}');
    case ',':
        return scan_mark(s, EXPECT_COMMA_OR_END, in_map(s) ? EXPECT_KEY : EXPECT_VALUE);
    case ':':
        return scan_mark(s, EXPECT_COLON, EXPECT_VALUE);
    case '"':
        return scan_key_or_string(s);
    default:
        return c == '-' || is_digit(c) ? scan_number(s) : scan_word(s);
    }
}

static int scan_text(struct scan *s)
{
    if (s->text.n > s->limits.bytes)
        return bz_fail(s->err, BZ_E_LIMIT, "text of %zu bytes, more than %zu",
                       s->text.n, s->limits.bytes);
    while (s->i < s->text.n) {
        int rc = scan_token(s);

        if (rc < 0)
            return rc;
    }
    return s->expect == EXPECT_NOTHING ? 0 : fail_unexpected(s);
}

struct build {
    struct bz_arena *arena;
    struct bz_str text;
    const struct place *next; /* of the value that is built next */
    size_t left;              /* places from there on */
    struct bz_err *err;
};

static int build_number(struct build *b, const struct place *at, const cJSON *from,
                        struct bz_doc *d)
{
    d->text = bz_arena_dup(b->arena, bz_str_of(b->text.p + at->at, at->len));
    d->type = strpbrk(d->text.p, ".eE") ? BZ_DOC_REAL : BZ_DOC_INT;
    if (d->type == BZ_DOC_REAL) {
        d->r = from->valuedouble;
        if (isfinite(d->r))
            return 0;
    } else {
        errno = 0;
        d->i = strtoll(d->text.p, NULL, 10);
        if (errno == 0)
            return 0;
    }
    return bz_fail(b->err, BZ_E_LIMIT, "line %u, column %u: %s does not fit 64 bits",
                   d->line, d->column, d->text.p);
}

static int build_value(struct build *b, const cJSON *from, struct bz_doc *d);

static int build_items(struct build *b, const cJSON *from, struct bz_doc *d)
{
    size_t n = 0, i = 0;
    struct bz_doc *items;
    const cJSON *item;

    cJSON_ArrayForEach(item, from) n++;
    items = BZ_ARENA_ARRAY(b->arena, struct bz_doc, n);
    cJSON_ArrayForEach(item, from)
    {
        int rc;

        if (item->string)
            items[i].key = bz_arena_dup(b->arena, bz_str_from(item->string));
        rc = build_value(b, item, &items[i++]);
        if (rc < 0)
            return rc;
    }
    d->items = items;
    d->count = n;
    return d->type == BZ_DOC_MAP ? bz_doc_check_keys(d, b->err) : 0;
}

/* Fills *d, which is zero but for the key. Recurses as deep as the scan allowed. */
static int build_value(struct build *b, const cJSON *from, struct bz_doc *d)
{
    const struct place *at = b->next;

    BZ_ASSERT(b->left > 0); /* or cJSON and the scan disagree */
    b->next++;
    b->left--;
    d->line = at->line;
    d->column = at->column;
    d->key_line = at->key_line;
    switch (from->type & 0xff) {
    case cJSON_Object:
        d->type = BZ_DOC_MAP;
        return build_items(b, from, d);
    case cJSON_Array:
        d->type = BZ_DOC_LIST;
        return build_items(b, from, d);
    case cJSON_Number:
        return build_number(b, at, from, d);
    case cJSON_String:
        d->type = BZ_DOC_STR;
        d->text = bz_arena_dup(b->arena, bz_str_from(from->valuestring));
        return 0;
    case cJSON_True:
    case cJSON_False:
        d->type = BZ_DOC_BOOL;
        d->b = cJSON_IsTrue(from);
        d->text = d->b ? BZ_STR("true") : BZ_STR("false");
        return 0;
    default:
        d->text = BZ_STR("null");
        return 0;
    }
}

static void deletep(cJSON **tree)
{
    cJSON_Delete(*tree);
}

int bz_json_parse(struct bz_arena *arena, struct bz_str text,
                  const struct bz_doc_limits *limits, const struct bz_doc **out,
                  struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct places places = {0};
    BZ_CLEANUP(deletep) cJSON *tree = NULL;
    struct bz_arena_mark mark = bz_arena_mark(arena);
    struct scan s = {.text = text, .line = 1, .places = &places, .err = err};
    struct build b = {.arena = arena, .text = text, .err = err};
    struct bz_doc *root;
    int rc;

    s.limits = bz_doc_limits_or_default(limits);
    rc = scan_text(&s);
    if (rc < 0)
        return rc;
    tree = cJSON_ParseWithLength(text.p, text.n);
    if (!tree)
        return bz_fail(err, BZ_E_LIMIT, "no memory for %zu bytes of JSON", text.n);
    b.next = places.at;
    b.left = places.len;
    root = BZ_ARENA_NEW(arena, struct bz_doc);
    rc = build_value(&b, tree, root);
    if (rc < 0) {
        bz_arena_rewind(arena, mark);
        return rc;
    }
    BZ_ASSERT(b.left == 0);
    *out = root;
    return 0;
}
