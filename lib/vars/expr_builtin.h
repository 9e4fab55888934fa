/* expr_builtin.h - Python's own functions: len(), int(), sorted() ... */
#ifndef BZ_VARS_EXPR_BUILTIN_H
#define BZ_VARS_EXPR_BUILTIN_H

#include "vars/expr_call.h"

/* The function of that name, or NULL. */
const struct bz_expr_fn *bz_expr_builtin_find(struct bz_str name);

/* Whether Python has something of that name which is not among them; BitBake never
 * takes such a name for a variable. */
bool bz_expr_builtin_reserved(struct bz_str name);

#endif
