/* py_letter.h - which characters Python's names are made of. */
#ifndef BZ_CODE_PY_LETTER_H
#define BZ_CODE_PY_LETTER_H

#include <stdbool.h>

#include "base/str.h"

static inline bool bz_py_letter_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Whether the byte may be a part of a name; all of those beyond ASCII may. */
static inline bool bz_py_letter_is_name(char c)
{
    return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || bz_py_letter_is_digit(c) ||
           c == '_' || (unsigned char)c >= 0x80;
}

/* Whether the name, in UTF-8, has none of the characters beyond ASCII that are known to
 * be no letters: spaces, quotes, dashes, arrows and the like. Python knows more. */
bool bz_py_letter_may_name(struct bz_str name);

#endif
