/* regex.h - regular expressions as Python writes them; the one door to PCRE2.
 *
 * BBFILE_PATTERN, BBMASK and MIRRORS are given to Python's re.match, re.search and
 * re.sub.
 * Matching is bounded: an expression that takes too long on a path does not
 * match it.
 */
#ifndef BZ_CODEC_REGEX_H
#define BZ_CODEC_REGEX_H

#include <stdbool.h>

#include "base/buf.h"

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

/* Appends the text with its first match replaced, as Python's re.sub with count=1:
 * \1 to \99 and \g<1> in `with` are what the groups matched, "\\" is a backslash. False
 * and nothing appended if there is no match. One thread at a time. */
bool bz_regex_replace(struct bz_regex *r, struct bz_str text, struct bz_str with,
                      struct bz_buf *out);

#endif
