/* tree_stamp.h - whether anybody has changed a laid-out tree since it was checked.
 *
 * A stamp is a digest of the names, kinds, inodes, sizes, modes and times of everything
 * below a directory, kept in an extended attribute of the directory. The change time
 * counts for files with one name: a write, a chmod and a rename all set it, and no
 * program can set it back. A file with several names gets another change time with each
 * new name, so there the modification time has to do. The directory itself does not
 * count: its time tells when it was last used (expanded.h).
 *
 * Comparing costs one stat per entry and reads no file. Any thread.
 */
#ifndef BZ_CACHE_TREE_STAMP_H
#define BZ_CACHE_TREE_STAMP_H

#include "base/defs.h"

enum bz_tree_stamp {
    BZ_TREE_STAMP_NONE, /* there is none, or the tree cannot be read */
    BZ_TREE_STAMP_SAME,
    BZ_TREE_STAMP_CHANGED,
};

/* Stamps the directory `path` as it is now. Without effect on a file system that has no
 * extended attributes. */
void bz_tree_stamp_set(const char *path);
enum bz_tree_stamp bz_tree_stamp_check(const char *path);

#endif
