/* expr_format.h - text from a pattern and values: "%s" % x, "{}".format(x). */
#ifndef BZ_VARS_EXPR_FORMAT_H
#define BZ_VARS_EXPR_FORMAT_H

#include "vars/expr_value.h"

/* pattern % arg, `arg` being a tuple of arguments, a dictionary of them, or the only
 * one. */
int bz_expr_format_percent(struct bz_expr_run *r, struct bz_str pattern,
                           const struct bz_expr_value *arg, struct bz_expr_value *out);

/* pattern.format(*args); fields have a number or nothing in them. */
int bz_expr_format_braces(struct bz_expr_run *r, struct bz_str pattern,
                          const struct bz_expr_value *args, size_t n,
                          struct bz_expr_value *out);

#endif
