/* blame.h - tells where an evaluation failed, and which files led there.
 *
 * The statement with a caret under what is wrong with it, then the statement that
 * included or inherited its file, and so on up to the recipe. It goes where the
 * parser's own diagnostics go: to the notes of the evaluation, or to its library.
 */
#ifndef BZ_RECIPE_BLAME_H
#define BZ_RECIPE_BLAME_H

#include "recipe/eval.h"

/* The failure is that of the statement under way in e->top; err is its reason. Called
 * once, before any file is left. */
void bz_blame_tell(struct bz_eval *e, const struct bz_err *err);

#endif
