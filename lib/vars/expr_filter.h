/* expr_filter.h - the names that a value filter knows.
 *
 * A filter sees `val`, a few functions of its own and a choice of Python's, and nothing
 * else: no variables, no modules but for bb.utils.explode_deps.
 */
#ifndef BZ_VARS_EXPR_FILTER_H
#define BZ_VARS_EXPR_FILTER_H

#include "vars/expr_value.h"

/* BZ_E_INVAL ("NameError: ...") for what is Python's and not among them. */
int bz_expr_filter_name(struct bz_expr_run *r, struct bz_str name,
                        struct bz_expr_value *out);

#endif
