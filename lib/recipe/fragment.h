/* fragment.h - addfragments: named pieces of configuration, switched on by a
 * list.
 *
 * An item of the list is LAYER/NAME, the file PREFIX/NAME.conf of that layer,
 * or BUILTIN/VALUE, which sets the variable that BUILTIN stands for.
 */
#ifndef BZ_RECIPE_FRAGMENT_H
#define BZ_RECIPE_FRAGMENT_H

#include "recipe/eval.h"

int bz_fragment_add(struct bz_eval *e, const struct bz_ast_stmt *s,
                    struct bz_err *err) BZ_MUST_CHECK;

#endif
