/* fs_below.h - files made below a directory by names from foreign input.
 *
 *   1. A name is taken apart and each part is opened relative to the one before it,
 *      following no link: nothing outside of the directory is touched, whatever links
 *      lie in it already or are made meanwhile.
 *   2. What is in the way of a file or link is replaced, never written to: a hard link
 *      that leads elsewhere is not written through. A directory is not replaced, nor a
 *      link or file by a directory.
 *   3. Directories have their mode and time given last, by bz_fs_below_finish, so that
 *      one that is read-only can be filled.
 *
 * Leading slashes and "." in a name mean nothing, ".." is BZ_E_INVAL. Errors name the
 * member. One thread at a time.
 */
#ifndef BZ_OS_FS_BELOW_H
#define BZ_OS_FS_BELOW_H

#include <sys/stat.h>

#include "base/vec.h"
#include "os/path.h"

struct bz_fs_below_dir {
    char *path;
    mode_t mode;
    struct timespec mtime;
};

struct bz_fs_below {
    int root; /* the caller's */
    mode_t umask;
    struct bz_path name;   /* of the last member: normalised, "" is the root */
    struct bz_path parent; /* of the directory that `dir` has open */
    int dir;               /* -1: none */
    struct bz_fs_below_dirs BZ_VEC(struct bz_fs_below_dir) later;
};

/* Bits in `umask` are taken from every mode, set-id and sticky bits always. Release *b
 * in any case. */
void bz_fs_below_init(struct bz_fs_below *b, int root, mode_t umask);
void bz_fs_below_release(struct bz_fs_below *b);

/* The normal form of a name without its first `strip` parts; *out is "" if none are
 * left. */
int bz_fs_below_name(struct bz_str name, unsigned strip, struct bz_path *out,
                     struct bz_err *err) BZ_MUST_CHECK;

/* The names below are of that form and not "". Directories on the way are made. */
int bz_fs_below_dir(struct bz_fs_below *b, struct bz_str name, mode_t mode,
                    struct timespec mtime, struct bz_err *err) BZ_MUST_CHECK;

/* Opens the directory that `name` is in, making it: b->dir, which the caller may take
 * (bz_fs_detach). */
int bz_fs_below_enter(struct bz_fs_below *b, struct bz_str name,
                      struct bz_err *err) BZ_MUST_CHECK;

/* An empty file, open for writing; the caller closes *fd, after bz_fs_below_seal. */
int bz_fs_below_file(struct bz_fs_below *b, struct bz_str name, int *fd,
                     struct bz_err *err) BZ_MUST_CHECK;
int bz_fs_below_seal(const struct bz_fs_below *b, int fd, mode_t mode,
                     struct timespec mtime, struct bz_err *err) BZ_MUST_CHECK;

int bz_fs_below_symlink(struct bz_fs_below *b, struct bz_str name, const char *text,
                        struct timespec mtime, struct bz_err *err) BZ_MUST_CHECK;

/* Another name for `old`, which lies below too. BZ_E_NOENT if it is not there. */
int bz_fs_below_link(struct bz_fs_below *b, struct bz_str name, struct bz_str old,
                     struct bz_err *err) BZ_MUST_CHECK;

/* A file that is there, for writing, if it is the one with that inode. */
int bz_fs_below_reopen(struct bz_fs_below *b, struct bz_str name, ino_t inode, int *fd,
                       struct bz_err *err) BZ_MUST_CHECK;

int bz_fs_below_finish(struct bz_fs_below *b, struct bz_err *err) BZ_MUST_CHECK;

#endif
