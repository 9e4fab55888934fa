/* function.h - functions as variables: their text, what kind they are, where
 * they are.
 *
 * Shell and Python functions alike are kept as text. `func`, `python` and
 * `fakeroot` are flags, as are `filename` and `lineno`.
 */
#ifndef BZ_RECIPE_FUNCTION_H
#define BZ_RECIPE_FUNCTION_H

#include "recipe/eval.h"

/* name () { ... } and python name () { ... }; without a name, an anonymous
 * function. */
int bz_function_define(struct bz_eval *e, const struct bz_ast_stmt *s,
                       struct bz_err *err) BZ_MUST_CHECK;

/* def name(...): */
int bz_function_def(struct bz_eval *e, const struct bz_ast_stmt *s,
                    struct bz_err *err) BZ_MUST_CHECK;

/* EXPORT_FUNCTIONS a b: a calls <class>_a, unless a recipe defines its own. */
int bz_function_export(struct bz_eval *e, const struct bz_ast_stmt *s,
                       struct bz_err *err) BZ_MUST_CHECK;

#endif
