#include "vars/expr_bracket.h"

/* What a `for` assigns to: a name, or several in a row, which may have brackets. */
static int targets(struct bz_expr_parser *p, struct bz_expr_node **out);

static int target(struct bz_expr_parser *p, struct bz_expr_node **out)
{
    bool list = p->lex.tok == BZ_EXPR_TOK_OPEN_LIST;
    int rc;

    *out = NULL;
    if (p->lex.tok == BZ_EXPR_TOK_NAME) {
        *out = bz_expr_parse_new(p, BZ_EXPR_NODE_NAME);
        (*out)->text = p->lex.text;
        return bz_expr_parse_next(p);
    }
    if (p->lex.tok != BZ_EXPR_TOK_OPEN && !list)
        return bz_expr_parse_unexpected(p);
    if ((rc = bz_expr_parse_enter(p)) < 0 || (rc = bz_expr_parse_next(p)) < 0 ||
        (rc = targets(p, out)) < 0)
        return rc;
    p->nested--;
    return bz_expr_parse_expect(p, list ? BZ_EXPR_TOK_CLOSE_LIST : BZ_EXPR_TOK_CLOSE);
}

static int targets(struct bz_expr_parser *p, struct bz_expr_node **out)
{
    struct bz_expr_chain c = {0};
    int rc = target(p, out);

    if (rc < 0 || p->lex.tok != BZ_EXPR_TOK_COMMA)
        return rc;
    bz_expr_parse_add(&c, *out);
    while (p->lex.tok == BZ_EXPR_TOK_COMMA) {
        struct bz_expr_node *more;

        if ((rc = bz_expr_parse_next(p)) < 0)
            return rc;
        if (p->lex.tok != BZ_EXPR_TOK_NAME && p->lex.tok != BZ_EXPR_TOK_OPEN &&
            p->lex.tok != BZ_EXPR_TOK_OPEN_LIST)
            break;
        if ((rc = target(p, &more)) < 0)
            return rc;
        bz_expr_parse_add(&c, more);
    }
    return bz_expr_parse_bundle(p, BZ_EXPR_NODE_TUPLE, &c, out);
}

/* The clauses of a comprehension whose element is read already. */
int bz_expr_bracket_comprehension(struct bz_expr_parser *p, enum bz_expr_node_kind kind,
                                  struct bz_expr_node *element,
                                  struct bz_expr_node **out)
{
    struct bz_expr_chain clauses = {0};
    int rc = 0;

    while (rc == 0 && (p->lex.tok == BZ_EXPR_TOK_FOR ||
                       (p->lex.tok == BZ_EXPR_TOK_IF && clauses.n > 0))) {
        struct bz_expr_node *clause, *what = NULL, *in = NULL;
        enum bz_expr_node_kind which = BZ_EXPR_NODE_IF;

        if (p->lex.tok == BZ_EXPR_TOK_FOR) {
            which = BZ_EXPR_NODE_FOR;
            if ((rc = bz_expr_parse_next(p)) < 0 || (rc = targets(p, &what)) < 0 ||
                (rc = bz_expr_parse_expect(p, BZ_EXPR_TOK_IN)) < 0 ||
                (rc = bz_expr_parse_disjunction(p, &in)) < 0)
                return rc;
        } else if ((rc = bz_expr_parse_next(p)) < 0 ||
                   (rc = bz_expr_parse_disjunction(p, &what)) < 0) {
            return rc;
        }
        rc = bz_expr_parse_join(p, which, what, in, NULL, &clause);
        bz_expr_parse_add(&clauses, clause);
    }
    if (rc < 0)
        return rc;
    *out = bz_expr_parse_new(p, kind);
    (*out)->a = element;
    (*out)->c = clauses.first;
    return bz_expr_parse_above(p, *out,
                               bz_expr_parse_deeper(element->depth, clauses.depth));
}

/* The rest of a bracket: expressions up to `close`, which is read too. Before a `for`
 * it stops and sets `comp`. */
static int items(struct bz_expr_parser *p, enum bz_expr_tok close,
                 struct bz_expr_chain *c)
{
    int rc;

    while (p->lex.tok != close) {
        struct bz_expr_node *item;

        if (c->n > 0) {
            c->comma = true;
            if ((rc = bz_expr_parse_expect(p, BZ_EXPR_TOK_COMMA)) < 0)
                return rc;
            if (p->lex.tok == close)
                break;
        }
        if ((rc = bz_expr_parse_expression(p, &item)) < 0)
            return rc;
        bz_expr_parse_add(c, item);
        if (c->n == 1 && p->lex.tok == BZ_EXPR_TOK_FOR) {
            c->comp = true;
            return 0;
        }
    }
    return bz_expr_parse_next(p);
}

/* ( ... ) or [ ... ] in the place of an operand. */
int bz_expr_bracket_sequence(struct bz_expr_parser *p, bool list,
                             struct bz_expr_node **out)
{
    enum bz_expr_tok close = list ? BZ_EXPR_TOK_CLOSE_LIST : BZ_EXPR_TOK_CLOSE;
    struct bz_expr_chain c = {0};
    int rc;

    if ((rc = bz_expr_parse_next(p)) < 0 || (rc = items(p, close, &c)) < 0)
        return rc;
    if (c.comp) {
        rc = bz_expr_bracket_comprehension(
            p, list ? BZ_EXPR_NODE_LIST_FOR : BZ_EXPR_NODE_GENERATOR, c.first, out);
        return rc < 0 ? rc : bz_expr_parse_expect(p, close);
    }
    if (!list && c.n == 1 && !c.comma) {
        *out = c.first;
        return 0;
    }
    return bz_expr_parse_bundle(p, list ? BZ_EXPR_NODE_LIST : BZ_EXPR_NODE_TUPLE, &c,
                                out);
}

/* The value that belongs to a key, as a pair of both. */
static int pair(struct bz_expr_parser *p, struct bz_expr_node *key,
                struct bz_expr_node **out)
{
    struct bz_expr_node *value;
    int rc;

    if ((rc = bz_expr_parse_next(p)) < 0 ||
        (rc = bz_expr_parse_expression(p, &value)) < 0)
        return rc;
    return bz_expr_parse_join(p, BZ_EXPR_NODE_PAIR, key, value, NULL, out);
}

/* One element of { ... }. The first decides what it is going to be. */
static int brace_item(struct bz_expr_parser *p, const struct bz_expr_chain *c,
                      bool *dict, struct bz_expr_node **out)
{
    int rc = bz_expr_parse_expression(p, out);

    if (rc < 0)
        return rc;
    if (c->n == 0)
        *dict = p->lex.tok == BZ_EXPR_TOK_COLON;
    if (!*dict)
        return 0;
    return p->lex.tok == BZ_EXPR_TOK_COLON ? pair(p, *out, out)
                                           : bz_expr_parse_unexpected(p);
}

int bz_expr_bracket_braces(struct bz_expr_parser *p, struct bz_expr_node **out)
{
    struct bz_expr_chain c = {0};
    bool dict = true;
    int rc = bz_expr_parse_next(p);

    while (rc == 0 && p->lex.tok != BZ_EXPR_TOK_CLOSE_DICT) {
        struct bz_expr_node *item = NULL;

        if (c.n > 0 && (rc = bz_expr_parse_expect(p, BZ_EXPR_TOK_COMMA)) < 0)
            return rc;
        if (p->lex.tok == BZ_EXPR_TOK_CLOSE_DICT)
            break;
        if ((rc = brace_item(p, &c, &dict, &item)) < 0)
            return rc;
        bz_expr_parse_add(&c, item);
        if (c.n == 1 && p->lex.tok == BZ_EXPR_TOK_FOR) {
            rc = bz_expr_bracket_comprehension(
                p, dict ? BZ_EXPR_NODE_DICT_FOR : BZ_EXPR_NODE_SET_FOR, item, out);
            return rc < 0 ? rc : bz_expr_parse_expect(p, BZ_EXPR_TOK_CLOSE_DICT);
        }
    }
    if (rc < 0 || (rc = bz_expr_parse_next(p)) < 0)
        return rc;
    return bz_expr_parse_bundle(p, dict ? BZ_EXPR_NODE_DICT : BZ_EXPR_NODE_SET, &c,
                                out);
}
