#include "vars/expr_lex.h"

#include <stdint.h>

/* Python's words, by length. */
static const struct {
    char word[9];
    uint8_t tok;
} words[] = {
    {"as",       BZ_EXPR_TOK_OTHER },
    {"if",       BZ_EXPR_TOK_IF    },
    {"in",       BZ_EXPR_TOK_IN    },
    {"is",       BZ_EXPR_TOK_IS    },
    {"or",       BZ_EXPR_TOK_OR    },
    {"and",      BZ_EXPR_TOK_AND   },
    {"def",      BZ_EXPR_TOK_OTHER },
    {"del",      BZ_EXPR_TOK_OTHER },
    {"for",      BZ_EXPR_TOK_FOR   },
    {"not",      BZ_EXPR_TOK_NOT   },
    {"try",      BZ_EXPR_TOK_OTHER },
    {"None",     BZ_EXPR_TOK_NONE  },
    {"True",     BZ_EXPR_TOK_TRUE  },
    {"elif",     BZ_EXPR_TOK_OTHER },
    {"else",     BZ_EXPR_TOK_ELSE  },
    {"from",     BZ_EXPR_TOK_OTHER },
    {"pass",     BZ_EXPR_TOK_OTHER },
    {"with",     BZ_EXPR_TOK_OTHER },
    {"False",    BZ_EXPR_TOK_FALSE },
    {"async",    BZ_EXPR_TOK_OTHER },
    {"await",    BZ_EXPR_TOK_OTHER },
    {"break",    BZ_EXPR_TOK_OTHER },
    {"class",    BZ_EXPR_TOK_OTHER },
    {"raise",    BZ_EXPR_TOK_OTHER },
    {"while",    BZ_EXPR_TOK_OTHER },
    {"yield",    BZ_EXPR_TOK_OTHER },
    {"assert",   BZ_EXPR_TOK_OTHER },
    {"except",   BZ_EXPR_TOK_OTHER },
    {"global",   BZ_EXPR_TOK_OTHER },
    {"import",   BZ_EXPR_TOK_OTHER },
    {"lambda",   BZ_EXPR_TOK_LAMBDA},
    {"return",   BZ_EXPR_TOK_OTHER },
    {"finally",  BZ_EXPR_TOK_OTHER },
    {"continue", BZ_EXPR_TOK_OTHER },
    {"nonlocal", BZ_EXPR_TOK_OTHER },
};

/* Where the words of a length begin; they end where those of the next begin. */
static const uint8_t words_of[] = {0, 0, 0, 5, 11, 18, 26, 32, 33, 35};

/* What a byte is, for all that matters before a token is read. */
enum { SPACE = 1, DIGIT = 2, LETTER = 4, QUOTE = 8 };

static const uint8_t kinds[256] = {
    [' '] = SPACE,          ['\t'] = SPACE,         ['\f'] = SPACE,
    ['\n'] = SPACE,         ['\\'] = SPACE,         ['#'] = SPACE,
    ['\''] = QUOTE,         ['"'] = QUOTE,          ['0' ... '9'] = DIGIT,
    ['a' ... 'z'] = LETTER, ['A' ... 'Z'] = LETTER, ['_'] = LETTER,
};

static const uint8_t signs[128] = {
    ['('] = BZ_EXPR_TOK_OPEN,      [')'] = BZ_EXPR_TOK_CLOSE,
    ['['] = BZ_EXPR_TOK_OPEN_LIST, [']'] = BZ_EXPR_TOK_CLOSE_LIST,
    ['{'] = BZ_EXPR_TOK_OPEN_DICT, ['}'] = BZ_EXPR_TOK_CLOSE_DICT,
    [','] = BZ_EXPR_TOK_COMMA,     [':'] = BZ_EXPR_TOK_COLON,
    ['.'] = BZ_EXPR_TOK_DOT,       ['='] = BZ_EXPR_TOK_ASSIGN,
    ['<'] = BZ_EXPR_TOK_LT,        ['>'] = BZ_EXPR_TOK_GT,
    ['+'] = BZ_EXPR_TOK_PLUS,      ['-'] = BZ_EXPR_TOK_MINUS,
    ['*'] = BZ_EXPR_TOK_STAR,      ['/'] = BZ_EXPR_TOK_SLASH,
    ['%'] = BZ_EXPR_TOK_PERCENT,   ['&'] = BZ_EXPR_TOK_AMP,
    ['|'] = BZ_EXPR_TOK_BAR,       ['^'] = BZ_EXPR_TOK_CARET,
    ['~'] = BZ_EXPR_TOK_TILDE,
};

static const struct {
    char sign[3];
    uint8_t tok;
} long_signs[] = {
    {"==", BZ_EXPR_TOK_EQ    },
    {"!=", BZ_EXPR_TOK_NE    },
    {"<=", BZ_EXPR_TOK_LE    },
    {">=", BZ_EXPR_TOK_GE    },
    {"<<", BZ_EXPR_TOK_LSHIFT},
    {">>", BZ_EXPR_TOK_RSHIFT},
    {"**", BZ_EXPR_TOK_POWER },
    {"//", BZ_EXPR_TOK_DSLASH},
    {":=", BZ_EXPR_TOK_OTHER },
};

const char *bz_expr_lex_sign(enum bz_expr_tok op)
{
    static const char *const texts[] = {
        [BZ_EXPR_TOK_LT] = "<",
        [BZ_EXPR_TOK_LE] = "<=",
        [BZ_EXPR_TOK_GT] = ">",
        [BZ_EXPR_TOK_GE] = ">=",
        [BZ_EXPR_TOK_BAR] = "|",
        [BZ_EXPR_TOK_CARET] = "^",
        [BZ_EXPR_TOK_AMP] = "&",
        [BZ_EXPR_TOK_LSHIFT] = "<<",
        [BZ_EXPR_TOK_RSHIFT] = ">>",
        [BZ_EXPR_TOK_PLUS] = "+",
        [BZ_EXPR_TOK_MINUS] = "-",
        [BZ_EXPR_TOK_STAR] = "*",
        [BZ_EXPR_TOK_SLASH] = "/",
        [BZ_EXPR_TOK_DSLASH] = "//",
        [BZ_EXPR_TOK_PERCENT] = "%",
        [BZ_EXPR_TOK_TILDE] = "~",
        [BZ_EXPR_TOK_POWER] = "** or pow()",
    };

    return op < BZ_COUNTOF(texts) && texts[op] ? texts[op] : "?";
}

void bz_expr_lex_init(struct bz_expr_lex *l, struct bz_str code,
                      struct bz_expr_scratch *mem)
{
    *l = (struct bz_expr_lex){.mem = mem};
    l->at = code.n ? code.p : "";
    l->end = l->at + code.n;
}

static unsigned kind_of(char c)
{
    return kinds[(unsigned char)c];
}

static bool is_digit(char c)
{
    return kind_of(c) & DIGIT;
}

static bool is_word(char c)
{
    return kind_of(c) & (DIGIT | LETTER);
}

static char peek(const struct bz_expr_lex *l, size_t ahead)
{
    if ((size_t)(l->end - l->at) <= ahead)
        return 0;
    return l->at[ahead];
}

static int hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static char *put_utf8(char *to, unsigned c)
{
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
        *to++ = (char)(0x80 | (c & 0x3f));
    } else {
        if (c < 0x10000) {
            *to++ = (char)(0xe0 | c >> 12);
        } else {
            *to++ = (char)(0xf0 | c >> 18);
            *to++ = (char)(0x80 | (c >> 12 & 0x3f));
        }
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    }
    return to;
}

/* The number in `digits` hexadecimal digits at *p. */
static int hex_escape(const char **p, const char *end, int digits, unsigned *out,
                      struct bz_err *err)
{
    unsigned value = 0;
    int i;

    for (i = 0; i < digits; i++) {
        int digit = *p < end ? hex_value(**p) : -1;

        if (digit < 0)
            return bz_fail(err, BZ_E_NOSUP, "an escape in a string is cut short");
        value = value << 4 | (unsigned)digit;
        (*p)++;
    }
    if (value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
        return bz_fail(err, BZ_E_NOSUP, "a string has a surrogate");
    *out = value;
    return 0;
}

static char simple_escape(char c)
{
    static const char from[] = "abfnrtv\\'\"";
    static const char to[] = "\a\b\f\n\r\t\v\\'\"";
    const char *at = c ? strchr(from, c) : NULL;

    if (!at)
        return 0;
    return to[at - from];
}

/* One escape, *p being after its backslash. An unknown one keeps the backslash. */
static int unescape(const char **p, const char *end, char **to, struct bz_err *err)
{
    char c = *(*p)++;
    unsigned value = 0;
    int i;

    if (c == '\n')
        return 0;
    if (simple_escape(c)) {
        *(*to)++ = simple_escape(c);
        return 0;
    }
    if (c >= '0' && c <= '7') {
        for ((*p)--, i = 0; i < 3 && *p < end && **p >= '0' && **p <= '7'; i++)
            value = value << 3 | (unsigned)(*(*p)++ - '0');
    } else if (c == 'x' || c == 'u' || c == 'U') {
        int digits = c == 'x' ? 2 : c == 'u' ? 4 : 8;
        int rc = hex_escape(p, end, digits, &value, err);

        if (rc < 0)
            return rc;
    } else if (c == 'N' || c == '\r') {
        return bz_fail(err, BZ_E_NOSUP, "a string has an escape of a rare kind");
    } else {
        *(*to)++ = '\\';
        *(*to)++ = c;
        return 0;
    }
    *to = put_utf8(*to, value);
    return 0;
}

/* What stands between the quotes. No escape is shorter than what it stands for. */
static int decode(struct bz_expr_lex *l, struct bz_str body, struct bz_err *err)
{
    const char *p = body.p, *end = p + body.n;
    char *text = bz_expr_scratch_alloc(l->mem, body.n + 1);
    char *to = text;

    while (p < end) {
        const char *slash = memchr(p, '\\', (size_t)(end - p));
        size_t plain = (size_t)((slash ? slash : end) - p);
        int rc;

        memcpy(to, p, plain);
        to += plain;
        p += plain;
        if (!slash)
            break;
        p++;
        rc = unescape(&p, end, &to, err);
        if (rc < 0)
            return rc;
    }
    l->text = bz_str_of(text, (size_t)(to - text));
    return 0;
}

/* The end of the string that begins at `p`, or NULL if there is none. */
static const char *closing(const struct bz_expr_lex *l, const char *p, char quote,
                           unsigned quotes, bool *escapes)
{
    for (; p < l->end; p++) {
        if (*p == '\\') {
            *escapes = true;
            if (++p == l->end)
                break;
        } else if (*p == '\n' && quotes == 1) {
            return NULL;
        } else if (*p == quote) {
            if (quotes == 1 || (l->end - p >= 3 && p[1] == quote && p[2] == quote))
                return p;
        }
    }
    return NULL;
}

/* A string at its first quote. */
static int read_string(struct bz_expr_lex *l, bool raw, struct bz_err *err)
{
    char quote = *l->at;
    unsigned quotes = peek(l, 1) == quote && peek(l, 2) == quote ? 3 : 1;
    const char *body = l->at + quotes;
    bool escapes = false;
    const char *end = closing(l, body, quote, quotes, &escapes);

    if (!end)
        return bz_fail(err, BZ_E_INVAL, "SyntaxError: unterminated %sstring literal",
                       quotes == 3 ? "triple-quoted " : "");
    l->tok = BZ_EXPR_TOK_STR;
    l->text = bz_str_of(body, (size_t)(end - body));
    l->at = end + quotes;
    if (memchr(body, '\r', l->text.n))
        return bz_fail(err, BZ_E_NOSUP, "a string has a carriage return");
    return escapes && !raw ? decode(l, l->text, err) : 0;
}

/* Skips digits and single underscores between them. */
static const char *skip_digits(const char *p, const char *end, int base)
{
    const char *start = p;

    for (; p < end; p++) {
        if (*p == '_' && p > start && p[-1] != '_')
            continue;
        if (hex_value(*p) < 0 || hex_value(*p) >= base)
            break;
    }
    return p > start && p[-1] == '_' ? p - 1 : p;
}

static const char *skip_exponent(const char *p, const char *end)
{
    const char *digits = p + 1;

    if (p == end || (*p | 0x20) != 'e')
        return p;
    if (digits < end && (*digits == '+' || *digits == '-'))
        digits++;
    return digits < end && is_digit(*digits) ? skip_digits(digits, end, 10) : p;
}

static int read_number(struct bz_expr_lex *l, struct bz_err *err)
{
    const char *p = l->at, *start = p;
    int kind = *p == '0' ? peek(l, 1) | 0x20 : 0;
    int base = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 10;

    l->tok = BZ_EXPR_TOK_INT;
    if (base != 10) {
        p = skip_digits(p + 2, l->end, base);
    } else {
        p = skip_digits(p, l->end, 10);
        if (p < l->end && *p == '.') {
            l->tok = BZ_EXPR_TOK_FLOAT;
            p = skip_digits(p + 1, l->end, 10);
        }
        if (skip_exponent(p, l->end) != p) {
            l->tok = BZ_EXPR_TOK_FLOAT;
            p = skip_exponent(p, l->end);
        }
    }
    l->text = bz_str_of(start, (size_t)(p - start));
    l->at = p;
    if ((base != 10 && l->text.n < 3) || (p < l->end && (is_word(*p) || *p == '.')))
        return bz_fail(err, BZ_E_NOSUP, "a number of a rare kind");
    return 0;
}

/* A name, a keyword, or the letters before a string. */
static int read_word(struct bz_expr_lex *l, struct bz_err *err)
{
    const char *start = l->at;
    size_t i;

    while (l->at < l->end && is_word(*l->at))
        l->at++;
    l->text = bz_str_of(start, (size_t)(l->at - start));
    if (l->at < l->end && kind_of(*l->at) & QUOTE) {
        char prefix = (char)(*start | 0x20);

        if (l->text.n == 1 && (prefix == 'r' || prefix == 'u'))
            return read_string(l, prefix == 'r', err);
        return bz_fail(err, BZ_E_NOSUP, "a string of the kind %.*s''",
                       BZ_STR_ARG(l->text));
    }
    l->tok = BZ_EXPR_TOK_NAME;
    if (l->text.n < BZ_COUNTOF(words_of) - 1) {
        for (i = words_of[l->text.n]; i < words_of[l->text.n + 1]; i++) {
            if (words[i].word[0] == *start &&
                memcmp(words[i].word, start, l->text.n) == 0)
                l->tok = words[i].tok;
        }
    }
    return 0;
}

static int read_sign(struct bz_expr_lex *l, struct bz_err *err)
{
    unsigned char c = (unsigned char)*l->at;
    size_t i, n = 1;

    l->tok = c < BZ_COUNTOF(signs) ? signs[c] : BZ_EXPR_TOK_END;
    if (peek(l, 1) == '=' || peek(l, 1) == *l->at) {
        for (i = 0; i < BZ_COUNTOF(long_signs); i++) {
            if (memcmp(l->at, long_signs[i].sign, 2) == 0) {
                l->tok = long_signs[i].tok;
                n = 2;
            }
        }
    }
    if (l->tok == BZ_EXPR_TOK_END)
        return bz_fail(err, BZ_E_NOSUP, "unexpected character 0x%02x", c);
    l->text = bz_str_of(l->at, n);
    l->at += n;
    if (l->tok == BZ_EXPR_TOK_OPEN || l->tok == BZ_EXPR_TOK_OPEN_LIST ||
        l->tok == BZ_EXPR_TOK_OPEN_DICT) {
        l->open++;
    } else if (l->tok == BZ_EXPR_TOK_CLOSE || l->tok == BZ_EXPR_TOK_CLOSE_LIST ||
               l->tok == BZ_EXPR_TOK_CLOSE_DICT) {
        if (l->open == 0)
            return bz_fail(err, BZ_E_INVAL, "SyntaxError: unmatched '%c'", c);
        l->open--;
    }
    return 0;
}

/* Skips what separates tokens. A comment runs to the end of its line. */
static int skip_space(struct bz_expr_lex *l, struct bz_err *err)
{
    for (; l->at < l->end; l->at++) {
        if (*l->at == '\n' ? l->open > 0
                           : *l->at == ' ' || *l->at == '\t' || *l->at == '\f')
            continue;
        if (*l->at == '\\' && peek(l, 1) == '\n' && l->end - l->at > 2) {
            l->at++;
            continue;
        }
        if (*l->at != '#')
            break;
        while (l->at + 1 < l->end && l->at[1] != '\n' && l->at[1] != '\r')
            l->at++;
    }
    if (l->at < l->end && *l->at == '\n')
        return bz_fail(err, BZ_E_NOSUP, "more than one line");
    return 0;
}

int bz_expr_lex_next(struct bz_expr_lex *l, struct bz_err *err)
{
    unsigned kind;

    if (l->at < l->end && *l->at == ' ')
        l->at++;
    if (l->at < l->end && kind_of(*l->at) & SPACE) {
        int rc = skip_space(l, err);

        if (rc < 0)
            return rc;
    }
    if (l->at == l->end) {
        l->tok = BZ_EXPR_TOK_END;
        l->text = bz_str_of(l->at, 0);
        return 0;
    }
    kind = kind_of(*l->at);
    if (kind & QUOTE)
        return read_string(l, false, err);
    if (kind & LETTER)
        return read_word(l, err);
    if (kind & DIGIT || (*l->at == '.' && is_digit(peek(l, 1))))
        return read_number(l, err);
    return read_sign(l, err);
}
