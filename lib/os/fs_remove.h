/* fs_remove.h - remove a file or a whole tree, whatever a task left in it.
 *
 *   1. Symbolic links are removed, never followed, also when an entry is exchanged for
 *      one meanwhile: every step is relative to an open directory.
 *   2. Mounts inside the tree are not entered, so a forgotten bind mount does not cost
 *      the user the directory behind it; each is reported as an error. (The system
 *      call for this came with Linux 5.6; older kernels enter them.)
 *   3. Directories without read, write or search permission are made accessible first;
 *      that works for their owner.
 *   4. Depth is unbounded: below BZ_FS_REMOVE_DEPTH levels a directory is moved up to
 *      the root of the tree and removed from there.
 *   5. One entry that cannot be removed does not protect the others: the first error is
 *      reported at the end.
 */
#ifndef BZ_OS_FS_REMOVE_H
#define BZ_OS_FS_REMOVE_H

#include "base/err.h"

#define BZ_FS_REMOVE_DEPTH 64 /* descriptors open at once */

/* Nothing at `path` is success. BZ_E_INVAL for "/", "" and a last "." or "..". */
int bz_fs_remove(int dir, const char *path, struct bz_err *err) BZ_MUST_CHECK;

#endif
