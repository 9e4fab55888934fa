/* expr_quick.h - the two expressions that are most of all inline code, read by eye.
 *
 * bb.utils.contains('VARIABLE', 'words', 'this', 'that', d), or contains_any, with
 * plain strings only, is half of it. And every recipe asks again and again for its PN,
 * bb.parse.vars_from_file(d.getVar('FILE', False), d)[0] or 'name', and PV and PR; but
 * references are left to the long way. Both are recognised and answered without tokens,
 * a tree or memory. What is done is what expr_eval.c would do.
 */
#ifndef BZ_VARS_EXPR_QUICK_H
#define BZ_VARS_EXPR_QUICK_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

struct bz_refs;
struct bz_vars;

/* *done is false if it is another expression, and then nothing has happened. */
int bz_expr_quick(struct bz_vars *v, struct bz_str code, struct bz_refs *refs,
                  struct bz_str *out, bool *done, struct bz_err *err) BZ_MUST_CHECK;

#endif
