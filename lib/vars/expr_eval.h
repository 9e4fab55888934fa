/* expr_eval.h - the value of a tree.
 *
 * Comprehensions and generators are worked off at once. As Python would only do so when
 * somebody asks, and might ask for less, what fails in a generator is BZ_E_NOSUP.
 */
#ifndef BZ_VARS_EXPR_EVAL_H
#define BZ_VARS_EXPR_EVAL_H

#include "vars/expr_parse.h"
#include "vars/expr_value.h"

#define BZ_EXPR_EVAL_DEPTH 400

int bz_expr_eval_node(struct bz_expr_run *r, const struct bz_expr_node *node,
                      struct bz_expr_value *out);

/* Calls a value that is a function, as map() and sorted() do. */
int bz_expr_eval_apply(struct bz_expr_run *r, const struct bz_expr_value *fn,
                       const struct bz_expr_value *args, size_t n,
                       struct bz_expr_value *out);

/* A generator's failure, in other words. */
int bz_expr_eval_lazy(struct bz_expr_run *r, int rc);

#endif
