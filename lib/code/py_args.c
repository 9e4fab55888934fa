#include "code/py_args.h"

#include "code/py_expr.h"

/* ---- of a call ---- */

struct call {
    struct bz_py_nodes args, keywords;
    bool named;  /* there was NAME=... */
    bool spread; /* there was **... */
    bool loop;   /* the one argument is a generator without parentheses */
};

static struct bz_py_node *keyword(struct bz_py_parser *p, struct bz_str name)
{
    struct bz_py_node *n = bz_py_parse_node(p, BZ_PY_NODE_KEYWORD), *value;

    value = bz_py_parse_next(p) ? bz_py_expr_expression(p) : NULL;
    n->text = name;
    bz_py_node_add(n, value);
    return value ? n : NULL;
}

static bool spread(struct bz_py_parser *p, struct call *c)
{
    struct bz_py_node *n = keyword(p, (struct bz_str){0});

    c->spread = true;
    bz_py_node_push(&c->keywords, n);
    return n != NULL;
}

/* An argument without a name, which keeps its place. */
static void push(struct bz_py_parser *p, struct call *c, struct bz_py_node *n,
                 const char *from)
{
    n->from = (uint32_t)(from - p->lex.start);
    n->to = (uint32_t)(p->lex.before - p->lex.start);
    bz_py_node_push(&c->args, n);
}

static bool starred(struct bz_py_parser *p, struct call *c)
{
    struct bz_py_node *n = bz_py_parse_node(p, BZ_PY_NODE_STARRED), *of;
    const char *from = p->lex.from;

    if (c->spread) {
        bz_py_parse_refuse(p, "iterable argument unpacking follows keyword argument "
                              "unpacking");
        return false;
    }
    of = bz_py_parse_next(p) ? bz_py_expr_expression(p) : NULL;
    bz_py_node_add(n, of);
    push(p, c, n, from);
    return of != NULL;
}

/* A generator that does without parentheses, as it is the only argument. */
static bool generator(struct bz_py_parser *p, struct call *c, struct bz_py_node *value,
                      const char *from)
{
    struct bz_py_node *n = bz_py_parse_node(p, BZ_PY_NODE_OTHER);

    bz_py_node_add(n, value);
    c->loop = true;
    if (!bz_py_expr_add_loops(p, n))
        return false;
    push(p, c, n, from);
    return true;
}

static bool plain(struct bz_py_parser *p, struct call *c)
{
    const char *from = p->lex.from;
    struct bz_py_node *n = bz_py_expr_named(p);

    if (!n)
        return false;
    if (bz_py_parse_at(p, BZ_PY_TOK_ASSIGN)) {
        if (n->kind != BZ_PY_NODE_NAME || n->group) {
            bz_py_parse_refuse(p, "expression cannot contain assignment, perhaps you "
                                  "meant \"==\"?");
            return false;
        }
        n = keyword(p, n->text);
        c->named = true;
        bz_py_node_push(&c->keywords, n);
        return n != NULL;
    }
    if (c->named || c->spread) {
        bz_py_parse_refuse(p, "positional argument follows keyword argument");
        return false;
    }
    if (bz_py_expr_at_loop(p))
        return generator(p, c, n, from);
    push(p, c, n, from);
    return true;
}

static bool argument(struct bz_py_parser *p, struct call *c)
{
    if (bz_py_parse_at(p, BZ_PY_TOK_POWER))
        return spread(p, c);
    if (bz_py_parse_at(p, BZ_PY_TOK_STAR))
        return starred(p, c);
    return plain(p, c);
}

bool bz_py_args_call(struct bz_py_parser *p, struct bz_py_node *to)
{
    struct call c = {.named = false};
    bool comma = false;

    if (!bz_py_parse_next(p))
        return false;
    while (!bz_py_parse_at(p, BZ_PY_TOK_CLOSE)) {
        if (!argument(p, &c))
            return false;
        if (c.loop && (comma || bz_py_parse_at(p, BZ_PY_TOK_COMMA))) {
            bz_py_parse_refuse(p, "Generator expression must be parenthesized");
            return false;
        }
        if (!bz_py_parse_at(p, BZ_PY_TOK_COMMA))
            break;
        comma = true;
        if (!bz_py_parse_next(p))
            return false;
    }
    bz_py_node_add_all(to, c.args);
    bz_py_node_add_all(to, c.keywords);
    return bz_py_parse_expect(p, BZ_PY_TOK_CLOSE);
}

/* ---- of a subscript ---- */

static bool at_bound(const struct bz_py_parser *p)
{
    return !bz_py_parse_at(p, BZ_PY_TOK_COLON) && !bz_py_parse_at(p, BZ_PY_TOK_COMMA) &&
           !bz_py_parse_at(p, BZ_PY_TOK_CLOSE_LIST);
}

/* from:to:step behind `from`, which may be NULL. */
static struct bz_py_node *slice(struct bz_py_parser *p, struct bz_py_node *from)
{
    struct bz_py_node *n = bz_py_parse_node(p, BZ_PY_NODE_OTHER), *bound;
    int i;

    bz_py_node_add(n, from);
    for (i = 0; i < 2 && bz_py_parse_at(p, BZ_PY_TOK_COLON); i++) {
        if (!bz_py_parse_next(p))
            return NULL;
        if (!at_bound(p))
            continue;
        bound = bz_py_expr_expression(p);
        if (!bound)
            return NULL;
        bz_py_node_add(n, bound);
    }
    return n;
}

static struct bz_py_node *index_of(struct bz_py_parser *p)
{
    struct bz_py_node *n = NULL;

    if (bz_py_parse_at(p, BZ_PY_TOK_STAR))
        return bz_py_expr_starred(p);
    if (!bz_py_parse_at(p, BZ_PY_TOK_COLON)) {
        n = bz_py_expr_named(p);
        if (!n)
            return NULL;
    }
    return bz_py_parse_at(p, BZ_PY_TOK_COLON) ? slice(p, n) : n;
}

struct bz_py_node *bz_py_args_subscript(struct bz_py_parser *p, struct bz_py_node *of)
{
    struct bz_py_node *n = bz_py_parse_node(p, BZ_PY_NODE_SUBSCRIPT), *first, *tuple;

    bz_py_node_add(n, of);
    first = bz_py_parse_next(p) ? index_of(p) : NULL;
    if (!first)
        return NULL;
    if (first->kind != BZ_PY_NODE_STARRED && bz_py_parse_at(p, BZ_PY_TOK_CLOSE_LIST)) {
        bz_py_node_add(n, first);
        return bz_py_parse_next(p) ? n : NULL;
    }
    tuple = bz_py_parse_node(p, BZ_PY_NODE_TUPLE);
    bz_py_node_add(n, tuple);
    bz_py_node_add(tuple, first);
    while (bz_py_parse_at(p, BZ_PY_TOK_COMMA)) {
        if (!bz_py_parse_next(p))
            return NULL;
        if (bz_py_parse_at(p, BZ_PY_TOK_CLOSE_LIST))
            break;
        first = index_of(p);
        if (!first)
            return NULL;
        bz_py_node_add(tuple, first);
    }
    return bz_py_parse_expect(p, BZ_PY_TOK_CLOSE_LIST) ? n : NULL;
}

/* ---- parameters ---- */

struct params {
    bool typed; /* of a def: annotations are allowed */
    struct bz_py_nodes plain, defaults, vararg, keywords, keyword_defaults, kwarg;
    bool defaulted; /* a plain one with a default was seen */
    bool slash;
    bool star;  /* after it, they are keywords */
    bool naked; /* the star had no name, so a keyword has to follow */
    bool last;  /* after **name nothing may follow */
};

/* NAME [: annotation]. */
static struct bz_py_node *param(struct bz_py_parser *p, const struct params *ps,
                                bool star)
{
    struct bz_py_node *n = bz_py_parse_node(p, BZ_PY_NODE_OTHER), *type;

    if (!bz_py_parse_expect(p, BZ_PY_TOK_NAME))
        return NULL;
    if (!ps->typed || !bz_py_parse_at(p, BZ_PY_TOK_COLON))
        return n;
    if (!bz_py_parse_next(p))
        return NULL;
    type = star && bz_py_parse_at(p, BZ_PY_TOK_STAR) ? bz_py_expr_starred(p)
                                                     : bz_py_expr_expression(p);
    bz_py_node_add(n, type);
    return type ? n : NULL;
}

static bool star_param(struct bz_py_parser *p, struct params *ps)
{
    struct bz_py_node *n;

    if (ps->star) {
        bz_py_parse_refuse(p, "* argument may appear only once");
        return false;
    }
    ps->star = true;
    if (!bz_py_parse_next(p))
        return false;
    if (bz_py_parse_at(p, BZ_PY_TOK_COMMA)) {
        ps->naked = true;
        return true;
    }
    n = param(p, ps, true);
    bz_py_node_push(&ps->vararg, n);
    return n != NULL;
}

static bool slash_param(struct bz_py_parser *p, struct params *ps)
{
    if (ps->slash || ps->star || !ps->plain.first ||
        !bz_str_eq(p->lex.text, BZ_STR("/")))
        return bz_py_parse_unexpected(p);
    ps->slash = true;
    return bz_py_parse_next(p);
}

static bool plain_param(struct bz_py_parser *p, struct params *ps)
{
    struct bz_py_node *n = param(p, ps, false), *value = NULL;

    if (!n)
        return false;
    if (bz_py_parse_at(p, BZ_PY_TOK_ASSIGN)) {
        value = bz_py_parse_next(p) ? bz_py_expr_expression(p) : NULL;
        if (!value)
            return false;
    }
    if (ps->star) {
        ps->naked = false;
        bz_py_node_push(&ps->keywords, n);
        bz_py_node_push(&ps->keyword_defaults, value);
        return true;
    }
    if (!value && ps->defaulted) {
        bz_py_parse_refuse(p, "non-default argument follows default argument");
        return false;
    }
    ps->defaulted |= value != NULL;
    bz_py_node_push(&ps->plain, n);
    bz_py_node_push(&ps->defaults, value);
    return true;
}

static bool any_param(struct bz_py_parser *p, struct params *ps)
{
    struct bz_py_node *n;

    switch (p->lex.tok) {
    case BZ_PY_TOK_STAR:
        return star_param(p, ps);
    case BZ_PY_TOK_TERM:
        return slash_param(p, ps);
    case BZ_PY_TOK_POWER:
        ps->last = true;
        n = bz_py_parse_next(p) ? param(p, ps, false) : NULL;
        bz_py_node_push(&ps->kwarg, n);
        return n && !ps->naked ? true : bz_py_parse_unexpected(p) != NULL;
    default:
        return plain_param(p, ps);
    }
}

static struct bz_py_node *params(struct bz_py_parser *p, bool typed, enum bz_py_tok end)
{
    struct bz_py_node *n = bz_py_parse_node(p, BZ_PY_NODE_OTHER);
    struct params ps = {.typed = typed};

    while (!bz_py_parse_at(p, end)) {
        if (ps.last)
            return bz_py_parse_unexpected(p);
        if (!any_param(p, &ps))
            return NULL;
        if (!bz_py_parse_at(p, BZ_PY_TOK_COMMA))
            break;
        if (!bz_py_parse_next(p))
            return NULL;
    }
    if (ps.naked)
        return bz_py_parse_refuse(p, "named arguments must follow bare *");
    bz_py_node_add_all(n, ps.plain);
    bz_py_node_add_all(n, ps.vararg);
    bz_py_node_add_all(n, ps.keywords);
    bz_py_node_add_all(n, ps.keyword_defaults);
    bz_py_node_add_all(n, ps.kwarg);
    bz_py_node_add_all(n, ps.defaults);
    return n;
}

struct bz_py_node *bz_py_args_lambda(struct bz_py_parser *p)
{
    return params(p, false, BZ_PY_TOK_COLON);
}

struct bz_py_node *bz_py_args_def(struct bz_py_parser *p)
{
    struct bz_py_node *n =
        bz_py_parse_expect(p, BZ_PY_TOK_OPEN) ? params(p, true, BZ_PY_TOK_CLOSE) : NULL;

    return n && bz_py_parse_expect(p, BZ_PY_TOK_CLOSE) ? n : NULL;
}
