/* expr_version.h - the order of versions, as bb.utils.vercmp_string() sees it: an
 * epoch, a version and a revision ("1:2.0-r3"), the latter two compared piece by piece,
 * where '~' is less than the end of the text. */
#ifndef BZ_VARS_EXPR_VERSION_H
#define BZ_VARS_EXPR_VERSION_H

#include "vars/expr_value.h"

/* Negative, 0 or positive, with the very number that BitBake gives. */
int bz_expr_version_compare(struct bz_expr_run *r, const struct bz_expr_value *a,
                            const struct bz_expr_value *b, int64_t *out);

#endif
