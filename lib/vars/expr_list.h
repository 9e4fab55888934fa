/* expr_list.h - the methods of lists, tuples, sets and dictionaries, as far as they
 * change nothing. */
#ifndef BZ_VARS_EXPR_LIST_H
#define BZ_VARS_EXPR_LIST_H

#include "vars/expr_call.h"

/* The method of that name that values of that kind have, or NULL. */
const struct bz_expr_fn *bz_expr_list_method(enum bz_expr_kind kind,
                                             struct bz_str name);

/* A list with the values of `seq`, sorted; they are all strings or all numbers, else it
 * is BZ_E_NOSUP. `keys`, if not NULL, has what to sort by, one for each. */
int bz_expr_list_sort(struct bz_expr_run *r, const struct bz_expr_seq *seq,
                      const struct bz_expr_seq *keys, bool reverse,
                      struct bz_expr_value *out);

#endif
