/* fs_source.h - a directory of local sources: the entries that are unpacked and count.
 *
 * The copy of a file:// source and its digest use this one walk, so that a key has
 * exactly the bytes that are unpacked.
 *
 *   1. A file has a name, its content, and is executable if its owner may execute it:
 *      mode 0755 or 0644. A directory has mode 0755. No other bit of a mode, no owner
 *      and no time belongs to the source, so a checkout's umask does not matter.
 *   2. A symbolic link is its target's text, wherever it leads. Only the root may be a
 *      link, which is followed.
 *   3. A directory belongs to the source even if it is empty.
 *   4. Directories of version control systems are left out with all below them: those
 *      that `excluded` names, and .git, .svn and CVS in any case. A file .git, as work
 *      trees and submodules have it, is left out too.
 *   5. A socket, FIFO or device is BZ_E_INVAL.
 */
#ifndef BZ_OS_FS_SOURCE_H
#define BZ_OS_FS_SOURCE_H

#include "base/str.h"
#include "os/fs_walk.h"

/* The words of BB_SIGNATURE_LOCAL_DIRS_EXCLUDE, or the default if it is empty. */
struct bz_str bz_fs_source_excluded(struct bz_str value);

/* Visits what belongs to the source below `path`, in the order of bz_fs_walk(). */
int bz_fs_source_walk(const char *path, struct bz_str excluded, bz_fs_walk_fn fn,
                      void *ctx, struct bz_err *err) BZ_MUST_CHECK;

/* The mode that an entry, which is no link, is unpacked with. */
mode_t bz_fs_source_mode(mode_t mode);

#endif
