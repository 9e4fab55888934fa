/* expr_lib.h - the functions of modules, by their dotted names, and the methods of `d`.
 */
#ifndef BZ_VARS_EXPR_LIB_H
#define BZ_VARS_EXPR_LIB_H

#include "vars/expr_call.h"

/* Whether functions of a module of that name are known: bb, oe, os, time. */
bool bz_expr_lib_module(struct bz_str name);

/* "bb.utils.contains"; or NULL. */
const struct bz_expr_fn *bz_expr_lib_find(struct bz_str name);

/* The method of `d` of that name, or NULL. */
const struct bz_expr_fn *bz_expr_lib_data(struct bz_str name);

/* For the functions themselves. The value of a variable: a string or None. The name is
 * an argument, and so may be anything; so may what is passed as `d`. */
int bz_expr_lib_get(struct bz_expr_run *r, const struct bz_expr_value *name,
                    unsigned how, struct bz_expr_value *out);
int bz_expr_lib_get_named(struct bz_expr_run *r, struct bz_str name,
                          struct bz_expr_value *out);
int bz_expr_lib_want_data(struct bz_expr_run *r, const struct bz_expr_value *v);

/* As Python does when a method of strings is called on it: BZ_E_INVAL for None. */
int bz_expr_lib_want_str(struct bz_expr_run *r, const struct bz_expr_value *v,
                         const char *method);

#endif
