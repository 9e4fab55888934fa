#include "code/py_simple.h"

#include "code/py_expr.h"

static struct bz_py_node *above(struct bz_py_parser *p, struct bz_py_node *child)
{
    struct bz_py_node *n = bz_py_parse_node(p, BZ_PY_NODE_OTHER);

    bz_py_node_add(n, child);
    return n;
}

static bool at_end(const struct bz_py_parser *p)
{
    return bz_py_parse_at(p, BZ_PY_TOK_NEWLINE) ||
           bz_py_parse_at(p, BZ_PY_TOK_SEMICOLON) || bz_py_parse_at(p, BZ_PY_TOK_END);
}

/* ---- expressions and assignments ---- */

/* NAME: type [= value] */
static struct bz_py_node *annotation(struct bz_py_parser *p, struct bz_py_node *target)
{
    struct bz_py_node *n = above(p, target), *part;

    if (!bz_py_node_is_target(target, true))
        return bz_py_parse_refuse(p, "only a single target can be annotated");
    part = bz_py_parse_next(p) ? bz_py_expr_expression(p) : NULL;
    if (!part)
        return NULL;
    bz_py_node_add(n, part);
    if (!bz_py_parse_at(p, BZ_PY_TOK_ASSIGN))
        return n;
    part = bz_py_parse_next(p) ? bz_py_expr_yield_or_list(p) : NULL;
    bz_py_node_add(n, part);
    return part ? n : NULL;
}

static struct bz_py_node *augmented(struct bz_py_parser *p, struct bz_py_node *target)
{
    struct bz_py_node *n = above(p, target), *value;

    if (!bz_py_node_is_target(target, true))
        return bz_py_parse_refuse(p, "an illegal expression for augmented assignment");
    value = bz_py_parse_next(p) ? bz_py_expr_yield_or_list(p) : NULL;
    bz_py_node_add(n, value);
    return value ? n : NULL;
}

/* a = b = value, behind a. */
static struct bz_py_node *assignment(struct bz_py_parser *p, struct bz_py_node *first)
{
    struct bz_py_node *n = bz_py_parse_node(p, BZ_PY_NODE_ASSIGN), *last = first;

    bz_py_node_add(n, first);
    while (bz_py_parse_at(p, BZ_PY_TOK_ASSIGN)) {
        if (!bz_py_node_is_target(last, false))
            return bz_py_parse_refuse(p, "cannot assign to what stands here");
        last = bz_py_parse_next(p) ? bz_py_expr_yield_or_list(p) : NULL;
        if (!last)
            return NULL;
        bz_py_node_add(n, last);
    }
    return n;
}

static struct bz_py_node *expression(struct bz_py_parser *p)
{
    struct bz_py_node *n = bz_py_expr_yield_or_list(p);

    if (!n)
        return NULL;
    switch (p->lex.tok) {
    case BZ_PY_TOK_COLON:
        return annotation(p, n);
    case BZ_PY_TOK_AUGMENT:
        return augmented(p, n);
    case BZ_PY_TOK_ASSIGN:
        return assignment(p, n);
    default:
        return above(p, n);
    }
}

/* ---- statements that begin with a word ---- */

/* WORD [list] */
static struct bz_py_node *returned(struct bz_py_parser *p)
{
    struct bz_py_node *value = NULL;

    if (!bz_py_parse_next(p))
        return NULL;
    if (!at_end(p)) {
        value = bz_py_expr_star_list(p);
        if (!value)
            return NULL;
    }
    return above(p, value);
}

/* raise [x [from y]] and assert x[, y] */
static struct bz_py_node *up_to_two(struct bz_py_parser *p, enum bz_py_tok between)
{
    struct bz_py_node *n = bz_py_parse_node(p, BZ_PY_NODE_OTHER), *part;

    part = bz_py_expr_expression(p);
    bz_py_node_add(n, part);
    if (!part || !bz_py_parse_at(p, between))
        return part ? n : NULL;
    part = bz_py_parse_next(p) ? bz_py_expr_expression(p) : NULL;
    bz_py_node_add(n, part);
    return part ? n : NULL;
}

static struct bz_py_node *raised(struct bz_py_parser *p)
{
    if (!bz_py_parse_next(p))
        return NULL;
    return at_end(p) ? above(p, NULL) : up_to_two(p, BZ_PY_TOK_FROM);
}

static struct bz_py_node *asserted(struct bz_py_parser *p)
{
    return bz_py_parse_next(p) ? up_to_two(p, BZ_PY_TOK_COMMA) : NULL;
}

static bool is_deletable(const struct bz_py_node *n)
{
    const struct bz_py_node *child;

    if (n->kind == BZ_PY_NODE_STARRED)
        return false;
    if (n->kind == BZ_PY_NODE_TUPLE || n->kind == BZ_PY_NODE_LIST)
        for (child = n->first; child; child = child->next)
            if (!is_deletable(child))
                return false;
    return bz_py_node_is_target(n, false);
}

static struct bz_py_node *deleted(struct bz_py_parser *p)
{
    struct bz_py_node *n = bz_py_parse_next(p) ? bz_py_expr_targets(p) : NULL;

    if (n && !is_deletable(n))
        return bz_py_parse_refuse(p, "cannot delete starred");
    if (!n)
        return NULL;
    /* del a, b has a list of targets, del (a, b) one that is a tuple. */
    if (n->kind == BZ_PY_NODE_TUPLE && !n->group)
        n->kind = BZ_PY_NODE_OTHER;
    else
        n = above(p, n);
    return n;
}

static struct bz_py_node *declared(struct bz_py_parser *p)
{
    do {
        if (!bz_py_parse_next(p) || !bz_py_parse_expect(p, BZ_PY_TOK_NAME))
            return NULL;
    } while (bz_py_parse_at(p, BZ_PY_TOK_COMMA));
    return above(p, NULL);
}

static struct bz_py_node *passed(struct bz_py_parser *p)
{
    return bz_py_parse_next(p) ? above(p, NULL) : NULL;
}

/* ---- imports ---- */

static bool dotted(struct bz_py_parser *p)
{
    if (!bz_py_parse_expect(p, BZ_PY_TOK_NAME))
        return false;
    while (bz_py_parse_at(p, BZ_PY_TOK_DOT))
        if (!bz_py_parse_next(p) || !bz_py_parse_expect(p, BZ_PY_TOK_NAME))
            return false;
    return true;
}

static bool renamed(struct bz_py_parser *p)
{
    return !bz_py_parse_at(p, BZ_PY_TOK_AS) ||
           (bz_py_parse_next(p) && bz_py_parse_expect(p, BZ_PY_TOK_NAME));
}

static struct bz_py_node *imported(struct bz_py_parser *p)
{
    do {
        if (!bz_py_parse_next(p) || !dotted(p) || !renamed(p))
            return NULL;
    } while (bz_py_parse_at(p, BZ_PY_TOK_COMMA));
    return above(p, NULL);
}

/* The names behind `import`, in parentheses or not. */
static bool chosen(struct bz_py_parser *p)
{
    bool brackets = bz_py_parse_at(p, BZ_PY_TOK_OPEN);

    if (bz_py_parse_at(p, BZ_PY_TOK_STAR))
        return bz_py_parse_next(p);
    if (brackets && !bz_py_parse_next(p))
        return false;
    for (;;) {
        if (!bz_py_parse_expect(p, BZ_PY_TOK_NAME) || !renamed(p))
            return false;
        if (!bz_py_parse_at(p, BZ_PY_TOK_COMMA))
            break;
        if (!bz_py_parse_next(p))
            return false;
        if (brackets && bz_py_parse_at(p, BZ_PY_TOK_CLOSE))
            break;
    }
    return !brackets || bz_py_parse_expect(p, BZ_PY_TOK_CLOSE);
}

static struct bz_py_node *imported_from(struct bz_py_parser *p)
{
    bool dots = false;

    if (!bz_py_parse_next(p))
        return NULL;
    while (bz_py_parse_at(p, BZ_PY_TOK_DOT) || bz_py_parse_at(p, BZ_PY_TOK_ELLIPSIS)) {
        dots = true;
        if (!bz_py_parse_next(p))
            return NULL;
    }
    if (!(dots && bz_py_parse_at(p, BZ_PY_TOK_IMPORT)) && !dotted(p))
        return NULL;
    return bz_py_parse_expect(p, BZ_PY_TOK_IMPORT) && chosen(p) ? above(p, NULL) : NULL;
}

/* ---- lines ---- */

static struct bz_py_node *statement(struct bz_py_parser *p)
{
    switch (p->lex.tok) {
    case BZ_PY_TOK_RETURN:
        return returned(p);
    case BZ_PY_TOK_RAISE:
        return raised(p);
    case BZ_PY_TOK_ASSERT:
        return asserted(p);
    case BZ_PY_TOK_DEL:
        return deleted(p);
    case BZ_PY_TOK_GLOBAL:
        return declared(p);
    case BZ_PY_TOK_PASS:
        return passed(p);
    case BZ_PY_TOK_IMPORT:
        return imported(p);
    case BZ_PY_TOK_FROM:
        return imported_from(p);
    default:
        return expression(p);
    }
}

bool bz_py_simple_line(struct bz_py_parser *p, struct bz_py_node *to)
{
    for (;;) {
        struct bz_py_node *n = statement(p);

        if (!n)
            return false;
        bz_py_node_add(to, n);
        if (!bz_py_parse_at(p, BZ_PY_TOK_SEMICOLON))
            break;
        if (!bz_py_parse_next(p))
            return false;
        if (bz_py_parse_at(p, BZ_PY_TOK_NEWLINE))
            break;
    }
    return bz_py_parse_expect(p, BZ_PY_TOK_NEWLINE);
}
