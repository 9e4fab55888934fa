/* expr_op.h - the operators: arithmetic and comparison. */
#ifndef BZ_VARS_EXPR_OP_H
#define BZ_VARS_EXPR_OP_H

#include "vars/expr_value.h"

int bz_expr_op_unary(struct bz_expr_run *r, enum bz_expr_tok op,
                     const struct bz_expr_value *a, struct bz_expr_value *out);
int bz_expr_op_binary(struct bz_expr_run *r, enum bz_expr_tok op,
                      const struct bz_expr_value *a, const struct bz_expr_value *b,
                      struct bz_expr_value *out);
int bz_expr_op_compare(struct bz_expr_run *r, enum bz_expr_tok op,
                       const struct bz_expr_value *a, const struct bz_expr_value *b,
                       bool *out);

#endif
