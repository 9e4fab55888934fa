/* apply.h - the assignment statement: what its eight operators do to a store.
 */
#ifndef BZ_RECIPE_APPLY_H
#define BZ_RECIPE_APPLY_H

#include "recipe/eval.h"

int bz_apply_assignment(struct bz_eval *e, const struct bz_ast_stmt *s,
                        struct bz_err *err) BZ_MUST_CHECK;

#endif
