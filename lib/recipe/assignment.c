#include "recipe/assignment.h"

#include <string.h>

#include "recipe/lex.h"

enum {
    EVERY = BZ_ASSIGNMENT_NAME | BZ_ASSIGNMENT_FLAG | BZ_ASSIGNMENT_PLAIN_NAME |
            BZ_ASSIGNMENT_PLAIN_FLAG | BZ_ASSIGNMENT_FLAG_START,
    NAMES = BZ_ASSIGNMENT_NAME | BZ_ASSIGNMENT_PLAIN_NAME,
};

/* The letters and digits are in every class. */
static const uint8_t classes[256] = {
    ['0' ... '9'] = EVERY,
    ['A' ... 'Z'] = EVERY,
    ['a' ... 'z'] = EVERY,
    ['-'] = EVERY,
    ['_'] = EVERY,
    ['+'] = EVERY,
    ['.'] = EVERY,
    ['$'] = NAMES,
    ['{'] = NAMES,
    ['}'] = NAMES,
    ['~'] = NAMES,
    ['/'] = NAMES | BZ_ASSIGNMENT_FLAG,
    [':'] = BZ_ASSIGNMENT_NAME,
    ['@'] = BZ_ASSIGNMENT_FLAG | BZ_ASSIGNMENT_PLAIN_FLAG,
};

/* The longest first among those that begin alike. */
static const struct {
    struct bz_str text;
    enum bz_ast_op op;
} operators[] = {
    {{"=+", 2},   BZ_AST_PREPEND},
    {{"=.", 2},   BZ_AST_PREDOT },
    {{"=", 1},    BZ_AST_SET    },
    {{"?\?=", 3}, BZ_AST_WEAK   },
    {{"?=", 2},   BZ_AST_DEFAULT},
    {{":=", 2},   BZ_AST_NOW    },
    {{"+=", 2},   BZ_AST_APPEND },
    {{".=", 2},   BZ_AST_POSTDOT},
};

size_t bz_assignment_skip(struct bz_str s, size_t at, enum bz_assignment_class class)
{
    while (at < s.n && (classes[(unsigned char)s.p[at]] & class))
        at++;
    return at;
}

static bool stopped(struct bz_assignment_stop *stop, size_t at, const char *expected)
{
    *stop = (struct bz_assignment_stop){at, expected};
    return false;
}

/* NUL, which a line does not have, at the end. */
static unsigned char byte_at(struct bz_str s, size_t at)
{
    return at < s.n ? (unsigned char)s.p[at] : 0;
}

/* [flag] at *at, if there is one. */
static bool read_flag(struct bz_str s, size_t *at, struct bz_str *flag,
                      struct bz_assignment_stop *stop)
{
    size_t from = *at + 1, to;

    if (byte_at(s, *at) != '[')
        return true;
    if (!(classes[byte_at(s, from)] & BZ_ASSIGNMENT_FLAG_START))
        return stopped(stop, from, "the name of a flag");
    to = bz_assignment_skip(s, from, BZ_ASSIGNMENT_FLAG);
    if (byte_at(s, to) != ']')
        return stopped(stop, to, "']' after the name of the flag");
    *flag = bz_str_sub(s, from, to);
    *at = to + 1;
    return true;
}

/* The operator at *at. */
static bool read_operator(struct bz_str s, size_t *at, struct bz_assignment *a,
                          struct bz_assignment_stop *stop)
{
    struct bz_str rest = bz_str_sub(s, *at, s.n);

    a->op_at = *at;
    for (size_t i = 0; i < BZ_COUNTOF(operators); i++) {
        if (bz_str_starts(rest, operators[i].text)) {
            a->op = operators[i].op;
            *at += operators[i].text.n;
            return true;
        }
    }
    return stopped(stop, *at, "an operator: = ?= ?\?= := += =+ .= =.");
}

/* A name that runs into "=" may have swallowed the first half of :=, += or .=, since
 * names have these characters too. They belong to the operator, unless the "=" begins
 * one of its own: A+=+ "x" prepends to A+. */
static bool swallowed_operator(struct bz_str s, size_t name_at, size_t at)
{
    unsigned char next = byte_at(s, at + 1);

    return at > name_at && strchr(":+.", s.p[at - 1]) && byte_at(s, at) == '=' &&
           next != '+' && next != '.';
}

/* The rest of the line from `at` on: a quote, anything, and the same quote. Three of
 * them are refused, the likely mistake; four or more are not. */
static bool read_value(struct bz_str s, size_t at, struct bz_assignment *a,
                       struct bz_assignment_stop *stop)
{
    struct bz_str rest;
    size_t last, inner;
    char quote;

    if (byte_at(s, at) != '"' && byte_at(s, at) != '\'')
        return stopped(stop, at, "a value in quotes");
    quote = s.p[at];
    rest = bz_str_sub(s, at + 1, s.n);
    last = bz_str_rfind_byte(rest, quote);
    if (last == BZ_STR_NONE)
        return stopped(stop, at, "a quote at the end of the line to match this one");
    if (last + 1 != rest.n)
        return stopped(stop, at + 1 + last + 1, "the end of the line after the value");
    a->value = bz_str_sub(rest, 0, last);
    inner = bz_str_find_byte(a->value, quote);
    if (inner != BZ_STR_NONE &&
        bz_str_find_byte(bz_str_sub(a->value, inner + 1, last), quote) == BZ_STR_NONE)
        return stopped(stop, at + 1 + inner,
                       "no single quote of the kind that encloses the value");
    return true;
}

bool bz_assignment_read(struct bz_str line, struct bz_assignment *out,
                        struct bz_assignment_stop *stop)
{
    struct bz_assignment a = {0};
    size_t at = 0, name_at, gap;

    if (bz_str_starts(line, BZ_STR("export")) && bz_lex_space(line, 6)) {
        a.exported = true;
        at = bz_lex_skip(line, 6);
    }
    name_at = at;
    at = bz_assignment_skip(line, at, BZ_ASSIGNMENT_NAME);
    if (swallowed_operator(line, name_at, at))
        at--;
    a.name = bz_str_sub(line, name_at, at);
    if (!read_flag(line, &at, &a.flag, stop))
        return false;
    gap = at;
    at = bz_lex_skip(line, at);
    a.tight = at == gap;
    if (!read_operator(line, &at, &a, stop))
        return false;
    gap = at;
    at = bz_lex_skip(line, at);
    a.tight |= at == gap;
    if (!read_value(line, at, &a, stop))
        return false;
    *out = a;
    return true;
}
