/* py_expr.h - Python's expressions, a part of the parser.
 *
 * The names are those of rules in Python's grammar, and what stands at the token at
 * hand is taken. NULL: it failed.
 */
#ifndef BZ_CODE_PY_EXPR_H
#define BZ_CODE_PY_EXPR_H

#include "code/py_parse.h"

/* All of the text as one expression, or several with commas. */
struct bz_py_node *bz_py_expr_alone(struct bz_py_parser *p);

struct bz_py_node *bz_py_expr_expression(struct bz_py_parser *p);
struct bz_py_node *bz_py_expr_named(struct bz_py_parser *p); /* may be NAME := ... */
/* Up to `or`: no lambda, no if. */
struct bz_py_node *bz_py_expr_disjunction(struct bz_py_parser *p);
/* Up to `|`: what may follow a star, or be a target. */
struct bz_py_node *bz_py_expr_bitwise(struct bz_py_parser *p);
/* At a star. */
struct bz_py_node *bz_py_expr_starred(struct bz_py_parser *p);

/* One or more with commas, each perhaps with a star; a TUPLE if there was a comma. */
struct bz_py_node *bz_py_expr_star_list(struct bz_py_parser *p);
/* The same, or a yield. */
struct bz_py_node *bz_py_expr_yield_or_list(struct bz_py_parser *p);
/* The same of targets, as in `for ... in`. */
struct bz_py_node *bz_py_expr_targets(struct bz_py_parser *p);

/* Adds the for ... in ... if ... clauses that follow, at least one, to a node. */
bool bz_py_expr_add_loops(struct bz_py_parser *p, struct bz_py_node *to);

/* Whether a `for` of a comprehension is at hand. */
static inline bool bz_py_expr_at_loop(const struct bz_py_parser *p)
{
    return p->lex.tok == BZ_PY_TOK_FOR || p->lex.tok == BZ_PY_TOK_ASYNC;
}

#endif
