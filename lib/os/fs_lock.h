/* fs_lock.h - one at a time, across processes and threads, by a lock on a file.
 *
 * The lock belongs to the open file description (fcntl F_OFD_SETLK), not to the
 * process: two threads that lock one path exclude each other, and closing another
 * descriptor of the file releases nothing. The kernel drops the lock when its holder
 * dies. Lock files are never removed: whoever waits on a removed one would share the
 * lock with nobody.
 */
#ifndef BZ_OS_FS_LOCK_H
#define BZ_OS_FS_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum bz_fs_lock_kind { BZ_FS_LOCK_SHARED, BZ_FS_LOCK_EXCLUSIVE };

/* Opens the file, creating it if need be, and locks it. Closing *fd releases the lock
 * (bz_fs_closep). BZ_E_BUSY when others still have it at the deadline; with a deadline
 * in the past that is an attempt without waiting. */
int bz_fs_lock(int dir, const char *path, enum bz_fs_lock_kind kind, int64_t deadline,
               int *fd, struct bz_err *err) BZ_MUST_CHECK;

/* Locks what is open for writing already, for as long as it is; BZ_E_BUSY if somebody
 * else has it. */
int bz_fs_lock_fd(int fd, struct bz_err *err) BZ_MUST_CHECK;

/* Whether somebody has the file to himself, in whatever namespace of processes. */
bool bz_fs_lock_held(int dir, const char *path);

#endif
