/* expr_bb.h - the functions of BitBake's module bb. */
#ifndef BZ_VARS_EXPR_BB_H
#define BZ_VARS_EXPR_BB_H

#include "vars/expr_call.h"

/* By the whole name, "bb.utils.contains"; or NULL. */
const struct bz_expr_fn *bz_expr_bb_find(struct bz_str name);

/* Whether the words of `text` have all (or any) of the items wanted, which are the
 * words of a string or what can be seen in another value. */
int bz_expr_bb_has(struct bz_expr_run *r, struct bz_str text,
                   const struct bz_expr_value *items, bool any, bool *out);

/* The same for the words of a string, if they are only a few; else it is false and
 * nothing is said. */
bool bz_expr_bb_has_few(struct bz_str text, struct bz_str wanted, bool any, bool *out);

/* bb.utils.filter_string(text, items): those items that are words of text, sorted. */
int bz_expr_bb_filter_string(struct bz_expr_run *r, const struct bz_expr_value *text,
                             const struct bz_expr_value *items,
                             struct bz_expr_value *out);

/* bb.data.inherits_class(name, d) */
int bz_expr_bb_inherits(struct bz_expr_run *r, const struct bz_expr_value *name,
                        bool *out);

#endif
