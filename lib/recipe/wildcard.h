/* wildcard.h - which files a pattern of BBFILES means.
 *
 * As Python's glob does it: `*`, `?` and `[...]` within one component of a path, names
 * that begin with a dot only if the pattern says so. Directories are read through the
 * library, which remembers them; every path that was looked at is reported, since a
 * change there may change the answer.
 */
#ifndef BZ_RECIPE_WILDCARD_H
#define BZ_RECIPE_WILDCARD_H

#include "recipe/library.h"

/* Gets the files in no particular order, each perhaps more than once, and the paths
 * that were looked at. What it is called with is gone after the call. */
struct bz_wildcard_to {
    void (*found)(void *ctx, struct bz_str path);
    bz_library_tried_fn looked;
    void *ctx;
};

/* BZ_E_LIMIT if a directory is nested too deep. */
int bz_wildcard_expand(struct bz_library *lib, struct bz_str pattern,
                       const struct bz_wildcard_to *to,
                       struct bz_err *err) BZ_MUST_CHECK;

/* All .bb and .bbappend files below a directory; links to directories are not followed,
 * nor are the directories of old version control systems. */
int bz_wildcard_below(struct bz_library *lib, struct bz_str dir,
                      const struct bz_wildcard_to *to,
                      struct bz_err *err) BZ_MUST_CHECK;

#endif
