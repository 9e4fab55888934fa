/* locate.h - which project a command is about.
 *
 * A project is a build directory, one with conf/bblayers.conf, or a kas file that one
 * is made from. The first of these decides:
 *
 *   1. what the user names: `option`, else `variable`
 *   2. the build directory that `builddir` names, else the first in `bbpath`
 *   3. the cwd or the nearest directory above it that has conf/bblayers.conf or, else,
 *      a file with one of the names kas projects use
 *   4. `sample`, the project for where there is none
 *
 * Nothing is read but what directories hold.
 */
#ifndef BZ_PROJECT_LOCATE_H
#define BZ_PROJECT_LOCATE_H

#include "base/arena.h"

/* Any may be NULL; one that is empty does not count. */
struct bz_locate_hints {
    const char *cwd;      /* absolute; where relative names start */
    const char *option;   /* --project: FILE[:FILE...] or a directory */
    const char *variable; /* $BITZEL_PROJECT: the same */
    const char *builddir; /* $BUILDDIR, as oe-init-build-env sets it */
    const char *bbpath;   /* $BBPATH: directories joined by ':' */
    const char *sample;   /* a build directory, which need not be there; see sample.h */
};

enum bz_locate_by {
    BZ_LOCATE_OPTION,
    BZ_LOCATE_VARIABLE,
    BZ_LOCATE_BUILDDIR,
    BZ_LOCATE_BBPATH,
    BZ_LOCATE_NEAR,
    BZ_LOCATE_SAMPLE,
};

struct bz_locate {
    enum bz_locate_by by;
    const char *files;     /* kas files joined by ':', or NULL */
    const char *build_dir; /* absolute and normalised; NULL if there are files */
};

/* BZ_E_NOENT if there is no project. The strings are in the arena. */
int bz_locate_find(struct bz_arena *arena, const struct bz_locate_hints *hints,
                   struct bz_locate *out, struct bz_err *err) BZ_MUST_CHECK;

/* Who decided, in a few words: "--project". */
const char *bz_locate_reason(enum bz_locate_by by);

#endif
