#include "exec/transfer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cache/closed.h"
#include "os/fs.h"

#define CHUNK ((size_t)128 * 1024)

static int copy_file(const struct bz_fs_walk_entry *e, int to, const char *path,
                     struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep)
    int from = openat(e->dir, e->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    BZ_CLEANUP(bz_fs_closep) int out = -1;
    const struct timespec times[2] = {e->st->st_mtim, e->st->st_mtim};
    mode_t mode;
    int rc;

    if (from < 0 && errno == EACCES)
        from = bz_closed_file(e->dir, e->name, &mode);
    if (from < 0)
        return bz_fail_sys(err, "open %s", e->path);
    out = openat(to, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                 S_IRUSR | S_IWUSR);
    if (out < 0)
        return bz_fail_sys(err, "make %s", path);
    rc = bz_fs_copy_fd(from, out, e->path, err);
    if (rc == 0 &&
        (fchmod(out, e->st->st_mode & 07777) < 0 || futimens(out, times) < 0))
        return bz_fail_sys(err, "change %s", path);
    return rc;
}

static int copy_link(const struct bz_fs_walk_entry *e, int to, const char *path,
                     struct bz_err *err)
{
    const struct timespec times[2] = {e->st->st_mtim, e->st->st_mtim};
    BZ_CLEANUP(bz_mem_freep) char *target = NULL;
    int rc = bz_fs_readlink(e->dir, e->name, &target, err);

    if (rc == 0 && (symlinkat(target, to, path) < 0 ||
                    utimensat(to, path, times, AT_SYMLINK_NOFOLLOW) < 0))
        return bz_fail_sys(err, "link %s", path);
    return rc;
}

int bz_transfer_copy(const struct bz_fs_walk_entry *e, int to, const char *path,
                     struct bz_err *err)
{
    const mode_t mode = e->st->st_mode;

    BZ_ASSERT(!S_ISDIR(mode));
    if (S_ISREG(mode))
        return copy_file(e, to, path, err);
    if (S_ISLNK(mode))
        return copy_link(e, to, path, err);
    return mknodat(to, path, mode, e->st->st_rdev) < 0
               ? bz_fail_sys(err, "make %s", path)
               : 0;
}

int bz_transfer_move(const struct bz_fs_walk_entry *e, int to, const char *path,
                     struct bz_err *err)
{
    int rc;

    if (renameat(e->dir, e->name, to, path) == 0)
        return 0;
    if (errno != EXDEV)
        return bz_fail_sys(err, "move %s", e->path);
    if (S_ISREG(e->st->st_mode) && !(e->st->st_mode & S_IRUSR) &&
        fchmodat(e->dir, e->name, (e->st->st_mode & 07777) | S_IRUSR, 0) < 0)
        return bz_fail_sys(err, "change %s", e->path);
    rc = bz_transfer_copy(e, to, path, err);
    if (rc == 0 && unlinkat(e->dir, e->name, 0) < 0)
        return bz_fail_sys(err, "remove %s", e->path);
    return rc;
}

/* A full chunk unless the file ends before. */
static ssize_t read_chunk(int fd, char *out, off_t at)
{
    size_t n = 0;

    while (n < CHUNK) {
        ssize_t got = pread(fd, out + n, CHUNK - n, at + (off_t)n);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        n += (size_t)got;
    }
    return (ssize_t)n;
}

bool bz_transfer_same(int a, int b)
{
    BZ_CLEANUP(bz_mem_freep) char *x = bz_mem_alloc(CHUNK), *y = bz_mem_alloc(CHUNK);
    ssize_t n;

    for (off_t at = 0;; at += n) {
        n = read_chunk(a, x, at);
        if (n < 0 || read_chunk(b, y, at) != n || memcmp(x, y, (size_t)n) != 0)
            return false;
        if (n < (ssize_t)CHUNK)
            return true;
    }
}
