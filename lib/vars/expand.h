/* expand.h - ${X} and ${@...}, replaced until nothing changes.
 *
 * The rules are those of BitBake's two regular expressions, applied by turns:
 *
 *   - ${NAME}, with one or more of a-z A-Z 0-9 - _ + . / ~ :, becomes the value of the
 *     variable, or stays if that is not set;
 *   - ${@CODE} on one line becomes the value of the expression. It ends at the first
 *     '}' that is not the end of a {...} in it, as long as another one follows. Code in
 *     which a ${NAME} is left is not run. A string literal without an end ends the
 * turn: no expression of the text is replaced in it.
 *
 * Every expansion of a value has a frame on the stack of the store, by which a value
 * that needs itself is recognised and an error can name the way that led to it.
 */
#ifndef BZ_VARS_EXPAND_H
#define BZ_VARS_EXPAND_H

#include "vars/store.h"

/* So deep may values refer to values; BitBake fails at the same depth. */
#define BZ_EXPAND_DEPTH 248

static inline bool bz_expand_needed(struct bz_str text)
{
    return text.n > 2 && bz_str_find(text, BZ_STR("${")) != BZ_STR_NONE;
}

/* Appends to `out`, which is empty, what the text expands to within the innermost
 * frame. `refs`, if not NULL, gets what is read on this level. */
int bz_expand_text(struct bz_vars *v, struct bz_str text, struct bz_refs *refs,
                   struct bz_buf *out, struct bz_err *err) BZ_MUST_CHECK;

/* The same within a frame of its own, as if the text were the value of `name`. */
int bz_expand_named(struct bz_vars *v, struct bz_str text, struct bz_str name,
                    struct bz_refs *refs, struct bz_buf *out,
                    struct bz_err *err) BZ_MUST_CHECK;

/* Opens a frame for the value of a cell; fails if it is open already, or too many are.
 * To be closed unless it fails. */
int bz_expand_enter(struct bz_vars *v, struct bz_store_frame *f,
                    struct bz_err *err) BZ_MUST_CHECK;
void bz_expand_leave(struct bz_vars *v, const struct bz_store_frame *f);

#endif
