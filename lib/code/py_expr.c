#include "code/py_expr.h"

#include "code/py_args.h"
#include "code/py_atom.h"

/* How tightly operators bind. 0: not a binary operator. */
enum { OR_ = 1, AND_, NOT_, COMPARE_, BAR_, CARET_, AMP_, SHIFT_, SUM_, TERM_ };

static const uint8_t levels[] = {
    [BZ_PY_TOK_OR] = OR_,           [BZ_PY_TOK_AND] = AND_,
    [BZ_PY_TOK_NOT] = COMPARE_, /* of "not in" */
    [BZ_PY_TOK_IN] = COMPARE_,      [BZ_PY_TOK_IS] = COMPARE_,
    [BZ_PY_TOK_COMPARE] = COMPARE_, [BZ_PY_TOK_BAR] = BAR_,
    [BZ_PY_TOK_CARET] = CARET_,     [BZ_PY_TOK_AMP] = AMP_,
    [BZ_PY_TOK_SHIFT] = SHIFT_,     [BZ_PY_TOK_PLUS] = SUM_,
    [BZ_PY_TOK_MINUS] = SUM_,       [BZ_PY_TOK_STAR] = TERM_,
    [BZ_PY_TOK_TERM] = TERM_,       [BZ_PY_TOK_AT] = TERM_,
};

static struct bz_py_node *climb(struct bz_py_parser *p, unsigned min);
static struct bz_py_node *factor(struct bz_py_parser *p);

static unsigned level_of(enum bz_py_tok tok)
{
    return tok < BZ_COUNTOF(levels) ? levels[tok] : 0;
}

static struct bz_py_node *join(struct bz_py_parser *p, struct bz_py_node *a,
                               struct bz_py_node *b)
{
    struct bz_py_node *n = bz_py_parse_node(p, BZ_PY_NODE_OTHER);

    bz_py_node_add(n, a);
    bz_py_node_add(n, b);
    return n;
}

/* ---- operands ---- */

/* Behind an expression: what is taken of it, called, or picked out of it. */
static struct bz_py_node *trailers(struct bz_py_parser *p, struct bz_py_node *of)
{
    while (of) {
        struct bz_py_node *n;

        if (bz_py_parse_at(p, BZ_PY_TOK_DOT)) {
            if (!bz_py_parse_next(p))
                return NULL;
            n = bz_py_parse_node(p, BZ_PY_NODE_ATTR);
            n->text = p->lex.text;
            bz_py_node_add(n, of);
            of = bz_py_parse_expect(p, BZ_PY_TOK_NAME) ? n : NULL;
        } else if (bz_py_parse_at(p, BZ_PY_TOK_OPEN)) {
            n = bz_py_parse_node(p, BZ_PY_NODE_CALL);
            n->line = bz_py_lex_line(&p->lex, p->lex.from);
            bz_py_node_add(n, of);
            of = bz_py_args_call(p, n) ? n : NULL;
        } else if (bz_py_parse_at(p, BZ_PY_TOK_OPEN_LIST)) {
            of = bz_py_args_subscript(p, of);
        } else {
            break;
        }
    }
    return of;
}

/* An operand and, perhaps, its power. */
static struct bz_py_node *power(struct bz_py_parser *p)
{
    bool wait = bz_py_parse_at(p, BZ_PY_TOK_AWAIT);
    struct bz_py_node *n, *b;

    if (wait && !bz_py_parse_next(p))
        return NULL;
    n = bz_py_atom(p);
    n = n ? trailers(p, n) : NULL;
    if (n && wait)
        n = join(p, n, NULL);
    if (!n || !bz_py_parse_at(p, BZ_PY_TOK_POWER))
        return n;
    if (!bz_py_parse_next(p))
        return NULL;
    b = factor(p);
    return b ? join(p, n, b) : NULL;
}

/* -x, +x, ~x or just x. */
static struct bz_py_node *factor(struct bz_py_parser *p)
{
    struct bz_py_node *n;

    if (!bz_py_parse_enter(p))
        return NULL;
    if (bz_py_parse_at(p, BZ_PY_TOK_MINUS) || bz_py_parse_at(p, BZ_PY_TOK_PLUS) ||
        bz_py_parse_at(p, BZ_PY_TOK_TILDE)) {
        n = bz_py_parse_next(p) ? factor(p) : NULL;
        n = n ? join(p, n, NULL) : NULL;
    } else {
        n = power(p);
    }
    p->depth--;
    return n;
}

static struct bz_py_node *negation(struct bz_py_parser *p)
{
    struct bz_py_node *n = bz_py_parse_next(p) ? climb(p, NOT_) : NULL;

    return n ? join(p, n, NULL) : NULL;
}

/* ---- operators ---- */

/* Takes an operator, of which some have two words. */
static bool operator(struct bz_py_parser *p)
{
    enum bz_py_tok first = p->lex.tok;

    if (!bz_py_parse_next(p))
        return false;
    if (first == BZ_PY_TOK_NOT)
        return bz_py_parse_expect(p, BZ_PY_TOK_IN);
    if (first == BZ_PY_TOK_IS && bz_py_parse_at(p, BZ_PY_TOK_NOT))
        return bz_py_parse_next(p);
    return true;
}

/* Operators of a level that is one node for all of them: a or b or c. */
static struct bz_py_node *flat(struct bz_py_parser *p, struct bz_py_node *a,
                               unsigned level)
{
    struct bz_py_node *n = join(p, a, NULL);

    while (level_of(p->lex.tok) == level) {
        struct bz_py_node *b = operator(p) ? climb(p, level + 1) : NULL;

        if (!b)
            return NULL;
        bz_py_node_add(n, b);
    }
    return n;
}

static struct bz_py_node *climb(struct bz_py_parser *p, unsigned min)
{
    struct bz_py_node *n;
    unsigned level;

    if (!bz_py_parse_enter(p))
        return NULL;
    n = min <= NOT_ && bz_py_parse_at(p, BZ_PY_TOK_NOT) ? negation(p) : factor(p);
    while (n && (level = level_of(p->lex.tok)) >= min) {
        struct bz_py_node *b;

        if (level == 0)
            break;
        if (level <= COMPARE_) {
            n = flat(p, n, level);
            continue;
        }
        b = bz_py_parse_next(p) ? climb(p, level + 1) : NULL;
        n = b ? join(p, n, b) : NULL;
    }
    p->depth--;
    return n;
}

struct bz_py_node *bz_py_expr_disjunction(struct bz_py_parser *p)
{
    return climb(p, OR_);
}

struct bz_py_node *bz_py_expr_bitwise(struct bz_py_parser *p)
{
    return climb(p, BAR_);
}

/* ---- expressions ---- */

static struct bz_py_node *lambda(struct bz_py_parser *p)
{
    struct bz_py_node *args, *body;

    if (!bz_py_parse_next(p))
        return NULL;
    args = bz_py_args_lambda(p);
    if (!args || !bz_py_parse_expect(p, BZ_PY_TOK_COLON))
        return NULL;
    body = bz_py_expr_expression(p);
    return body ? join(p, args, body) : NULL;
}

/* a if b else c if d else e: a chain, which takes no depth. */
static struct bz_py_node *choices(struct bz_py_parser *p, struct bz_py_node *a)
{
    struct bz_py_node *root = NULL, *tail = NULL;

    while (a && bz_py_parse_at(p, BZ_PY_TOK_IF)) {
        struct bz_py_node *test =
            bz_py_parse_next(p) ? bz_py_expr_disjunction(p) : NULL;
        struct bz_py_node *choice;

        if (!test || !bz_py_parse_expect(p, BZ_PY_TOK_ELSE))
            return NULL;
        choice = join(p, test, a);
        if (tail)
            bz_py_node_add(tail, choice);
        else
            root = choice;
        tail = choice;
        a = bz_py_parse_at(p, BZ_PY_TOK_LAMBDA) ? lambda(p) : bz_py_expr_disjunction(p);
    }
    if (a && tail)
        bz_py_node_add(tail, a);
    return a && root ? root : a;
}

struct bz_py_node *bz_py_expr_expression(struct bz_py_parser *p)
{
    struct bz_py_node *n;

    if (!bz_py_parse_enter(p))
        return NULL;
    n = bz_py_parse_at(p, BZ_PY_TOK_LAMBDA) ? lambda(p)
                                            : choices(p, bz_py_expr_disjunction(p));
    p->depth--;
    return n;
}

struct bz_py_node *bz_py_expr_named(struct bz_py_parser *p)
{
    struct bz_py_node *n = bz_py_expr_expression(p), *value;

    if (!n || !bz_py_parse_at(p, BZ_PY_TOK_WALRUS))
        return n;
    if (n->kind != BZ_PY_NODE_NAME || n->group)
        return bz_py_parse_unexpected(p);
    value = bz_py_parse_next(p) ? bz_py_expr_expression(p) : NULL;
    return value ? join(p, n, value) : NULL;
}

/* ---- lists without brackets ---- */

struct bz_py_node *bz_py_expr_starred(struct bz_py_parser *p)
{
    struct bz_py_node *n = bz_py_parse_node(p, BZ_PY_NODE_STARRED), *of;

    of = bz_py_parse_next(p) ? bz_py_expr_bitwise(p) : NULL;
    if (of)
        bz_py_node_add(n, of);
    return of ? n : NULL;
}

typedef struct bz_py_node *(*element_fn)(struct bz_py_parser *p);

/* Whether an expression can begin with the token at hand. */
static bool at_expression(const struct bz_py_parser *p)
{
    switch (p->lex.tok) {
    case BZ_PY_TOK_NAME:
    case BZ_PY_TOK_NUMBER:
    case BZ_PY_TOK_STRING:
    case BZ_PY_TOK_FSTRING:
    case BZ_PY_TOK_OPEN:
    case BZ_PY_TOK_OPEN_LIST:
    case BZ_PY_TOK_OPEN_DICT:
    case BZ_PY_TOK_ELLIPSIS:
    case BZ_PY_TOK_PLUS:
    case BZ_PY_TOK_MINUS:
    case BZ_PY_TOK_TILDE:
    case BZ_PY_TOK_STAR:
    case BZ_PY_TOK_AWAIT:
    case BZ_PY_TOK_LAMBDA:
    case BZ_PY_TOK_NOT:
    case BZ_PY_TOK_NONE:
    case BZ_PY_TOK_TRUE:
    case BZ_PY_TOK_FALSE:
        return true;
    default:
        return false;
    }
}

/* Elements with commas between them and perhaps after the last. */
static struct bz_py_node *commas(struct bz_py_parser *p, element_fn element)
{
    struct bz_py_node *n = element(p), *tuple;

    if (!n || !bz_py_parse_at(p, BZ_PY_TOK_COMMA))
        return n;
    tuple = bz_py_parse_node(p, BZ_PY_NODE_TUPLE);
    bz_py_node_add(tuple, n);
    while (bz_py_parse_at(p, BZ_PY_TOK_COMMA)) {
        if (!bz_py_parse_next(p))
            return NULL;
        if (!at_expression(p))
            break;
        n = element(p);
        if (!n)
            return NULL;
        bz_py_node_add(tuple, n);
    }
    return tuple;
}

static struct bz_py_node *star_expression(struct bz_py_parser *p)
{
    return bz_py_parse_at(p, BZ_PY_TOK_STAR) ? bz_py_expr_starred(p)
                                             : bz_py_expr_expression(p);
}

struct bz_py_node *bz_py_expr_star_list(struct bz_py_parser *p)
{
    return commas(p, star_expression);
}

static struct bz_py_node *target(struct bz_py_parser *p)
{
    return bz_py_parse_at(p, BZ_PY_TOK_STAR) ? bz_py_expr_starred(p)
                                             : bz_py_expr_bitwise(p);
}

struct bz_py_node *bz_py_expr_targets(struct bz_py_parser *p)
{
    struct bz_py_node *n = commas(p, target);

    if (n && !bz_py_node_is_target(n, false))
        return bz_py_parse_refuse(p, "cannot assign to what stands here");
    return n;
}

/* yield, yield x, y or yield from x. */
static struct bz_py_node *yield(struct bz_py_parser *p)
{
    struct bz_py_node *n = NULL;

    if (!bz_py_parse_next(p))
        return NULL;
    if (bz_py_parse_at(p, BZ_PY_TOK_FROM)) {
        n = bz_py_parse_next(p) ? bz_py_expr_expression(p) : NULL;
        return n ? join(p, n, NULL) : NULL;
    }
    if (at_expression(p)) {
        n = bz_py_expr_star_list(p);
        if (!n)
            return NULL;
    }
    return join(p, n, NULL);
}

struct bz_py_node *bz_py_expr_yield_or_list(struct bz_py_parser *p)
{
    return bz_py_parse_at(p, BZ_PY_TOK_YIELD) ? yield(p) : bz_py_expr_star_list(p);
}

struct bz_py_node *bz_py_expr_alone(struct bz_py_parser *p)
{
    struct bz_py_node *n;

    if (bz_py_parse_at(p, BZ_PY_TOK_INDENT))
        return bz_py_parse_unexpected(p);
    n = commas(p, bz_py_expr_expression);
    while (n && bz_py_parse_at(p, BZ_PY_TOK_NEWLINE))
        if (!bz_py_parse_next(p))
            return NULL;
    if (n && !bz_py_parse_at(p, BZ_PY_TOK_END))
        return bz_py_parse_unexpected(p);
    return n ? join(p, n, NULL) : NULL;
}

/* ---- comprehensions ---- */

static struct bz_py_node *loop(struct bz_py_parser *p)
{
    struct bz_py_node *targets, *over, *n, *test;

    if (bz_py_parse_at(p, BZ_PY_TOK_ASYNC) && !bz_py_parse_next(p))
        return NULL;
    if (!bz_py_parse_expect(p, BZ_PY_TOK_FOR))
        return NULL;
    targets = bz_py_expr_targets(p);
    if (!targets || !bz_py_parse_expect(p, BZ_PY_TOK_IN))
        return NULL;
    over = bz_py_expr_disjunction(p);
    if (!over)
        return NULL;
    n = join(p, targets, over);
    while (bz_py_parse_at(p, BZ_PY_TOK_IF)) {
        test = bz_py_parse_next(p) ? bz_py_expr_disjunction(p) : NULL;
        if (!test)
            return NULL;
        bz_py_node_add(n, test);
    }
    return n;
}

bool bz_py_expr_add_loops(struct bz_py_parser *p, struct bz_py_node *to)
{
    do {
        struct bz_py_node *n = loop(p);

        if (!n)
            return false;
        bz_py_node_add(to, n);
    } while (bz_py_expr_at_loop(p));
    return true;
}
