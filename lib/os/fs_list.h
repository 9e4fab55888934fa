/* fs_list.h - the names in one directory, in an order that does not depend on the
 * file system.
 *
 * Sorted by byte value, without "." and "..". Built once, never changed.
 */
#ifndef BZ_OS_FS_LIST_H
#define BZ_OS_FS_LIST_H

#include <stddef.h>

#include "base/err.h"

#define BZ_FS_LIST_MAX ((size_t)1 << 22) /* names in one directory */

struct bz_fs_list {
    char **names;
    size_t n;
};

/* BZ_E_LIMIT over BZ_FS_LIST_MAX. `name` is for the error; fd stays the caller's and
 * its offset moves. */
int bz_fs_list_fd(int fd, const char *name, struct bz_fs_list *out,
                  struct bz_err *err) BZ_MUST_CHECK;
int bz_fs_list_dir(int dir, const char *path, struct bz_fs_list *out,
                   struct bz_err *err) BZ_MUST_CHECK;
void bz_fs_list_release(struct bz_fs_list *list);

#endif
