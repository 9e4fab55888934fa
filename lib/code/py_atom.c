#include "code/py_atom.h"

#include "code/py_expr.h"
#include "code/py_fstring.h"

/* An element of a list in brackets. */
static struct bz_py_node *element(struct bz_py_parser *p)
{
    return bz_py_parse_at(p, BZ_PY_TOK_STAR) ? bz_py_expr_starred(p)
                                             : bz_py_expr_named(p);
}

/* What comes after the first element: more of them, or loops. *comma: there was one. */
static bool elements(struct bz_py_parser *p, struct bz_py_node *to, enum bz_py_tok end,
                     bool *comma)
{
    struct bz_py_node *n = element(p);

    *comma = false;
    if (!n)
        return false;
    bz_py_node_add(to, n);
    if (n->kind != BZ_PY_NODE_STARRED && bz_py_expr_at_loop(p)) {
        to->kind = BZ_PY_NODE_OTHER;
        return bz_py_expr_add_loops(p, to) && bz_py_parse_expect(p, end);
    }
    while (bz_py_parse_at(p, BZ_PY_TOK_COMMA)) {
        *comma = true;
        if (!bz_py_parse_next(p))
            return false;
        if (bz_py_parse_at(p, end))
            break;
        n = element(p);
        if (!n)
            return false;
        bz_py_node_add(to, n);
    }
    return bz_py_parse_expect(p, end);
}

/* A tuple, a generator, or an expression that is in parentheses. */
static struct bz_py_node *parentheses(struct bz_py_parser *p)
{
    struct bz_py_node *n = bz_py_parse_node(p, BZ_PY_NODE_TUPLE);
    bool comma;

    n->group = true;
    if (!bz_py_parse_next(p))
        return NULL;
    if (bz_py_parse_at(p, BZ_PY_TOK_CLOSE))
        return bz_py_parse_next(p) ? n : NULL;
    if (bz_py_parse_at(p, BZ_PY_TOK_YIELD)) {
        n = bz_py_expr_yield_or_list(p);
        return n && bz_py_parse_expect(p, BZ_PY_TOK_CLOSE) ? n : NULL;
    }
    if (!elements(p, n, BZ_PY_TOK_CLOSE, &comma))
        return NULL;
    if (n->kind == BZ_PY_NODE_OTHER || comma)
        return n;
    if (n->first->kind == BZ_PY_NODE_STARRED)
        return bz_py_parse_refuse(p, "cannot use starred expression here");
    n->first->group = true;
    return n->first;
}

static struct bz_py_node *list(struct bz_py_parser *p)
{
    struct bz_py_node *n = bz_py_parse_node(p, BZ_PY_NODE_LIST);
    bool comma;

    if (!bz_py_parse_next(p))
        return NULL;
    if (bz_py_parse_at(p, BZ_PY_TOK_CLOSE_LIST))
        return bz_py_parse_next(p) ? n : NULL;
    return elements(p, n, BZ_PY_TOK_CLOSE_LIST, &comma) ? n : NULL;
}

/* A pair of a dictionary whose key is known, if it has one. */
static bool pair(struct bz_py_parser *p, struct bz_py_node *key,
                 struct bz_py_nodes *keys, struct bz_py_nodes *values)
{
    struct bz_py_node *value;

    if (key) {
        bz_py_node_push(keys, key);
        value =
            bz_py_parse_expect(p, BZ_PY_TOK_COLON) ? bz_py_expr_expression(p) : NULL;
    } else { /* **more */
        value = bz_py_parse_next(p) ? bz_py_expr_bitwise(p) : NULL;
    }
    bz_py_node_push(values, value);
    return value != NULL;
}

/* Behind the first key, or at the first `**`. */
static struct bz_py_node *dictionary(struct bz_py_parser *p, struct bz_py_node *key)
{
    struct bz_py_node *n = bz_py_parse_node(p, BZ_PY_NODE_OTHER);
    struct bz_py_nodes keys = {0}, values = {0};

    if (!pair(p, key, &keys, &values))
        return NULL;
    if (key && bz_py_expr_at_loop(p)) {
        bz_py_node_add_all(n, keys);
        bz_py_node_add_all(n, values);
        return bz_py_expr_add_loops(p, n) && bz_py_parse_expect(p, BZ_PY_TOK_CLOSE_DICT)
                   ? n
                   : NULL;
    }
    while (bz_py_parse_at(p, BZ_PY_TOK_COMMA)) {
        if (!bz_py_parse_next(p))
            return NULL;
        if (bz_py_parse_at(p, BZ_PY_TOK_CLOSE_DICT))
            break;
        key = NULL;
        if (!bz_py_parse_at(p, BZ_PY_TOK_POWER)) {
            key = bz_py_expr_expression(p);
            if (!key)
                return NULL;
        }
        if (!pair(p, key, &keys, &values))
            return NULL;
    }
    bz_py_node_add_all(n, keys);
    bz_py_node_add_all(n, values);
    return bz_py_parse_expect(p, BZ_PY_TOK_CLOSE_DICT) ? n : NULL;
}

/* The elements of a set behind the first one. */
static struct bz_py_node *set(struct bz_py_parser *p, struct bz_py_node *first)
{
    struct bz_py_node *n = bz_py_parse_node(p, BZ_PY_NODE_OTHER);

    bz_py_node_add(n, first);
    if (first->kind != BZ_PY_NODE_STARRED && bz_py_expr_at_loop(p))
        return bz_py_expr_add_loops(p, n) && bz_py_parse_expect(p, BZ_PY_TOK_CLOSE_DICT)
                   ? n
                   : NULL;
    while (bz_py_parse_at(p, BZ_PY_TOK_COMMA)) {
        struct bz_py_node *next;

        if (!bz_py_parse_next(p))
            return NULL;
        if (bz_py_parse_at(p, BZ_PY_TOK_CLOSE_DICT))
            break;
        next = element(p);
        if (!next)
            return NULL;
        bz_py_node_add(n, next);
    }
    return bz_py_parse_expect(p, BZ_PY_TOK_CLOSE_DICT) ? n : NULL;
}

static struct bz_py_node *braces(struct bz_py_parser *p)
{
    struct bz_py_node *first;

    if (!bz_py_parse_next(p))
        return NULL;
    if (bz_py_parse_at(p, BZ_PY_TOK_CLOSE_DICT))
        return bz_py_parse_next(p) ? bz_py_parse_node(p, BZ_PY_NODE_OTHER) : NULL;
    if (bz_py_parse_at(p, BZ_PY_TOK_POWER))
        return dictionary(p, NULL);
    first = element(p);
    if (!first)
        return NULL;
    if (first->kind != BZ_PY_NODE_STARRED && bz_py_parse_at(p, BZ_PY_TOK_COLON))
        return dictionary(p, first);
    return set(p, first);
}

static struct bz_py_node *leaf(struct bz_py_parser *p, enum bz_py_node_kind kind)
{
    struct bz_py_node *n = bz_py_parse_node(p, kind);

    n->text = p->lex.text;
    return bz_py_parse_next(p) ? n : NULL;
}

struct bz_py_node *bz_py_atom(struct bz_py_parser *p)
{
    switch (p->lex.tok) {
    case BZ_PY_TOK_NAME:
        return leaf(p, BZ_PY_NODE_NAME);
    case BZ_PY_TOK_NUMBER:
        return leaf(p, BZ_PY_NODE_NUMBER);
    case BZ_PY_TOK_NONE:
        return leaf(p, BZ_PY_NODE_NONE);
    case BZ_PY_TOK_TRUE:
        return leaf(p, BZ_PY_NODE_TRUE);
    case BZ_PY_TOK_FALSE:
        return leaf(p, BZ_PY_NODE_FALSE);
    case BZ_PY_TOK_ELLIPSIS:
        return leaf(p, BZ_PY_NODE_ELLIPSIS);
    case BZ_PY_TOK_STRING:
    case BZ_PY_TOK_FSTRING:
        return bz_py_fstring_join(p);
    case BZ_PY_TOK_OPEN:
        return parentheses(p);
    case BZ_PY_TOK_OPEN_LIST:
        return list(p);
    case BZ_PY_TOK_OPEN_DICT:
        return braces(p);
    default:
        return bz_py_parse_unexpected(p);
    }
}
