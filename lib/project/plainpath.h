/* plainpath.h - a name that lists of words can hold, for a directory that has none.
 *
 * BBLAYERS and BBFILES are words with blanks between them, in text in which quotes and
 * ${} mean something. A directory whose path has any of these is named by a symbolic
 * link, whose name is made of the path: the same one every time.
 */
#ifndef BZ_PROJECT_PLAINPATH_H
#define BZ_PROJECT_PLAINPATH_H

#include "base/err.h"
#include "os/path.h"

/* `dir` itself if words can hold it, else a link to it in the directory `links`, which
 * is made, for its owner alone, if it is not there. BZ_E_INVAL if that is another
 * user's, or if its own path will not do. */
int bz_plainpath_make(const char *links, const char *dir, struct bz_path *out,
                      struct bz_err *err) BZ_MUST_CHECK;

#endif
