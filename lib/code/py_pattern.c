#include "code/py_pattern.h"

#include "code/py_expr.h"
#include "code/py_fstring.h"

static struct bz_py_node *pattern(struct bz_py_parser *p);

static struct bz_py_node *new_node(struct bz_py_parser *p)
{
    return bz_py_parse_node(p, BZ_PY_NODE_OTHER);
}

static struct bz_py_node *starred_or_named(struct bz_py_parser *p)
{
    return bz_py_parse_at(p, BZ_PY_TOK_STAR) ? bz_py_expr_starred(p)
                                             : bz_py_expr_named(p);
}

struct bz_py_node *bz_py_pattern_subject(struct bz_py_parser *p)
{
    struct bz_py_node *n = starred_or_named(p), *tuple;

    if (!n)
        return NULL;
    if (!bz_py_parse_at(p, BZ_PY_TOK_COMMA))
        return n->kind == BZ_PY_NODE_STARRED ? bz_py_parse_unexpected(p) : n;
    tuple = bz_py_parse_node(p, BZ_PY_NODE_TUPLE);
    bz_py_node_add(tuple, n);
    while (bz_py_parse_at(p, BZ_PY_TOK_COMMA)) {
        if (!bz_py_parse_next(p))
            return NULL;
        if (bz_py_parse_at(p, BZ_PY_TOK_COLON))
            break;
        n = starred_or_named(p);
        if (!n)
            return NULL;
        bz_py_node_add(tuple, n);
    }
    return tuple;
}

/* ---- patterns ---- */

/* Whether the number at hand is imaginary. */
static bool is_imaginary(const struct bz_py_parser *p)
{
    return p->lex.text.n > 0 && (p->lex.text.p[p->lex.text.n - 1] | 0x20) == 'j';
}

/* [-]NUMBER [(+|-) NUMBER], the second one being imaginary and the first not. */
static struct bz_py_node *number(struct bz_py_parser *p)
{
    bool imaginary;

    if (bz_py_parse_at(p, BZ_PY_TOK_MINUS) && !bz_py_parse_next(p))
        return NULL;
    imaginary = is_imaginary(p);
    if (!bz_py_parse_expect(p, BZ_PY_TOK_NUMBER))
        return NULL;
    if (!bz_py_parse_at(p, BZ_PY_TOK_PLUS) && !bz_py_parse_at(p, BZ_PY_TOK_MINUS))
        return new_node(p);
    if (!bz_py_parse_next(p))
        return NULL;
    if (imaginary || !is_imaginary(p))
        return bz_py_parse_unexpected(p);
    return bz_py_parse_expect(p, BZ_PY_TOK_NUMBER) ? new_node(p) : NULL;
}

static struct bz_py_node *star(struct bz_py_parser *p)
{
    return bz_py_parse_next(p) && bz_py_parse_expect(p, BZ_PY_TOK_NAME) ? new_node(p)
                                                                        : NULL;
}

static struct bz_py_node *star_or_pattern(struct bz_py_parser *p)
{
    return bz_py_parse_at(p, BZ_PY_TOK_STAR) ? star(p) : pattern(p);
}

/* Patterns with commas between them, in brackets of either kind. In parentheses without
 * a comma it is just one, which has no star. */
static struct bz_py_node *sequence(struct bz_py_parser *p, enum bz_py_tok end)
{
    struct bz_py_node *n = new_node(p), *part;
    bool star_alone = false;

    if (!bz_py_parse_next(p))
        return NULL;
    while (!bz_py_parse_at(p, end)) {
        star_alone =
            !n->first && end == BZ_PY_TOK_CLOSE && bz_py_parse_at(p, BZ_PY_TOK_STAR);
        part = star_or_pattern(p);
        if (!part)
            return NULL;
        bz_py_node_add(n, part);
        if (!bz_py_parse_at(p, BZ_PY_TOK_COMMA))
            break;
        star_alone = false;
        if (!bz_py_parse_next(p))
            return NULL;
    }
    if (star_alone)
        return bz_py_parse_unexpected(p);
    return bz_py_parse_expect(p, end) ? n : NULL;
}

static bool dotted(struct bz_py_parser *p)
{
    while (bz_py_parse_at(p, BZ_PY_TOK_DOT))
        if (!bz_py_parse_next(p) || !bz_py_parse_expect(p, BZ_PY_TOK_NAME))
            return false;
    return true;
}

/* The arguments of NAME(pattern, name=pattern). */
static bool arguments(struct bz_py_parser *p, struct bz_py_node *to)
{
    bool named = false;

    if (!bz_py_parse_next(p))
        return false;
    while (!bz_py_parse_at(p, BZ_PY_TOK_CLOSE)) {
        bool name = bz_py_parse_at(p, BZ_PY_TOK_NAME);
        const char *end = p->lex.at;
        struct bz_py_node *n = pattern(p);

        if (n && name && p->lex.before == end && bz_py_parse_at(p, BZ_PY_TOK_ASSIGN)) {
            named = true;
            n = bz_py_parse_next(p) ? pattern(p) : NULL;
        } else if (n && named) {
            n = bz_py_parse_refuse(p, "positional patterns follow keyword patterns");
        }
        if (!n)
            return false;
        bz_py_node_add(to, n);
        if (!bz_py_parse_at(p, BZ_PY_TOK_COMMA))
            break;
        if (!bz_py_parse_next(p))
            return false;
    }
    return bz_py_parse_expect(p, BZ_PY_TOK_CLOSE);
}

/* A name to capture, a value by its name, or a class. */
static struct bz_py_node *named(struct bz_py_parser *p)
{
    struct bz_py_node *n = new_node(p);

    if (!bz_py_parse_next(p) || !dotted(p))
        return NULL;
    if (bz_py_parse_at(p, BZ_PY_TOK_OPEN) && !arguments(p, n))
        return NULL;
    return n;
}

static struct bz_py_node *literal(struct bz_py_parser *p)
{
    switch (p->lex.tok) {
    case BZ_PY_TOK_STRING:
    case BZ_PY_TOK_FSTRING:
        return bz_py_fstring_join(p);
    case BZ_PY_TOK_NONE:
    case BZ_PY_TOK_TRUE:
    case BZ_PY_TOK_FALSE:
        return bz_py_parse_next(p) ? new_node(p) : NULL;
    default:
        return number(p);
    }
}

static bool mapping_key(struct bz_py_parser *p, struct bz_py_node *to)
{
    struct bz_py_node *key = NULL;

    if (bz_py_parse_at(p, BZ_PY_TOK_NAME)) {
        if (!bz_py_parse_next(p))
            return false;
        if (bz_py_parse_at(p, BZ_PY_TOK_DOT))
            return dotted(p);
        bz_py_parse_unexpected(p);
        return false;
    }
    key = literal(p);
    bz_py_node_add(to, key);
    return key != NULL;
}

static struct bz_py_node *mapping(struct bz_py_parser *p)
{
    struct bz_py_node *n = new_node(p), *value;

    if (!bz_py_parse_next(p))
        return NULL;
    while (!bz_py_parse_at(p, BZ_PY_TOK_CLOSE_DICT)) {
        bool last = bz_py_parse_at(p, BZ_PY_TOK_POWER);

        if (last)
            value = star(p);
        else if (mapping_key(p, n) && bz_py_parse_expect(p, BZ_PY_TOK_COLON))
            value = pattern(p);
        else
            value = NULL;
        if (!value)
            return NULL;
        bz_py_node_add(n, value);
        if (!bz_py_parse_at(p, BZ_PY_TOK_COMMA))
            break;
        if (!bz_py_parse_next(p))
            return NULL;
        if (last)
            break;
    }
    return bz_py_parse_expect(p, BZ_PY_TOK_CLOSE_DICT) ? n : NULL;
}

static struct bz_py_node *closed(struct bz_py_parser *p)
{
    switch (p->lex.tok) {
    case BZ_PY_TOK_NAME:
        return named(p);
    case BZ_PY_TOK_OPEN:
        return sequence(p, BZ_PY_TOK_CLOSE);
    case BZ_PY_TOK_OPEN_LIST:
        return sequence(p, BZ_PY_TOK_CLOSE_LIST);
    case BZ_PY_TOK_OPEN_DICT:
        return mapping(p);
    default:
        return literal(p);
    }
}

/* The name behind `as`, which is not the one that matches anything. */
static bool capture(struct bz_py_parser *p)
{
    if (bz_str_eq(p->lex.text, BZ_STR("_"))) {
        bz_py_parse_refuse(p, "cannot use '_' as a target");
        return false;
    }
    return bz_py_parse_expect(p, BZ_PY_TOK_NAME);
}

/* a | b as NAME */
static struct bz_py_node *pattern(struct bz_py_parser *p)
{
    struct bz_py_node *n, *more;

    if (!bz_py_parse_enter(p))
        return NULL;
    n = closed(p);
    while (n && bz_py_parse_at(p, BZ_PY_TOK_BAR)) {
        more = bz_py_parse_next(p) ? closed(p) : NULL;
        bz_py_node_add(n, more);
        n = more ? n : NULL;
    }
    if (n && bz_py_parse_at(p, BZ_PY_TOK_AS))
        n = bz_py_parse_next(p) && capture(p) ? n : NULL;
    p->depth--;
    return n;
}

struct bz_py_node *bz_py_pattern_list(struct bz_py_parser *p)
{
    struct bz_py_node *n = new_node(p), *part;

    for (;;) {
        bool alone = !n->first && bz_py_parse_at(p, BZ_PY_TOK_STAR);

        part = star_or_pattern(p);
        if (!part)
            return NULL;
        bz_py_node_add(n, part);
        if (!bz_py_parse_at(p, BZ_PY_TOK_COMMA))
            return alone ? bz_py_parse_unexpected(p) : n;
        if (!bz_py_parse_next(p))
            return NULL;
        if (bz_py_parse_at(p, BZ_PY_TOK_COLON) || bz_py_parse_at(p, BZ_PY_TOK_IF))
            return n;
    }
}
