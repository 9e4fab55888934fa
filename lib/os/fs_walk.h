/* fs_walk.h - visit everything below a directory, in a fixed order.
 *
 *   1. A directory comes before its contents; siblings come sorted by byte value. So
 *      two equal trees are visited equally on any file system.
 *   2. Symbolic links are reported, never followed; only the root may be one.
 *   3. Directories are opened relative to their parent, so a rename above does not
 *      lead the walk elsewhere.
 *   4. An entry that vanishes before its turn is passed over. A directory that turns
 *      into something else under the walk is an error.
 *
 * One descriptor is open per level, at most BZ_FS_WALK_DEPTH; nothing recurses.
 */
#ifndef BZ_OS_FS_WALK_H
#define BZ_OS_FS_WALK_H

#include <sys/stat.h>

#include "base/err.h"

#define BZ_FS_WALK_DEPTH 256

struct bz_fs_walk_entry {
    int dir;               /* the directory it lies in */
    const char *name;      /* its name there */
    const char *path;      /* its path below the root: "a/b/name" */
    const struct stat *st; /* of the entry itself, also when it is a link */
};

enum bz_fs_walk_next {
    BZ_FS_WALK_ON,   /* go on, into the entry if it is a directory */
    BZ_FS_WALK_SKIP, /* go on, but not into it */
    BZ_FS_WALK_STOP, /* end the walk; it succeeds */
};

/* Returns one of the above, or a negative code with `err` filled: the walk then ends
 * and passes it on. What the entry points to is gone after the call. */
typedef int (*bz_fs_walk_fn)(void *ctx, const struct bz_fs_walk_entry *e,
                             struct bz_err *err);

/* Visits all below `path` (the root itself is not reported). BZ_E_LIMIT when the tree
 * is deeper than BZ_FS_WALK_DEPTH. */
int bz_fs_walk(int dir, const char *path, bz_fs_walk_fn fn, void *ctx,
               struct bz_err *err) BZ_MUST_CHECK;

#endif
