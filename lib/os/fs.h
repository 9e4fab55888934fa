/* fs.h - single files: read, write atomically, copy; and directories to put them in.
 *
 * Every path is relative to `dir`, a directory descriptor or AT_FDCWD; an absolute
 * path ignores it. Errors name the path as it was given. Descriptors are opened with
 * O_CLOEXEC. Nothing here keeps state, so any thread may call anything; two writers
 * of one path leave the whole content of one of them.
 *
 * Whole trees are in fs_walk.h and fs_remove.h, locks in fs_lock.h.
 */
#ifndef BZ_OS_FS_H
#define BZ_OS_FS_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* For BZ_CLEANUP on a descriptor: closes it unless it is negative; keeps errno. */
void bz_fs_closep(int *fd);

/* Takes the descriptor out of such a variable, which then closes nothing. */
int bz_fs_detach(int *fd) BZ_MUST_CHECK;

/* Opens what somebody else named to be read: a regular file, or /dev/null, which is an
 * empty one. BZ_E_INVAL for anything else: a fifo or a device could keep its reader
 * waiting for ever. The caller closes *fd. */
int bz_fs_open_file(int dir, const char *path, int *fd,
                    struct bz_err *err) BZ_MUST_CHECK;

/* All bytes of a file, with a NUL after them that does not count; the caller frees
 * *out. The size is learnt by reading, so pipes and /proc work. BZ_E_LIMIT when there
 * are more than `limit` bytes, BZ_E_INVAL for a directory. `name` is for the error. */
int bz_fs_read(int dir, const char *path, size_t limit, char **out, size_t *n,
               struct bz_err *err) BZ_MUST_CHECK;
int bz_fs_read_fd(int fd, const char *name, size_t limit, char **out, size_t *n,
                  struct bz_err *err) BZ_MUST_CHECK;

/* Writes all n bytes to a blocking descriptor, however often it takes. */
int bz_fs_write_all(int fd, const char *name, const void *p, size_t n,
                    struct bz_err *err) BZ_MUST_CHECK;

/* BZ_FS_SYNC makes a new file survive a power cut: its bytes reach the disk before its
 * name does, and its name before the call returns. */
enum bz_fs_sync { BZ_FS_NOSYNC, BZ_FS_SYNC };

/* Replaces `path` by these bytes: a reader sees the old file or the new one, whole.
 * The new file has exactly `mode`, whatever the umask. A symbolic link at `path` is
 * itself replaced. On failure nothing has changed and nothing is left behind. */
int bz_fs_write(int dir, const char *path, const void *p, size_t n, mode_t mode,
                enum bz_fs_sync sync, struct bz_err *err) BZ_MUST_CHECK;

/* The same in steps, for content that comes in pieces: open, write to `fd`, commit.
 * The temporary lies beside its target under a name that starts with
 * BZ_FS_TEMP_PREFIX; only a killed process leaves one behind. */
#define BZ_FS_TEMP_PREFIX ".bz-tmp-"

struct bz_fs_temp {
    bool open;    /* false in a zeroed, committed or released struct */
    int fd;       /* for the caller to write to; not to close */
    int parent;   /* the target's directory */
    char *path;   /* the target, as given */
    char *base;   /* its last component, inside `path` */
    char own[40]; /* the temporary's name in `parent` */
};

int bz_fs_temp_open(struct bz_fs_temp *t, int dir, const char *path, mode_t mode,
                    struct bz_err *err) BZ_MUST_CHECK;
/* Gives the file its name. The struct is released, also on failure. */
int bz_fs_temp_commit(struct bz_fs_temp *t, enum bz_fs_sync sync,
                      struct bz_err *err) BZ_MUST_CHECK;
/* Removes an uncommitted temporary; harmless on a struct that is not open. */
void bz_fs_temp_release(struct bz_fs_temp *t);

/* Copies from one descriptor's offset to its end to the other's offset. The kernel
 * shares the blocks where the file system can, and copies them where it can. */
int bz_fs_copy_fd(int from, int to, const char *name, struct bz_err *err) BZ_MUST_CHECK;
/* Copies the bytes of a regular file, following a link; written as bz_fs_write does. */
int bz_fs_copy(int dir, const char *from, int to_dir, const char *to, mode_t mode,
               enum bz_fs_sync sync, struct bz_err *err) BZ_MUST_CHECK;

/* Makes a directory and those above it. One that exists is fine; anything else in the
 * way is an error. */
int bz_fs_mkdirs(int dir, const char *path, mode_t mode,
                 struct bz_err *err) BZ_MUST_CHECK;

/* Whether the name is taken, be it by a dangling link. A name in a directory that
 * cannot be searched counts as free. */
bool bz_fs_exists(int dir, const char *path);

/* What a symbolic link says; the caller frees *out. BZ_E_INVAL when it is no link. */
int bz_fs_readlink(int dir, const char *path, char **out,
                   struct bz_err *err) BZ_MUST_CHECK;

#endif
