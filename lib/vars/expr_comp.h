/* expr_comp.h - comprehensions: [x for x in y if z] and its kin. */
#ifndef BZ_VARS_EXPR_COMP_H
#define BZ_VARS_EXPR_COMP_H

#include "vars/expr_parse.h"
#include "vars/expr_value.h"

int bz_expr_comp_eval(struct bz_expr_run *r, const struct bz_expr_node *node,
                      struct bz_expr_value *out);

#endif
