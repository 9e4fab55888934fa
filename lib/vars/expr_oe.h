/* expr_oe.h - the functions of OpenEmbedded's module oe that inline code uses most and
 * that have kept their meaning over its releases. */
#ifndef BZ_VARS_EXPR_OE_H
#define BZ_VARS_EXPR_OE_H

#include "vars/expr_call.h"

/* By the whole name, "oe.utils.conditional"; or NULL. */
const struct bz_expr_fn *bz_expr_oe_find(struct bz_str name);

#endif
