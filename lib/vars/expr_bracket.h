/* expr_bracket.h - the part of the parser for what stands in brackets: tuples, lists,
 * sets, dictionaries and comprehensions. */
#ifndef BZ_VARS_EXPR_BRACKET_H
#define BZ_VARS_EXPR_BRACKET_H

#include "vars/expr_parse.h"

/* ( ... ) or [ ... ] in the place of an operand. */
int bz_expr_bracket_sequence(struct bz_expr_parser *p, bool list,
                             struct bz_expr_node **out);

/* { ... }: a set or a dictionary, as the first element tells. */
int bz_expr_bracket_braces(struct bz_expr_parser *p, struct bz_expr_node **out);

/* The clauses of a comprehension whose element is read already. */
int bz_expr_bracket_comprehension(struct bz_expr_parser *p, enum bz_expr_node_kind kind,
                                  struct bz_expr_node *element,
                                  struct bz_expr_node **out);

#endif
