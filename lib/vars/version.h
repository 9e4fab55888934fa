/* version.h - the order of versions, as bb.utils.vercmp() sees it.
 *
 * A version is an epoch, a version proper and a revision ("1:2.0-r3"). The latter two
 * are compared piece by piece: numbers, words, and single other characters, where '~'
 * is less than the end of the text. Pure functions, any thread.
 */
#ifndef BZ_VARS_VERSION_H
#define BZ_VARS_VERSION_H

#include "base/str.h"

struct bz_version {
    int64_t epoch;
    struct bz_str version, revision;
};

/* "1:2.0-r3" in its parts, without the operator before it. BZ_E_INVAL if the epoch is
 * no number. The slices point into `text`. */
int bz_version_split(struct bz_str text, struct bz_version *out,
                     struct bz_err *err) BZ_MUST_CHECK;

/* From PE, PV and PR; an empty PE is 0. BZ_E_INVAL if it is no number. */
int bz_version_from(struct bz_str pe, struct bz_str pv, struct bz_str pr,
                    struct bz_version *out, struct bz_err *err) BZ_MUST_CHECK;

/* Negative, 0 or positive: the difference of the epochs (at most INT64_MAX), or if they
 * are equal, -1, 0 or 1. */
int64_t bz_version_compare(const struct bz_version *a, const struct bz_version *b);

/* Whether an order as above satisfies an operator: = == != < << <= > >> >=. False if it
 * is none of these, and then *known is false. */
bool bz_version_holds(int64_t order, struct bz_str op, bool *known);

#endif
