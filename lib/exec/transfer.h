/* transfer.h - single entries of directories, brought to another: all but directories.
 *
 * Names keep their bytes, modes and times; owners are ours.
 */
#ifndef BZ_EXEC_TRANSFER_H
#define BZ_EXEC_TRANSFER_H

#include <stdbool.h>

#include "os/fs_walk.h"

/* Makes `path` below the directory `to`, where there must be nothing, like the entry.
 * It shares blocks of the disk if the file system can, but is a file of its own. */
int bz_transfer_copy(const struct bz_fs_walk_entry *e, int to, const char *path,
                     struct bz_err *err) BZ_MUST_CHECK;

/* The same, and the entry is gone afterwards. */
int bz_transfer_move(const struct bz_fs_walk_entry *e, int to, const char *path,
                     struct bz_err *err) BZ_MUST_CHECK;

/* Whether two open files have the same bytes; false if one cannot be read. */
bool bz_transfer_same(int a, int b);

#endif
