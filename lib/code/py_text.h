/* py_text.h - the value of a string literal.
 *
 * Escapes are resolved as Python does. Half of a surrogate pair is written as the three
 * bytes that UTF-8 would use for it.
 */
#ifndef BZ_CODE_PY_TEXT_H
#define BZ_CODE_PY_TEXT_H

#include "base/arena.h"
#include "code/py_lex.h"

/* The value of what stands between the quotes, in `body` itself or in the arena. *known
 * is false if it has a character by its name (\N{...}), which is not looked up; out is
 * then not the value. BZ_E_INVAL if Python refuses it; the message is without a place.
 */
int bz_py_text_value(struct bz_py_quote q, struct bz_str body, struct bz_arena *arena,
                     struct bz_str *out, bool *known, struct bz_err *err) BZ_MUST_CHECK;

#endif
