/* regex.h - regular expressions as Python writes them; the one door to PCRE2.
 *
 * BBFILE_PATTERN and BBMASK are given to Python's re.match and re.search.
 * Matching is bounded: an expression that takes too long on a path does not
 * match it.
 */
#ifndef BZ_RECIPE_REGEX_H
#define BZ_RECIPE_REGEX_H

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

struct bz_regex;

enum bz_regex_how {
    BZ_REGEX_SEARCH, /* anywhere */
    BZ_REGEX_MATCH,  /* at the beginning */
};

/* BZ_E_INVAL with the position and the reason if it is wrong. */
int bz_regex_new(struct bz_str pattern, enum bz_regex_how how, struct bz_regex **out,
                 struct bz_err *err) BZ_MUST_CHECK;
void bz_regex_free(struct bz_regex *r); /* NULL is allowed */

/* One thread at a time. */
bool bz_regex_test(struct bz_regex *r, struct bz_str text);

#endif
