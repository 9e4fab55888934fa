/* fs_output.h - write the file that a user named: a report, a trace, a record.
 *
 * A path that is absent or a regular file is replaced atomically (bz_fs_write). A
 * symbolic link stays a link: the same is done to the file that it leads to. A device
 * or a fifo is opened and written, so /dev/null stays a device; opening a fifo waits
 * for its reader. A link of /proc, where /dev/stdout leads, stands for an open file,
 * which is appended to. A directory or a socket is BZ_E_INVAL.
 */
#ifndef BZ_OS_FS_OUTPUT_H
#define BZ_OS_FS_OUTPUT_H

#include <stddef.h>

#include "base/err.h"

/* A new file has mode 0644. A missing directory is BZ_E_IO, not BZ_E_NOENT: the file to
 * write is no query that found nothing. */
int bz_fs_output(const char *path, const void *p, size_t n,
                 struct bz_err *err) BZ_MUST_CHECK;

#endif
