#include "code/py_lex.h"

#include "code/py_letter.h"

/* Python's words, by length. */
static const struct {
    char word[9];
    uint8_t tok;
} words[] = {
    {"as",       BZ_PY_TOK_AS     },
    {"if",       BZ_PY_TOK_IF     },
    {"in",       BZ_PY_TOK_IN     },
    {"is",       BZ_PY_TOK_IS     },
    {"or",       BZ_PY_TOK_OR     },
    {"and",      BZ_PY_TOK_AND    },
    {"def",      BZ_PY_TOK_DEF    },
    {"del",      BZ_PY_TOK_DEL    },
    {"for",      BZ_PY_TOK_FOR    },
    {"not",      BZ_PY_TOK_NOT    },
    {"try",      BZ_PY_TOK_TRY    },
    {"None",     BZ_PY_TOK_NONE   },
    {"True",     BZ_PY_TOK_TRUE   },
    {"elif",     BZ_PY_TOK_ELIF   },
    {"else",     BZ_PY_TOK_ELSE   },
    {"from",     BZ_PY_TOK_FROM   },
    {"pass",     BZ_PY_TOK_PASS   },
    {"with",     BZ_PY_TOK_WITH   },
    {"False",    BZ_PY_TOK_FALSE  },
    {"async",    BZ_PY_TOK_ASYNC  },
    {"await",    BZ_PY_TOK_AWAIT  },
    {"break",    BZ_PY_TOK_PASS   },
    {"class",    BZ_PY_TOK_CLASS  },
    {"raise",    BZ_PY_TOK_RAISE  },
    {"while",    BZ_PY_TOK_WHILE  },
    {"yield",    BZ_PY_TOK_YIELD  },
    {"assert",   BZ_PY_TOK_ASSERT },
    {"except",   BZ_PY_TOK_EXCEPT },
    {"global",   BZ_PY_TOK_GLOBAL },
    {"import",   BZ_PY_TOK_IMPORT },
    {"lambda",   BZ_PY_TOK_LAMBDA },
    {"return",   BZ_PY_TOK_RETURN },
    {"finally",  BZ_PY_TOK_FINALLY},
    {"continue", BZ_PY_TOK_PASS   },
    {"nonlocal", BZ_PY_TOK_GLOBAL },
};

/* Where the words of a length begin; they end where those of the next begin. */
static const uint8_t words_of[] = {0, 0, 0, 5, 11, 18, 26, 32, 33, 35};

/* The longest sign comes first among those that begin alike. */
static const struct {
    char sign[4];
    uint8_t n;
    uint8_t tok;
} signs[] = {
    {"**=", 3, BZ_PY_TOK_AUGMENT   },
    {"//=", 3, BZ_PY_TOK_AUGMENT   },
    {"<<=", 3, BZ_PY_TOK_AUGMENT   },
    {">>=", 3, BZ_PY_TOK_AUGMENT   },
    {"...", 3, BZ_PY_TOK_ELLIPSIS  },
    {"->",  2, BZ_PY_TOK_ARROW     },
    {":=",  2, BZ_PY_TOK_WALRUS    },
    {"==",  2, BZ_PY_TOK_COMPARE   },
    {"!=",  2, BZ_PY_TOK_COMPARE   },
    {"<=",  2, BZ_PY_TOK_COMPARE   },
    {">=",  2, BZ_PY_TOK_COMPARE   },
    {"<<",  2, BZ_PY_TOK_SHIFT     },
    {">>",  2, BZ_PY_TOK_SHIFT     },
    {"**",  2, BZ_PY_TOK_POWER     },
    {"//",  2, BZ_PY_TOK_TERM      },
    {"+=",  2, BZ_PY_TOK_AUGMENT   },
    {"-=",  2, BZ_PY_TOK_AUGMENT   },
    {"*=",  2, BZ_PY_TOK_AUGMENT   },
    {"/=",  2, BZ_PY_TOK_AUGMENT   },
    {"%=",  2, BZ_PY_TOK_AUGMENT   },
    {"&=",  2, BZ_PY_TOK_AUGMENT   },
    {"|=",  2, BZ_PY_TOK_AUGMENT   },
    {"^=",  2, BZ_PY_TOK_AUGMENT   },
    {"@=",  2, BZ_PY_TOK_AUGMENT   },
    {"(",   1, BZ_PY_TOK_OPEN      },
    {")",   1, BZ_PY_TOK_CLOSE     },
    {"[",   1, BZ_PY_TOK_OPEN_LIST },
    {"]",   1, BZ_PY_TOK_CLOSE_LIST},
    {"{",   1, BZ_PY_TOK_OPEN_DICT },
    {"}",   1, BZ_PY_TOK_CLOSE_DICT},
    {",",   1, BZ_PY_TOK_COMMA     },
    {":",   1, BZ_PY_TOK_COLON     },
    {";",   1, BZ_PY_TOK_SEMICOLON },
    {".",   1, BZ_PY_TOK_DOT       },
    {"=",   1, BZ_PY_TOK_ASSIGN    },
    {"@",   1, BZ_PY_TOK_AT        },
    {"+",   1, BZ_PY_TOK_PLUS      },
    {"-",   1, BZ_PY_TOK_MINUS     },
    {"*",   1, BZ_PY_TOK_STAR      },
    {"/",   1, BZ_PY_TOK_TERM      },
    {"%",   1, BZ_PY_TOK_TERM      },
    {"~",   1, BZ_PY_TOK_TILDE     },
    {"&",   1, BZ_PY_TOK_AMP       },
    {"^",   1, BZ_PY_TOK_CARET     },
    {"|",   1, BZ_PY_TOK_BAR       },
    {"<",   1, BZ_PY_TOK_COMPARE   },
    {">",   1, BZ_PY_TOK_COMPARE   },
    {"!",   1, BZ_PY_TOK_BANG      },
};

void bz_py_lex_init(struct bz_py_lex *l, struct bz_str code, struct bz_py_origin origin)
{
    *l = (struct bz_py_lex){.line = 1, .origin = origin, .fresh = true};
    l->start = code.n ? code.p : "";
    l->at = l->from = l->before = l->counted = l->start;
    l->end = l->start + code.n;
}

uint32_t bz_py_lex_line(struct bz_py_lex *l, const char *p)
{
    while (l->counted < p) {
        const char *nl = memchr(l->counted, '\n', (size_t)(p - l->counted));

        if (!nl) {
            l->counted = p;
            break;
        }
        l->line++;
        l->counted = nl + 1;
    }
    return (uint32_t)(l->line + l->origin.line);
}

void bz_py_lex_refuse(struct bz_py_lex *l, const char *p, const char *what,
                      struct bz_err *err)
{
    uint32_t line = bz_py_lex_line(l, p);

    if (l->origin.file)
        bz_fail(err, BZ_E_INVAL, "%s:%u: SyntaxError: %s", l->origin.file, line, what);
    else
        bz_fail(err, BZ_E_INVAL, "SyntaxError: %s", what);
}

/* Fails over the place at hand. */
static int fail(struct bz_py_lex *l, struct bz_err *err, const char *what)
{
    bz_py_lex_refuse(l, l->at < l->end ? l->at : l->end, what, err);
    return BZ_E_INVAL;
}

static char peek(const struct bz_py_lex *l, size_t ahead)
{
    if ((size_t)(l->end - l->at) <= ahead)
        return 0;
    return l->at[ahead];
}

/* ---- strings ---- */

/* Moves to the end of the string at whose first letter the lexer is. A backslash keeps
 * the next character from ending it, in raw strings too. */
static int read_string(struct bz_py_lex *l, struct bz_err *err)
{
    const struct bz_py_quote *q = &l->quote;
    const char *p = l->at;

    for (; p < l->end; p++) {
        if (*p == '\\') {
            if (++p == l->end)
                break;
        } else if (*p == '\n' && !q->triple) {
            break;
        } else if (*p == q->quote &&
                   (!q->triple ||
                    (l->end - p >= 3 && p[1] == q->quote && p[2] == q->quote))) {
            l->tok = BZ_PY_TOK_STRING;
            l->text = bz_str_of(l->at, (size_t)(p - l->at));
            l->at = p + (q->triple ? 3 : 1);
            return 0;
        }
    }
    return fail(l, err,
                q->triple ? "unterminated triple-quoted string literal"
                          : "unterminated string literal");
}

/* Whether the letters may stand before a string, and what they say. */
static bool read_prefix(struct bz_str letters, struct bz_py_quote *q, bool *format)
{
    unsigned seen[256] = {0};
    size_t i;

    *format = false;
    if (letters.n > 2)
        return false;
    for (i = 0; i < letters.n; i++)
        seen[(unsigned char)letters.p[i] | 0x20]++;
    q->raw = seen['r'] == 1;
    q->bytes = seen['b'] == 1;
    *format = seen['f'] == 1;
    return q->raw + q->bytes + *format + (seen['u'] == 1) == (int)letters.n &&
           !(q->bytes && *format) && !(seen['u'] && letters.n > 1);
}

/* A string whose first quote is at hand. */
static int open_string(struct bz_py_lex *l, bool format, struct bz_err *err)
{
    l->quote.quote = *l->at;
    l->quote.triple = peek(l, 1) == *l->at && peek(l, 2) == *l->at;
    l->at += l->quote.triple ? 3 : 1;
    if (!format)
        return read_string(l, err);
    l->tok = BZ_PY_TOK_FSTRING;
    l->text = bz_str_of(l->at, 0);
    return 0;
}

/* ---- numbers ---- */

static bool is_digit_of(char c, unsigned base)
{
    unsigned d = c >= '0' && c <= '9' ? (unsigned)(c - '0') : 99;

    if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
        d = (unsigned)((c | 0x20) - 'a' + 10);
    return d < base;
}

/* Digits, with single underscores between them. False if there is one too many. */
static bool skip_digits(struct bz_py_lex *l, unsigned base)
{
    for (;;) {
        while (is_digit_of(peek(l, 0), base))
            l->at++;
        if (peek(l, 0) != '_')
            return true;
        l->at++;
        if (!is_digit_of(peek(l, 0), base))
            return false;
    }
}

/* A word may follow at once: 1if x else 2. */
static bool is_word_after_number(const struct bz_py_lex *l)
{
    static const char *const after[] = {"and", "else", "for", "if",
                                        "in",  "is",   "or",  "not"};
    size_t i;

    for (i = 0; i < BZ_COUNTOF(after); i++) {
        size_t n = strlen(after[i]);

        if ((size_t)(l->end - l->at) >= n && memcmp(l->at, after[i], n) == 0)
            return true;
    }
    return false;
}

/* Behind the digits of a decimal number: fraction, exponent, j. */
static bool skip_fraction(struct bz_py_lex *l, bool *whole)
{
    if (peek(l, 0) == '.') {
        *whole = false;
        l->at++;
        if (is_digit_of(peek(l, 0), 10) && !skip_digits(l, 10))
            return false;
    }
    if ((peek(l, 0) | 0x20) == 'e') {
        size_t sign = peek(l, 1) == '+' || peek(l, 1) == '-';

        if (is_digit_of(peek(l, 1 + sign), 10)) {
            *whole = false;
            l->at += 1 + sign;
            if (!skip_digits(l, 10))
                return false;
        } else if (sign) {
            return false;
        }
    }
    if ((peek(l, 0) | 0x20) == 'j') {
        *whole = false;
        l->at++;
    }
    return true;
}

/* 0, 00 and 0_0 are whole numbers, 07 is not one. */
static bool is_padded(struct bz_str digits)
{
    size_t i;

    for (i = 0; i < digits.n && (digits.p[i] == '0' || digits.p[i] == '_'); i++)
        continue;
    return digits.n > 1 && digits.p[0] == '0' && i < digits.n;
}

static int read_number(struct bz_py_lex *l, struct bz_err *err)
{
    const char *start = l->at;
    int kind = *start == '0' ? peek(l, 1) | 0x20 : 0;
    unsigned base = kind == 'x' ? 16 : kind == 'o' ? 8 : kind == 'b' ? 2 : 10;
    bool fine, whole = true;

    if (base != 10) {
        l->at += 2;
        if (peek(l, 0) == '_')
            l->at++;
        fine = is_digit_of(peek(l, 0), base) && skip_digits(l, base) &&
               !is_digit_of(peek(l, 0), 10);
    } else {
        fine = (*start == '.' || skip_digits(l, 10)) && skip_fraction(l, &whole);
    }
    l->tok = BZ_PY_TOK_NUMBER;
    l->text = bz_str_of(start, (size_t)(l->at - start));
    if (fine && base == 10 && whole && is_padded(l->text))
        return fail(l, err,
                    "leading zeros in decimal integer literals are not permitted");
    if (!fine || (bz_py_letter_is_name(peek(l, 0)) && !is_word_after_number(l)))
        return fail(l, err, "invalid number");
    return 0;
}

/* ---- names and signs ---- */

static enum bz_py_tok word_of(struct bz_str text)
{
    size_t i;

    if (text.n >= BZ_COUNTOF(words_of) - 1)
        return BZ_PY_TOK_NAME;
    for (i = words_of[text.n]; i < words_of[text.n + 1]; i++)
        if (memcmp(words[i].word, text.p, text.n) == 0)
            return words[i].tok;
    return BZ_PY_TOK_NAME;
}

static int read_word(struct bz_py_lex *l, struct bz_err *err)
{
    const char *start = l->at;
    bool foreign = false, format;

    while (l->at < l->end && bz_py_letter_is_name(*l->at))
        foreign |= (unsigned char)*l->at++ >= 0x80;
    l->text = bz_str_of(start, (size_t)(l->at - start));
    if ((peek(l, 0) == '\'' || peek(l, 0) == '"') &&
        read_prefix(l->text, &l->quote, &format))
        return open_string(l, format, err);
    if (foreign && !bz_py_letter_may_name(l->text))
        return fail(l, err, "a character that no name may have");
    l->tok = word_of(l->text);
    return 0;
}

static int open_bracket(struct bz_py_lex *l, char c, struct bz_err *err)
{
    if (l->nbrackets == BZ_PY_LEX_BRACKETS)
        return fail(l, err, "too many nested parentheses");
    l->brackets[l->nbrackets++] = c;
    return 0;
}

static int close_bracket(struct bz_py_lex *l, char c, struct bz_err *err)
{
    int open = c == ')' ? '(' : c == ']' ? '[' : '{';

    if (l->nbrackets == 0)
        return fail(l, err, "a bracket closes that was not opened");
    if (l->brackets[l->nbrackets - 1] != open)
        return fail(l, err, "a bracket closes that is not the one opened");
    l->nbrackets--;
    return 0;
}

static bool in_field(const struct bz_py_lex *l)
{
    return l->field != 0 && l->field == l->nbrackets;
}

static int read_sign(struct bz_py_lex *l, struct bz_err *err)
{
    size_t i, left = (size_t)(l->end - l->at);

    for (i = 0; i < BZ_COUNTOF(signs); i++) {
        if (*signs[i].sign != *l->at || signs[i].n > left ||
            memcmp(signs[i].sign, l->at, signs[i].n) != 0)
            continue;
        /* What is named in a field ends at its colon: {x:=5} has the format "=5". */
        if (signs[i].tok == BZ_PY_TOK_WALRUS && in_field(l))
            continue;
        break;
    }
    if (i == BZ_COUNTOF(signs) || (signs[i].tok == BZ_PY_TOK_BANG && !in_field(l)))
        return fail(l, err, "invalid syntax");
    l->tok = signs[i].tok;
    l->text = bz_str_of(l->at, signs[i].n);
    l->at += signs[i].n;
    switch (l->tok) {
    case BZ_PY_TOK_OPEN:
    case BZ_PY_TOK_OPEN_LIST:
    case BZ_PY_TOK_OPEN_DICT:
        return open_bracket(l, *l->text.p, err);
    case BZ_PY_TOK_CLOSE:
    case BZ_PY_TOK_CLOSE_LIST:
    case BZ_PY_TOK_CLOSE_DICT:
        return close_bracket(l, *l->text.p, err);
    default:
        return 0;
    }
}

/* ---- lines ---- */

/* Takes a backslash and the end of its line, which must be there and not the last. */
static int join_line(struct bz_py_lex *l, struct bz_err *err)
{
    if (peek(l, 1) != '\n')
        return fail(l, err, "unexpected character after line continuation character");
    l->at += 2;
    if (l->at == l->end)
        return fail(l, err, "unexpected end of the text");
    return 0;
}

static void skip_comment(struct bz_py_lex *l)
{
    const char *nl;

    if (peek(l, 0) != '#')
        return;
    nl = memchr(l->at, '\n', (size_t)(l->end - l->at));
    l->at = nl ? nl : l->end;
}

/* Measures what stands before the first token of a line. The column of the first joined
 * line counts for all. */
static int measure(struct bz_py_lex *l, struct bz_py_indent *in, struct bz_err *err)
{
    struct bz_py_indent joined = {0};
    int rc;

    *in = joined;
    for (;; l->at++) {
        switch (peek(l, 0)) {
        case ' ':
            in->column++;
            in->other++;
            continue;
        case '\t':
            in->column = (in->column / 8 + 1) * 8;
            in->other++;
            continue;
        case '\f':
            *in = (struct bz_py_indent){0};
            continue;
        case '\\':
            if (joined.column == 0)
                joined = *in;
            rc = join_line(l, err);
            if (rc < 0)
                return rc;
            l->at--;
            continue;
        default:
            break;
        }
        break;
    }
    if (joined.column > 0)
        *in = joined;
    return 0;
}

/* Compares a line's indentation with those that are open. */
static int indent(struct bz_py_lex *l, struct bz_py_indent in, struct bz_err *err)
{
    static const char mixed[] = "inconsistent use of tabs and spaces in indentation";
    const struct bz_py_indent *top = &l->indents[l->nindents];

    if (in.column == top->column)
        return in.other == top->other ? 0 : fail(l, err, mixed);
    if (in.column > top->column) {
        if (l->nindents + 1 == BZ_PY_LEX_INDENTS)
            return fail(l, err, "too many levels of indentation");
        if (in.other <= top->other)
            return fail(l, err, mixed);
        l->indents[++l->nindents] = in;
        l->pending = 1;
        return 0;
    }
    while (l->nindents > 0 && in.column < l->indents[l->nindents].column) {
        l->nindents--;
        l->pending--;
    }
    top = &l->indents[l->nindents];
    if (in.column != top->column)
        return fail(l, err, "unindent does not match any outer indentation level");
    return in.other == top->other ? 0 : fail(l, err, mixed);
}

/* Goes to the first token of the next line that has one. */
static int start_line(struct bz_py_lex *l, struct bz_err *err)
{
    struct bz_py_indent in;
    int rc;

    for (;;) {
        rc = measure(l, &in, err);
        if (rc < 0)
            return rc;
        skip_comment(l);
        if (peek(l, 0) != '\n' || l->at == l->end)
            break;
        l->at++;
    }
    l->fresh = false;
    if (l->at == l->end)
        in = (struct bz_py_indent){0};
    return indent(l, in, err);
}

/* Skips what separates tokens of a line. In brackets that is the end of a line, too. */
static int skip_space(struct bz_py_lex *l, struct bz_err *err)
{
    for (;;) {
        char c = peek(l, 0);
        int rc;

        if (c == ' ' || c == '\t' || c == '\f' || (c == '\n' && l->nbrackets > 0)) {
            l->at++;
        } else if (c == '#') {
            skip_comment(l);
        } else if (c == '\\') {
            rc = join_line(l, err);
            if (rc < 0)
                return rc;
        } else {
            return 0;
        }
    }
}

static int structure(struct bz_py_lex *l, enum bz_py_tok tok)
{
    l->tok = tok;
    l->from = l->at;
    l->text = bz_str_of(l->at, 0);
    return 0;
}

/* The last line may do without its end. */
static int read_end(struct bz_py_lex *l, struct bz_err *err)
{
    if (l->nbrackets > 0)
        return fail(l, err, "a bracket was never closed");
    if (l->tok != BZ_PY_TOK_NEWLINE && l->tok != BZ_PY_TOK_DEDENT &&
        l->tok != BZ_PY_TOK_END) {
        l->fresh = true;
        return structure(l, BZ_PY_TOK_NEWLINE);
    }
    return structure(l, BZ_PY_TOK_END);
}

static int read_token(struct bz_py_lex *l, struct bz_err *err)
{
    char c = *l->at;

    l->from = l->at;
    l->quote = (struct bz_py_quote){0};
    if (bz_py_letter_is_digit(c) || (c == '.' && bz_py_letter_is_digit(peek(l, 1))))
        return read_number(l, err);
    if (bz_py_letter_is_name(c))
        return read_word(l, err);
    if (c == '\'' || c == '"')
        return open_string(l, false, err);
    return read_sign(l, err);
}

int bz_py_lex_next(struct bz_py_lex *l, struct bz_err *err)
{
    int rc;

    l->before = l->at;
    if (l->fresh && l->nbrackets == 0) {
        rc = start_line(l, err);
        if (rc < 0)
            return rc;
    }
    if (l->pending != 0) {
        enum bz_py_tok tok = l->pending > 0 ? BZ_PY_TOK_INDENT : BZ_PY_TOK_DEDENT;

        l->pending += l->pending > 0 ? -1 : 1;
        return structure(l, tok);
    }
    rc = skip_space(l, err);
    if (rc < 0)
        return rc;
    if (l->at == l->end)
        return read_end(l, err);
    if (*l->at == '\n') {
        l->at++;
        l->fresh = true;
        return structure(l, BZ_PY_TOK_NEWLINE);
    }
    return read_token(l, err);
}

/* ---- f-strings ---- */

/* Whether \N{ is at p: these braces are no field. */
static bool is_named(const char *p, const char *end)
{
    return end - p >= 3 && p[1] == 'N' && p[2] == '{';
}

static bool closes(const struct bz_py_lex *l, const char *p, struct bz_py_quote q)
{
    return *p == q.quote &&
           (!q.triple || (l->end - p >= 3 && p[1] == q.quote && p[2] == q.quote));
}

/* How many bytes of the piece are at p; 0 if it ends there, BZ_STR_NONE if it must not
 * go on like that. */
static size_t step(const struct bz_py_lex *l, const char *p, struct bz_py_quote q,
                   bool format)
{
    bool more = l->end - p > 1;

    if (*p == '\n' && !q.triple)
        return BZ_STR_NONE;
    if (*p == '\\' && !q.raw && is_named(p, l->end)) {
        const char *end = memchr(p, '}', (size_t)(l->end - p));

        return end ? (size_t)(end - p) + 1 : BZ_STR_NONE;
    }
    if (*p == '\\' && more && p[1] != '{' && p[1] != '}')
        return 2;
    if (*p == '{' || *p == '}') {
        if (more && p[1] == *p && !format)
            return 2;
        return *p == '}' && !format ? BZ_STR_NONE : 0;
    }
    return closes(l, p, q) ? 0 : 1;
}

int bz_py_lex_piece(struct bz_py_lex *l, struct bz_py_quote q, bool format,
                    struct bz_str *piece, struct bz_err *err)
{
    const char *p = l->at;

    while (p < l->end) {
        size_t n = step(l, p, q, format);

        if (n == BZ_STR_NONE)
            return fail(l, err,
                        *p == '}' ? "f-string: single '}' is not allowed"
                                  : "unterminated string literal");
        if (n == 0) {
            *piece = bz_str_of(l->at, (size_t)(p - l->at));
            l->at = p;
            return 0;
        }
        p += n;
    }
    return fail(l, err,
                q.triple ? "unterminated triple-quoted string literal"
                         : "unterminated string literal");
}

int bz_py_lex_enter_field(struct bz_py_lex *l, uint16_t *outer, struct bz_err *err)
{
    int rc = open_bracket(l, '{', err);

    if (rc < 0)
        return rc;
    l->at++;
    *outer = l->field;
    l->field = l->nbrackets;
    return 0;
}

void bz_py_lex_leave_field(struct bz_py_lex *l, uint16_t outer)
{
    l->field = outer;
}

void bz_py_lex_close_field(struct bz_py_lex *l)
{
    l->at++;
    l->nbrackets--;
}
