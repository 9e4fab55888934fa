/* copied.h - a tree to work in that is a copy, and what a task has made of it.
 *
 * Stands in for an overlay where nothing can be mounted: the tree is what the layers
 * would show; afterwards it is compared with what it was, and what differs is moved to
 * a directory as an overlay would have left it in its upper layer: what is new or
 * changed with the directories that it lies in, a whiteout (character device 0/0) for
 * what is gone, and the attribute user.overlay.opaque on a directory in place of
 * another.
 *
 * That a file has changed is seen by its inode and the time of its last change, which
 * nobody can set. The clock of the kernel moves in steps, so the tree is given to a
 * task only a step after its files were made. One thread.
 */
#ifndef BZ_EXEC_COPIED_H
#define BZ_EXEC_COPIED_H

#include "base/arena.h"
#include "base/map.h"

struct bz_copied {
    const char *root;
    struct bz_arena arena;
    struct bz_map before; /* path -> what was there, for this module's own use */
};

/* Makes the directory `root` from layers, the topmost first; what was there is removed.
 * `expect`, if not empty, is a path below it for directories that the task finds, and
 * that are not its work. What is below `upper`, a directory, was made for the task: it
 * moves to the tree, and is its work. Release *c in any case; `root` outlives it. */
int bz_copied_make(struct bz_copied *c, const char *root, const char *const *layers,
                   size_t n, struct bz_str expect, const char *upper,
                   struct bz_err *err) BZ_MUST_CHECK;

/* Lays what is below a directory, which is left without it, on another: a tree to work
 * in, or an upper layer, in which a directory in place of a whiteout becomes opaque. */
int bz_copied_lay(const char *from, const char *to, struct bz_err *err) BZ_MUST_CHECK;

/* Moves what differs to `upper`, which is empty. */
int bz_copied_capture(struct bz_copied *c, const char *upper,
                      struct bz_err *err) BZ_MUST_CHECK;

void bz_copied_release(struct bz_copied *c);

#endif
