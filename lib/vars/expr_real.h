/* expr_real.h - os.path.realpath() and what is made of it.
 *
 * Names in a path that do not exist stay as they are, as in Python. Relative paths,
 * loops of links and paths too long for the kernel are BZ_E_NOSUP.
 */
#ifndef BZ_VARS_EXPR_REAL_H
#define BZ_VARS_EXPR_REAL_H

#include "vars/expr_call.h"

int bz_expr_real_path(struct bz_expr_run *r, struct bz_str path,
                      struct bz_expr_value *out);

/* oe.path.canonicalize(paths, sep): each part of a list that has no '$' in it. */
int bz_expr_real_list(struct bz_expr_run *r, const struct bz_expr_args *a,
                      struct bz_expr_value *out);

#endif
