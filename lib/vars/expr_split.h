/* expr_split.h - the methods of strings that make several of one. */
#ifndef BZ_VARS_EXPR_SPLIT_H
#define BZ_VARS_EXPR_SPLIT_H

#include "vars/expr_call.h"

/* The method of that name, or NULL. */
const struct bz_expr_fn *bz_expr_split_method(struct bz_str name);

/* text.split() and text.split(sep). */
int bz_expr_split_words(struct bz_expr_run *r, const struct bz_expr_value *text,
                        struct bz_expr_value *out);
int bz_expr_split_at(struct bz_expr_run *r, const struct bz_expr_value *text,
                     struct bz_str sep, struct bz_expr_value *out);

#endif
