/* expr_str.h - the methods of strings, but for those of expr_split.h and expr_case.h.
 */
#ifndef BZ_VARS_EXPR_STR_H
#define BZ_VARS_EXPR_STR_H

#include "vars/expr_call.h"

/* The method of that name, or NULL; also those of the other two. */
const struct bz_expr_fn *bz_expr_str_method(struct bz_str name);

/* sep.join(items) */
int bz_expr_str_join(struct bz_expr_run *r, struct bz_str sep,
                     const struct bz_expr_value *items, struct bz_expr_value *out);

/* text.replace(from, to); `most` < 0 is all. */
int bz_expr_str_replace(struct bz_expr_run *r, const struct bz_expr_value *text,
                        struct bz_str from, struct bz_str to, int64_t most,
                        struct bz_expr_value *out);

/* text.strip(chars), chars being ASCII. */
struct bz_str bz_expr_str_strip(struct bz_str text, struct bz_str chars);

#endif
