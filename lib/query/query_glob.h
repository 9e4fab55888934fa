/* query_glob.h - patterns of names: `*`, `?` and `[...]`.
 *
 * `*` stands for any text, `?` for one byte, `[a-z]` and `[!a-z]` for one byte of a
 * set. A '[' without its end stands for itself. Time is bounded by the product of the
 * two lengths. Pure; any thread.
 */
#ifndef BZ_QUERY_QUERY_GLOB_H
#define BZ_QUERY_QUERY_GLOB_H

#include "base/str.h"

/* Whether it is a pattern at all, and not just a text. */
bool bz_query_glob_is(struct bz_str pattern);

/* Whether all of the text is as the pattern says. */
bool bz_query_glob_match(struct bz_str pattern, struct bz_str text);

#endif
