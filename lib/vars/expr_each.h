/* expr_each.h - those of Python's functions that walk what they are given. They are
 * rows of the table in expr_builtin.c. */
#ifndef BZ_VARS_EXPR_EACH_H
#define BZ_VARS_EXPR_EACH_H

#include "vars/expr_call.h"

int bz_expr_each_all(struct bz_expr_run *r, const struct bz_expr_args *a,
                     struct bz_expr_value *out);
int bz_expr_each_any(struct bz_expr_run *r, const struct bz_expr_args *a,
                     struct bz_expr_value *out);
int bz_expr_each_enumerate(struct bz_expr_run *r, const struct bz_expr_args *a,
                           struct bz_expr_value *out);
int bz_expr_each_filter(struct bz_expr_run *r, const struct bz_expr_args *a,
                        struct bz_expr_value *out);
int bz_expr_each_map(struct bz_expr_run *r, const struct bz_expr_args *a,
                     struct bz_expr_value *out);
int bz_expr_each_range(struct bz_expr_run *r, const struct bz_expr_args *a,
                       struct bz_expr_value *out);
int bz_expr_each_reversed(struct bz_expr_run *r, const struct bz_expr_args *a,
                          struct bz_expr_value *out);
int bz_expr_each_sorted(struct bz_expr_run *r, const struct bz_expr_args *a,
                        struct bz_expr_value *out);
int bz_expr_each_sum(struct bz_expr_run *r, const struct bz_expr_args *a,
                     struct bz_expr_value *out);
int bz_expr_each_zip(struct bz_expr_run *r, const struct bz_expr_args *a,
                     struct bz_expr_value *out);

/* min() and max(); `how` is BZ_EXPR_TOK_LT or BZ_EXPR_TOK_GT. */
int bz_expr_each_best(struct bz_expr_run *r, const struct bz_expr_args *a,
                      struct bz_expr_value *out);

#endif
