/* expr_feature.h - those functions of oe.utils that treat variables as sets of words.
 * They are rows of the table in expr_oe.c. */
#ifndef BZ_VARS_EXPR_FEATURE_H
#define BZ_VARS_EXPR_FEATURE_H

#include "vars/expr_call.h"

/* both_contain(variable1, variable2, checkvalue, d) */
int bz_expr_feature_both(struct bz_expr_run *r, const struct bz_expr_args *a,
                         struct bz_expr_value *out);
/* set_intersect(variable1, variable2, d) */
int bz_expr_feature_intersect(struct bz_expr_run *r, const struct bz_expr_args *a,
                              struct bz_expr_value *out);
/* set_difference(variable1, variable2, d) */
int bz_expr_feature_difference(struct bz_expr_run *r, const struct bz_expr_args *a,
                               struct bz_expr_value *out);
/* filter_default_features(varname, d) */
int bz_expr_feature_defaults(struct bz_expr_run *r, const struct bz_expr_args *a,
                             struct bz_expr_value *out);
/* all_distro_features(d, features, truevalue, falsevalue), any_distro_features */
enum { BZ_EXPR_FEATURE_ALL, BZ_EXPR_FEATURE_ANY };
int bz_expr_feature_distro(struct bz_expr_run *r, const struct bz_expr_args *a,
                           struct bz_expr_value *out);

#endif
