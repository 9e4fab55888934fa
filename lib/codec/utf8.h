/* utf8.h - which bytes are UTF-8.
 *
 * As RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF. Pure
 * functions, callable from any thread.
 */
#ifndef BZ_CODEC_UTF8_H
#define BZ_CODEC_UTF8_H

#include "base/str.h"

/* The length, 1 to 4, of the character that the n > 0 bytes at p begin with; 0 if they
 * begin with none. */
size_t bz_utf8_len(const char *p, size_t n) BZ_NONNULL;

/* How many bytes at the start of s are UTF-8: s.n if all are. */
size_t bz_utf8_valid(struct bz_str s);

#endif
