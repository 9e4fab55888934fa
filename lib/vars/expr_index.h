/* expr_index.h - subscripts: of[index] and of[from:to:step]. */
#ifndef BZ_VARS_EXPR_INDEX_H
#define BZ_VARS_EXPR_INDEX_H

#include "vars/expr_value.h"

int bz_expr_index_get(struct bz_expr_run *r, const struct bz_expr_value *of,
                      const struct bz_expr_value *index, struct bz_expr_value *out);

/* What is missing in a slice is None. */
int bz_expr_index_slice(struct bz_expr_run *r, const struct bz_expr_value *of,
                        const struct bz_expr_value part[3], struct bz_expr_value *out);

#endif
