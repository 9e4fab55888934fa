#include "vars/expr_parse.h"

#include <errno.h>
#include <stdlib.h>

#include "vars/expr_bracket.h"

/* How tightly operators bind, from Python's grammar. 0: not a binary operator. */
enum {
    OR_ = 1,
    AND_,
    NOT_,
    COMPARE_,
    BAR_,
    CARET_,
    AMP_,
    SHIFT_,
    SUM_,
    TERM_,
    SIGN_,
    POWER_
};

static const uint8_t levels[] = {
    [BZ_EXPR_TOK_OR] = OR_,        [BZ_EXPR_TOK_AND] = AND_,
    [BZ_EXPR_TOK_NOT] = COMPARE_, /* of "not in" */
    [BZ_EXPR_TOK_IN] = COMPARE_,   [BZ_EXPR_TOK_IS] = COMPARE_,
    [BZ_EXPR_TOK_LT] = COMPARE_,   [BZ_EXPR_TOK_LE] = COMPARE_,
    [BZ_EXPR_TOK_GT] = COMPARE_,   [BZ_EXPR_TOK_GE] = COMPARE_,
    [BZ_EXPR_TOK_EQ] = COMPARE_,   [BZ_EXPR_TOK_NE] = COMPARE_,
    [BZ_EXPR_TOK_BAR] = BAR_,      [BZ_EXPR_TOK_CARET] = CARET_,
    [BZ_EXPR_TOK_AMP] = AMP_,      [BZ_EXPR_TOK_LSHIFT] = SHIFT_,
    [BZ_EXPR_TOK_RSHIFT] = SHIFT_, [BZ_EXPR_TOK_PLUS] = SUM_,
    [BZ_EXPR_TOK_MINUS] = SUM_,    [BZ_EXPR_TOK_STAR] = TERM_,
    [BZ_EXPR_TOK_SLASH] = TERM_,   [BZ_EXPR_TOK_DSLASH] = TERM_,
    [BZ_EXPR_TOK_PERCENT] = TERM_, [BZ_EXPR_TOK_POWER] = POWER_,
};

static int climb(struct bz_expr_parser *p, unsigned min, struct bz_expr_node **out);

int bz_expr_parse_next(struct bz_expr_parser *p)
{
    return bz_expr_lex_next(&p->lex, p->err);
}

/* The token at hand fits nothing that is known here. At the end of the text, and at a
 * '=', no other grammar would help: that is wrong in Python too. */
int bz_expr_parse_unexpected(struct bz_expr_parser *p)
{
    if (p->lex.tok == BZ_EXPR_TOK_END || p->lex.tok == BZ_EXPR_TOK_ASSIGN) {
        bz_fail(p->err, BZ_E_INVAL, "SyntaxError: invalid syntax");
        return BZ_E_INVAL;
    }
    bz_fail(p->err, BZ_E_NOSUP, "'%.*s' is not expected here", BZ_STR_ARG(p->lex.text));
    return BZ_E_NOSUP;
}

int bz_expr_parse_expect(struct bz_expr_parser *p, enum bz_expr_tok tok)
{
    return p->lex.tok == tok ? bz_expr_parse_next(p) : bz_expr_parse_unexpected(p);
}

static int too_deep(struct bz_expr_parser *p)
{
    bz_fail(p->err, BZ_E_LIMIT, "an expression nests too deep");
    return BZ_E_LIMIT;
}

int bz_expr_parse_enter(struct bz_expr_parser *p)
{
    return ++p->nested > 2 * BZ_EXPR_PARSE_DEPTH ? too_deep(p) : 0;
}

struct bz_expr_node *bz_expr_parse_new(struct bz_expr_parser *p,
                                       enum bz_expr_node_kind kind)
{
    struct bz_expr_node *node = bz_expr_scratch_alloc(p->lex.mem, sizeof(*node));

    *node = (struct bz_expr_node){.kind = (uint8_t)kind, .depth = 1};
    return node;
}

/* Finishes a node above others, `depth` being the most of theirs. */
int bz_expr_parse_above(struct bz_expr_parser *p, struct bz_expr_node *node,
                        unsigned depth)
{
    if (depth >= BZ_EXPR_PARSE_DEPTH)
        return too_deep(p);
    node->depth = (uint16_t)(depth + 1);
    return 0;
}

static unsigned depth_of(const struct bz_expr_node *node)
{
    return node ? node->depth : 0;
}

unsigned bz_expr_parse_deeper(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

/* A node of up to three others. */
int bz_expr_parse_join(struct bz_expr_parser *p, enum bz_expr_node_kind kind,
                       struct bz_expr_node *a, struct bz_expr_node *b,
                       struct bz_expr_node *c, struct bz_expr_node **out)
{
    struct bz_expr_node *node = bz_expr_parse_new(p, kind);

    node->a = a;
    node->b = b;
    node->c = c;
    *out = node;
    return bz_expr_parse_above(
        p, node,
        bz_expr_parse_deeper(depth_of(a),
                             bz_expr_parse_deeper(depth_of(b), depth_of(c))));
}

void bz_expr_parse_add(struct bz_expr_chain *c, struct bz_expr_node *node)
{
    if (c->last)
        c->last->next = node;
    else
        c->first = node;
    c->last = node;
    c->depth = bz_expr_parse_deeper(c->depth, node->depth);
    c->n++;
}

/* A node whose `a` is the chain. */
int bz_expr_parse_bundle(struct bz_expr_parser *p, enum bz_expr_node_kind kind,
                         const struct bz_expr_chain *c, struct bz_expr_node **out)
{
    struct bz_expr_node *node = bz_expr_parse_new(p, kind);

    node->a = c->first;
    node->n = c->n;
    *out = node;
    return bz_expr_parse_above(p, node, c->depth);
}

static int integer(struct bz_expr_parser *p, struct bz_expr_node **out)
{
    struct bz_str text = p->lex.text;
    char digits[72];
    size_t i, n = 0;
    int base = 10;
    char *end;

    if (text.n > 1 && text.p[0] == '0' && (text.p[1] | 0x20) >= 'a') {
        base = (text.p[1] | 0x20) == 'x' ? 16 : (text.p[1] | 0x20) == 'o' ? 8 : 2;
        text = bz_str_sub(text, 2, text.n);
    }
    for (i = 0; i < text.n; i++) {
        if (text.p[i] != '_' && n < sizeof(digits) - 1)
            digits[n++] = text.p[i];
    }
    digits[n] = '\0';
    *out = bz_expr_parse_new(p, BZ_EXPR_NODE_INT);
    errno = 0;
    (*out)->i = strtoll(digits, &end, base);
    if (errno || text.n >= sizeof(digits) ||
        (base == 10 && digits[0] == '0' && (*out)->i != 0))
        return bz_fail(p->err, BZ_E_NOSUP, "a number of a rare kind");
    return bz_expr_parse_next(p);
}

static int floating(struct bz_expr_parser *p, struct bz_expr_node **out)
{
    char digits[72];
    size_t i, n = 0;

    if (p->lex.text.n >= sizeof(digits))
        return bz_fail(p->err, BZ_E_NOSUP, "a number of a rare kind");
    for (i = 0; i < p->lex.text.n; i++) {
        if (p->lex.text.p[i] != '_')
            digits[n++] = p->lex.text.p[i];
    }
    digits[n] = '\0';
    *out = bz_expr_parse_new(p, BZ_EXPR_NODE_FLOAT);
    (*out)->f = strtod(digits, NULL);
    return bz_expr_parse_next(p);
}

/* Strings that follow one another are one. */
static int strings(struct bz_expr_parser *p, struct bz_expr_node **out)
{
    struct bz_expr_node *part;
    struct bz_expr_chain c = {0};
    size_t n = 0;
    char *to;

    while (p->lex.tok == BZ_EXPR_TOK_STR) {
        int rc;

        part = bz_expr_parse_new(p, BZ_EXPR_NODE_STR);
        part->text = p->lex.text;
        n += part->text.n;
        bz_expr_parse_add(&c, part);
        if ((rc = bz_expr_parse_next(p)) < 0)
            return rc;
    }
    *out = c.first;
    if (!c.first || c.n == 1)
        return 0;
    to = bz_expr_scratch_alloc(p->lex.mem, n + 1);
    for (part = c.first; part; part = part->next) {
        memcpy(to, part->text.p, part->text.n);
        to += part->text.n;
    }
    c.first->text = bz_str_of(to - n, n);
    c.first->next = NULL;
    return 0;
}

static int constant(struct bz_expr_parser *p, enum bz_expr_node_kind kind,
                    struct bz_expr_node **out)
{
    *out = bz_expr_parse_new(p, kind);
    return bz_expr_parse_next(p);
}

static int atom(struct bz_expr_parser *p, struct bz_expr_node **out)
{
    switch (p->lex.tok) {
    case BZ_EXPR_TOK_STR:
        return strings(p, out);
    case BZ_EXPR_TOK_NAME:
        *out = bz_expr_parse_new(p, BZ_EXPR_NODE_NAME);
        (*out)->text = p->lex.text;
        return bz_expr_parse_next(p);
    case BZ_EXPR_TOK_INT:
        return integer(p, out);
    case BZ_EXPR_TOK_FLOAT:
        return floating(p, out);
    case BZ_EXPR_TOK_NONE:
        return constant(p, BZ_EXPR_NODE_NONE, out);
    case BZ_EXPR_TOK_TRUE:
        return constant(p, BZ_EXPR_NODE_TRUE, out);
    case BZ_EXPR_TOK_FALSE:
        return constant(p, BZ_EXPR_NODE_FALSE, out);
    case BZ_EXPR_TOK_OPEN:
        return bz_expr_bracket_sequence(p, false, out);
    case BZ_EXPR_TOK_OPEN_LIST:
        return bz_expr_bracket_sequence(p, true, out);
    case BZ_EXPR_TOK_OPEN_DICT:
        return bz_expr_bracket_braces(p, out);
    default:
        return bz_expr_parse_unexpected(p);
    }
}

/* One argument. The only one may be a generator without brackets of its own. */
static int argument(struct bz_expr_parser *p, struct bz_expr_chain *args,
                    struct bz_expr_chain *keywords)
{
    struct bz_expr_node *arg;
    int rc = bz_expr_parse_expression(p, &arg);

    if (rc < 0)
        return rc;
    if (p->lex.tok == BZ_EXPR_TOK_ASSIGN && arg->kind == BZ_EXPR_NODE_NAME) {
        struct bz_str name = arg->text;
        struct bz_expr_node *value;

        if ((rc = bz_expr_parse_next(p)) < 0 ||
            (rc = bz_expr_parse_expression(p, &value)) < 0 ||
            (rc = bz_expr_parse_join(p, BZ_EXPR_NODE_KEYWORD, value, NULL, NULL,
                                     &arg)) < 0)
            return rc;
        arg->text = name;
        bz_expr_parse_add(keywords, arg);
        return 0;
    }
    if (keywords->n > 0)
        return bz_fail(p->err, BZ_E_NOSUP, "an argument after one by name");
    if (p->lex.tok == BZ_EXPR_TOK_FOR && args->n == 0) {
        rc = bz_expr_bracket_comprehension(p, BZ_EXPR_NODE_GENERATOR, arg, &arg);
        if (rc == 0 && p->lex.tok != BZ_EXPR_TOK_CLOSE)
            return bz_expr_parse_unexpected(p);
    }
    if (rc == 0)
        bz_expr_parse_add(args, arg);
    return rc;
}

static int call(struct bz_expr_parser *p, struct bz_expr_node *callee,
                struct bz_expr_node **out)
{
    struct bz_expr_chain args = {0}, keywords = {0};
    struct bz_expr_node *node = bz_expr_parse_new(p, BZ_EXPR_NODE_CALL);
    int rc = bz_expr_parse_next(p);

    while (rc == 0 && p->lex.tok != BZ_EXPR_TOK_CLOSE) {
        if (args.n + keywords.n > 0) {
            if ((rc = bz_expr_parse_expect(p, BZ_EXPR_TOK_COMMA)) < 0)
                return rc;
            if (p->lex.tok == BZ_EXPR_TOK_CLOSE)
                break;
        }
        rc = argument(p, &args, &keywords);
    }
    if (rc < 0 || (rc = bz_expr_parse_next(p)) < 0)
        return rc;
    node->a = callee;
    node->b = args.first;
    node->c = keywords.first;
    node->n = args.n;
    *out = node;
    return bz_expr_parse_above(
        p, node,
        bz_expr_parse_deeper(callee->depth,
                             bz_expr_parse_deeper(args.depth, keywords.depth)));
}

/* The part of a slice before a ':' or the closing ']'; it may be missing. */
static int bound(struct bz_expr_parser *p, struct bz_expr_node **out)
{
    *out = NULL;
    if (p->lex.tok == BZ_EXPR_TOK_COLON || p->lex.tok == BZ_EXPR_TOK_CLOSE_LIST)
        return 0;
    return bz_expr_parse_expression(p, out);
}

static int subscript(struct bz_expr_parser *p, struct bz_expr_node *of,
                     struct bz_expr_node **out)
{
    struct bz_expr_node *part[3] = {0};
    struct bz_expr_node *index;
    int i, rc;

    if ((rc = bz_expr_parse_next(p)) < 0 || (rc = bound(p, &part[0])) < 0)
        return rc;
    if (p->lex.tok != BZ_EXPR_TOK_COLON) {
        if (!part[0])
            return bz_expr_parse_unexpected(p);
        index = part[0];
    } else {
        for (i = 1; i < 3 && p->lex.tok == BZ_EXPR_TOK_COLON; i++) {
            if ((rc = bz_expr_parse_next(p)) < 0 || (rc = bound(p, &part[i])) < 0)
                return rc;
        }
        rc = bz_expr_parse_join(p, BZ_EXPR_NODE_SLICE, part[0], part[1], part[2],
                                &index);
        if (rc < 0)
            return rc;
    }
    if ((rc = bz_expr_parse_expect(p, BZ_EXPR_TOK_CLOSE_LIST)) < 0)
        return rc;
    return bz_expr_parse_join(p, BZ_EXPR_NODE_INDEX, of, index, NULL, out);
}

/* An operand and the attributes, calls and subscripts after it. */
static int postfix(struct bz_expr_parser *p, struct bz_expr_node **out)
{
    int rc = atom(p, out);

    while (rc == 0) {
        struct bz_expr_node *of = *out;

        if (p->lex.tok == BZ_EXPR_TOK_DOT) {
            if ((rc = bz_expr_parse_next(p)) < 0)
                return rc;
            if (p->lex.tok != BZ_EXPR_TOK_NAME)
                return bz_expr_parse_unexpected(p);
            rc = bz_expr_parse_join(p, BZ_EXPR_NODE_ATTR, of, NULL, NULL, out);
            (*out)->text = p->lex.text;
            if (rc == 0)
                rc = bz_expr_parse_next(p);
        } else if (p->lex.tok == BZ_EXPR_TOK_OPEN) {
            rc = call(p, of, out);
        } else if (p->lex.tok == BZ_EXPR_TOK_OPEN_LIST) {
            rc = subscript(p, of, out);
        } else {
            break;
        }
    }
    return rc;
}

/* One operator of a comparison; "not in" and "is not" have two words. */
static int comparator(struct bz_expr_parser *p, enum bz_expr_tok *op)
{
    int rc;

    *op = p->lex.tok;
    if ((rc = bz_expr_parse_next(p)) < 0)
        return rc;
    if (*op == BZ_EXPR_TOK_NOT) {
        *op = BZ_EXPR_TOK_NOT_IN;
        return bz_expr_parse_expect(p, BZ_EXPR_TOK_IN);
    }
    if (*op == BZ_EXPR_TOK_IS && p->lex.tok == BZ_EXPR_TOK_NOT) {
        *op = BZ_EXPR_TOK_IS_NOT;
        return bz_expr_parse_next(p);
    }
    return 0;
}

static int comparison(struct bz_expr_parser *p, struct bz_expr_node **out)
{
    struct bz_expr_node *node = bz_expr_parse_new(p, BZ_EXPR_NODE_COMPARE);
    struct bz_expr_chain c = {0};

    while (levels[p->lex.tok] == COMPARE_) {
        struct bz_expr_node *operand, *rest;
        enum bz_expr_tok op;
        int rc;

        if ((rc = comparator(p, &op)) < 0 || (rc = climb(p, BAR_, &operand)) < 0 ||
            (rc = bz_expr_parse_join(p, BZ_EXPR_NODE_REST, operand, NULL, NULL,
                                     &rest)) < 0)
            return rc;
        rest->op = (uint8_t)op;
        bz_expr_parse_add(&c, rest);
    }
    node->a = *out;
    node->b = c.first;
    *out = node;
    return bz_expr_parse_above(p, node, bz_expr_parse_deeper(node->a->depth, c.depth));
}

/* The operand that an expression begins with, and a sign or `not` before it. */
static int prefixed(struct bz_expr_parser *p, unsigned min, struct bz_expr_node **out)
{
    enum bz_expr_tok op = p->lex.tok;
    int rc;

    if (op == BZ_EXPR_TOK_NOT) {
        if (min > NOT_)
            return bz_expr_parse_unexpected(p);
        if ((rc = bz_expr_parse_next(p)) < 0 || (rc = climb(p, NOT_, out)) < 0)
            return rc;
        return bz_expr_parse_join(p, BZ_EXPR_NODE_NOT, *out, NULL, NULL, out);
    }
    if (op == BZ_EXPR_TOK_PLUS || op == BZ_EXPR_TOK_MINUS || op == BZ_EXPR_TOK_TILDE) {
        if ((rc = bz_expr_parse_next(p)) < 0 || (rc = climb(p, SIGN_, out)) < 0 ||
            (rc = bz_expr_parse_join(p, BZ_EXPR_NODE_UNARY, *out, NULL, NULL, out)) < 0)
            return rc;
        (*out)->op = (uint8_t)op;
        return 0;
    }
    return postfix(p, out);
}

/* Operands and the operators between them that bind at least as tightly as `min`. */
static int climb(struct bz_expr_parser *p, unsigned min, struct bz_expr_node **out)
{
    int rc;

    if ((rc = bz_expr_parse_enter(p)) < 0 || (rc = prefixed(p, min, out)) < 0)
        return rc;
    while (p->lex.tok < BZ_COUNTOF(levels) && levels[p->lex.tok] >= min) {
        enum bz_expr_tok op = p->lex.tok;
        unsigned level = levels[op];
        struct bz_expr_node *right = NULL;

        if (level == COMPARE_) {
            if ((rc = comparison(p, out)) < 0)
                return rc;
            continue;
        }
        /* A power binds its right side less tightly than a sign there: 2 ** -1. */
        if ((rc = bz_expr_parse_next(p)) < 0 ||
            (rc = climb(p, level == POWER_ ? SIGN_ : level + 1, &right)) < 0)
            return rc;
        rc = bz_expr_parse_join(
            p, level <= AND_ ? BZ_EXPR_NODE_LOGIC : BZ_EXPR_NODE_BINARY, *out, right,
            NULL, out);
        if (rc < 0)
            return rc;
        (*out)->op = (uint8_t)op;
    }
    p->nested--;
    return 0;
}

static int lambda(struct bz_expr_parser *p, struct bz_expr_node **out)
{
    struct bz_expr_node *body = NULL;
    struct bz_expr_chain names = {0};
    int rc = bz_expr_parse_next(p);

    while (rc == 0 && p->lex.tok != BZ_EXPR_TOK_COLON) {
        struct bz_expr_node *name;

        if (p->lex.tok == BZ_EXPR_TOK_ASSIGN)
            return bz_fail(p->err, BZ_E_NOSUP, "a lambda with a default");
        if (names.n > 0 && (rc = bz_expr_parse_expect(p, BZ_EXPR_TOK_COMMA)) < 0)
            return rc;
        if (p->lex.tok != BZ_EXPR_TOK_NAME)
            return bz_expr_parse_unexpected(p);
        name = bz_expr_parse_new(p, BZ_EXPR_NODE_NAME);
        name->text = p->lex.text;
        bz_expr_parse_add(&names, name);
        rc = bz_expr_parse_next(p);
    }
    if (rc < 0 || (rc = bz_expr_parse_next(p)) < 0 ||
        (rc = bz_expr_parse_expression(p, &body)) < 0 ||
        (rc = bz_expr_parse_join(p, BZ_EXPR_NODE_LAMBDA, names.first, body, NULL,
                                 out)) < 0)
        return rc;
    (*out)->n = names.n;
    return 0;
}

int bz_expr_parse_disjunction(struct bz_expr_parser *p, struct bz_expr_node **out)
{
    return climb(p, OR_, out);
}

int bz_expr_parse_expression(struct bz_expr_parser *p, struct bz_expr_node **out)
{
    struct bz_expr_node *condition = NULL, *otherwise = NULL;
    bool is_lambda = p->lex.tok == BZ_EXPR_TOK_LAMBDA;
    int rc;

    if ((rc = bz_expr_parse_enter(p)) < 0)
        return rc;
    rc = is_lambda ? lambda(p, out) : climb(p, OR_, out);
    if (rc == 0 && p->lex.tok == BZ_EXPR_TOK_IF && !is_lambda) {
        if ((rc = bz_expr_parse_next(p)) < 0 || (rc = climb(p, OR_, &condition)) < 0 ||
            (rc = bz_expr_parse_expect(p, BZ_EXPR_TOK_ELSE)) < 0 ||
            (rc = bz_expr_parse_expression(p, &otherwise)) < 0)
            return rc;
        rc =
            bz_expr_parse_join(p, BZ_EXPR_NODE_CHOICE, *out, condition, otherwise, out);
    }
    p->nested--;
    return rc;
}

int bz_expr_parse(struct bz_str code, struct bz_expr_scratch *mem,
                  struct bz_expr_node **out, struct bz_err *err)
{
    struct bz_expr_parser p = {.err = err};
    struct bz_expr_chain c = {0};
    int rc;

    if (code.n > BZ_EXPR_PARSE_SIZE)
        return bz_fail(err, BZ_E_LIMIT, "an expression of %zu bytes", code.n);
    if (code.n && memchr(code.p, '\0', code.n))
        return bz_fail(err, BZ_E_NOSUP, "an expression with a NUL in it");
    bz_expr_lex_init(&p.lex, bz_str_trim(code), mem);
    if ((rc = bz_expr_parse_next(&p)) < 0 ||
        (rc = bz_expr_parse_expression(&p, out)) < 0)
        return rc;
    if (p.lex.tok != BZ_EXPR_TOK_COMMA)
        return p.lex.tok == BZ_EXPR_TOK_END ? 0 : bz_expr_parse_unexpected(&p);
    bz_expr_parse_add(&c, *out);
    if ((rc = bz_expr_parse_next(&p)) < 0)
        return rc;
    while (p.lex.tok != BZ_EXPR_TOK_END) {
        struct bz_expr_node *item;

        if (c.comma && (rc = bz_expr_parse_expect(&p, BZ_EXPR_TOK_COMMA)) < 0)
            return rc;
        c.comma = true;
        if (p.lex.tok == BZ_EXPR_TOK_END)
            break;
        if ((rc = bz_expr_parse_expression(&p, &item)) < 0)
            return rc;
        bz_expr_parse_add(&c, item);
    }
    return bz_expr_parse_bundle(&p, BZ_EXPR_NODE_TUPLE, &c, out);
}
