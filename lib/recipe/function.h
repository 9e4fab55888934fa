/* function.h - functions as variables: their text, what kind they are, where
 * they are.
 *
 * Shell and Python functions alike are kept as text. `func`, `python` and
 * `fakeroot` are flags, as are `filename` and `lineno`. These tell of the last
 * statement about a function. meta->bodies has each statement that changes a Python
 * function, and each one about a function whose name ends in that of a built-in task.
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

/* Whether bitzel has a step of its own for the task where that is in Python: do_fetch,
 * do_unpack and do_patch (task/builtin.h). */
bool bz_function_built_in(struct bz_str task);

/* Whether a text is one that EXPORT_FUNCTIONS made for a Python function, which it then
 * calls. */
bool bz_function_exported(struct bz_str text, struct bz_str *called);

#endif
