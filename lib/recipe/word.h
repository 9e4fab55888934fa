/* word.h - which characters a name of Python may have.
 *
 * BitBake's patterns call them \w: letters and numbers of every script, and the
 * underscore. Pure functions, callable from any thread.
 */
#ifndef BZ_RECIPE_WORD_H
#define BZ_RECIPE_WORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

bool bz_word_has(uint32_t c);

/* The offset after all such characters from `at` on; s is valid UTF-8. */
size_t bz_word_skip(struct bz_str s, size_t at);

#endif
