/* expr_case.h - the methods of strings about letters: lower(), isdigit() ... */
#ifndef BZ_VARS_EXPR_CASE_H
#define BZ_VARS_EXPR_CASE_H

#include "vars/expr_call.h"

/* The method of that name, or NULL. */
const struct bz_expr_fn *bz_expr_case_method(struct bz_str name);

/* text.lower(). BZ_E_NOSUP unless it is ASCII, as for all of them: Python has a table
 * of all of Unicode. */
int bz_expr_case_lower(struct bz_expr_run *r, struct bz_str text,
                       struct bz_expr_value *out);

#endif
