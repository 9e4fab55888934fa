#include "os/fs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/mem.h"

#define FIRST_READ ((size_t)4096)
#define COPY_CHUNK ((size_t)128 * 1024)
#define KERNEL_CHUNK ((size_t)1 << 30)
#define TEMP_TRIES 16

void bz_fs_closep(int *fd)
{
    int saved = errno;

    if (*fd >= 0)
        close(*fd);
    errno = saved;
}

int bz_fs_detach(int *fd)
{
    int own = *fd;

    *fd = -1;
    return own;
}

static ssize_t read_some(int fd, void *p, size_t n)
{
    ssize_t got;

    do
        got = read(fd, p, n);
    while (got < 0 && errno == EINTR);
    return got;
}

/* How much to make room for at first. st_size is only a hint: it is 0 in /proc and
 * for pipes, 4096 in /sys, and stale for a file that grows. */
static size_t first_size(int fd, size_t limit)
{
    struct stat st;
    size_t want = FIRST_READ;

    /* One byte more than the file, so that its end is seen without growing. */
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size >= (off_t)want)
        want = (size_t)st.st_size + 1;
    return want > limit ? limit + 1 : want;
}

int bz_fs_read_fd(int fd, const char *name, size_t limit, char **out, size_t *n,
                  struct bz_err *err)
{
    BZ_ASSERT(limit < SIZE_MAX / 4);

    size_t cap = first_size(fd, limit), len = 0;
    BZ_CLEANUP(bz_mem_freep) char *data = bz_mem_resize(NULL, cap + 1, 1);

    for (;;) {
        ssize_t got = read_some(fd, data + len, cap - len);

        if (got < 0 && errno == EISDIR)
            return bz_fail(err, BZ_E_INVAL, "read %s: it is a directory", name);
        if (got < 0)
            return bz_fail_sys(err, "read %s", name);
        if (got == 0)
            break;
        len += (size_t)got;
        if (len > limit)
            return bz_fail(err, BZ_E_LIMIT, "read %s: more than %zu bytes", name,
                           limit);
        if (len == cap) {
            cap = cap > limit / 2 ? limit + 1 : cap * 2;
            data = bz_mem_resize(data, cap + 1, 1);
        }
    }
    data[len] = '\0';
    *n = len;
    *out = data;
    data = NULL;
    return 0;
}

static const char *kind_of(const struct stat *st)
{
    if (S_ISDIR(st->st_mode))
        return "a directory";
    if (S_ISFIFO(st->st_mode))
        return "a fifo";
    if (S_ISSOCK(st->st_mode))
        return "a socket";
    return "a device";
}

int bz_fs_open_file(int dir, const char *path, int *out, struct bz_err *err)
{
    /* Not to wait for a writer of a fifo. */
    const int how = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    BZ_CLEANUP(bz_fs_closep) int fd = openat(dir, path, how);
    struct stat st;

    if (fd < 0)
        return bz_fail_sys(err, "open %s", path);
    if (fstat(fd, &st) < 0)
        return bz_fail_sys(err, "stat %s", path);
    if (!S_ISREG(st.st_mode) && !(S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3)))
        return bz_fail(err, BZ_E_INVAL, "read %s: it is %s", path, kind_of(&st));
    *out = bz_fs_detach(&fd);
    return 0;
}

int bz_fs_read(int dir, const char *path, size_t limit, char **out, size_t *n,
               struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return bz_fail_sys(err, "open %s", path);
    return bz_fs_read_fd(fd, path, limit, out, n, err);
}

int bz_fs_write_all(int fd, const char *name, const void *p, size_t n,
                    struct bz_err *err)
{
    const char *at = p;

    while (n) {
        ssize_t put = write(fd, at, n);

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return bz_fail_sys(err, "write %s", name);
        at += put;
        n -= (size_t)put;
    }
    return 0;
}

int bz_fs_write(int dir, const char *path, const void *p, size_t n, mode_t mode,
                enum bz_fs_sync sync, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_temp_release) struct bz_fs_temp t = {0};
    int rc;

    rc = bz_fs_temp_open(&t, dir, path, mode, err);
    if (rc < 0)
        return rc;
    rc = bz_fs_write_all(t.fd, path, p, n, err);
    if (rc < 0)
        return rc;
    return bz_fs_temp_commit(&t, sync, err);
}

/* Splits t->path and opens the directory the target lies in. */
static int open_parent(struct bz_fs_temp *t, int dir, struct bz_err *err)
{
    char *slash = strrchr(t->path, '/');
    const char *parent = ".";

    t->base = slash ? slash + 1 : t->path;
    if (!*t->base || strcmp(t->base, ".") == 0 || strcmp(t->base, "..") == 0)
        return bz_fail(err, BZ_E_INVAL, "write '%s': not the name of a file", t->path);
    if (slash == t->path)
        parent = "/";
    else if (slash) {
        *slash = '\0';
        parent = t->path;
    }
    t->parent = openat(dir, parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (slash)
        *slash = '/';
    return t->parent < 0 ? bz_fail_sys(err, "open the directory of %s", t->path) : 0;
}

static int create_temp(struct bz_fs_temp *t, mode_t mode, struct bz_err *err)
{
    for (int i = 0; i < TEMP_TRIES; i++) {
        uint64_t id = 0;

        if (getrandom(&id, sizeof(id), 0) != sizeof(id))
            return bz_fail_sys(err, "name a file beside %s", t->path);
        snprintf(t->own, sizeof(t->own), BZ_FS_TEMP_PREFIX "%016llx",
                 (unsigned long long)id);
        t->fd =
            openat(t->parent, t->own, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR);
        if (t->fd >= 0 || errno != EEXIST)
            break;
    }
    if (t->fd < 0)
        return bz_fail_sys(err, "create a file beside %s", t->path);
    if (fchmod(t->fd, mode) < 0)
        return bz_fail_sys(err, "set the mode of %s", t->path);
    return 0;
}

int bz_fs_temp_open(struct bz_fs_temp *t, int dir, const char *path, mode_t mode,
                    struct bz_err *err)
{
    int rc;

    *t = (struct bz_fs_temp){.open = true, .fd = -1, .parent = -1};
    t->path = bz_mem_dup(path, strlen(path));
    rc = open_parent(t, dir, err);
    if (rc == 0)
        rc = create_temp(t, mode, err);
    if (rc < 0)
        bz_fs_temp_release(t);
    return rc;
}

int bz_fs_temp_commit(struct bz_fs_temp *t, enum bz_fs_sync sync, struct bz_err *err)
{
    int rc = 0;

    if (sync == BZ_FS_SYNC && fsync(t->fd) < 0)
        rc = bz_fail_sys(err, "sync %s", t->path);
    else if (renameat(t->parent, t->own, t->parent, t->base) < 0)
        rc = bz_fail_sys(err, "rename to %s", t->path);
    else {
        t->own[0] = '\0';
        if (sync == BZ_FS_SYNC && fsync(t->parent) < 0)
            rc = bz_fail_sys(err, "sync the directory of %s", t->path);
    }
    bz_fs_temp_release(t);
    return rc;
}

void bz_fs_temp_release(struct bz_fs_temp *t)
{
    if (!t->open)
        return;
    if (t->fd >= 0 && t->own[0])
        unlinkat(t->parent, t->own, 0);
    bz_fs_closep(&t->fd);
    bz_fs_closep(&t->parent);
    free(t->path);
    *t = (struct bz_fs_temp){.fd = -1, .parent = -1};
}

/* Errors after which reading and writing may still work: the file systems differ, one
 * of them has no such operation, or the target was opened for appending. */
static bool kernel_cannot_copy(int sys)
{
    return sys == EXDEV || sys == EINVAL || sys == ENOSYS || sys == EOPNOTSUPP ||
           sys == EPERM || sys == EBADF || sys == ETXTBSY;
}

static int copy_by_hand(int from, int to, const char *name, struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) char *chunk = bz_mem_alloc(COPY_CHUNK);

    for (;;) {
        ssize_t got = read_some(from, chunk, COPY_CHUNK);
        int rc;

        if (got < 0)
            return bz_fail_sys(err, "read %s", name);
        if (got == 0)
            return 0;
        rc = bz_fs_write_all(to, name, chunk, (size_t)got, err);
        if (rc < 0)
            return rc;
    }
}

int bz_fs_copy_fd(int from, int to, const char *name, struct bz_err *err)
{
    for (;;) {
        ssize_t put = copy_file_range(from, NULL, to, NULL, KERNEL_CHUNK, 0);

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0 && !kernel_cannot_copy(errno))
            return bz_fail_sys(err, "copy %s", name);
        /* Files in /proc claim to end at once: only read(2) knows the end for sure. */
        if (put <= 0)
            return copy_by_hand(from, to, name, err);
    }
}

int bz_fs_copy(int dir, const char *from, int to_dir, const char *to, mode_t mode,
               enum bz_fs_sync sync, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int fd = openat(dir, from, O_RDONLY | O_CLOEXEC);
    BZ_CLEANUP(bz_fs_temp_release) struct bz_fs_temp t = {0};
    struct stat st;
    int rc;

    if (fd < 0 || fstat(fd, &st) < 0)
        return bz_fail_sys(err, "open %s", from);
    if (!S_ISREG(st.st_mode))
        return bz_fail(err, BZ_E_INVAL, "copy %s: not a regular file", from);
    rc = bz_fs_temp_open(&t, to_dir, to, mode, err);
    if (rc < 0)
        return rc;
    rc = bz_fs_copy_fd(fd, t.fd, from, err);
    if (rc < 0)
        return rc;
    return bz_fs_temp_commit(&t, sync, err);
}

static bool is_dir(int dir, const char *path)
{
    struct stat st;

    return fstatat(dir, path, &st, 0) == 0 && S_ISDIR(st.st_mode);
}

/* How much of a path is there, up to the slash before the first step that is not. */
static size_t made_part(int dir, char *path, size_t n)
{
    for (size_t i = n; i-- > 1;) {
        bool there;

        if (path[i] != '/')
            continue;
        path[i] = '\0';
        there = is_dir(dir, path);
        path[i] = '/';
        if (there)
            return i;
    }
    return 0;
}

int bz_fs_mkdirs(int dir, const char *path, mode_t mode, struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) char *part = NULL;
    size_t n = strlen(path);

    if (is_dir(dir, path))
        return 0;
    part = bz_mem_dup(path, n);
    for (size_t i = made_part(dir, part, n) + 1; i <= n; i++) {
        if (part[i] != '/' && part[i] != '\0')
            continue;
        part[i] = '\0';
        /* Asking first would race with another maker: make, then look who did. */
        if (mkdirat(dir, part, mode) < 0 && errno != EEXIST)
            return bz_fail_sys(err, "make directory %s", part);
        part[i] = path[i];
    }
    if (!is_dir(dir, path)) {
        errno = n ? ENOTDIR : ENOENT;
        return bz_fail_sys(err, "make directory '%s'", path);
    }
    return 0;
}

bool bz_fs_exists(int dir, const char *path)
{
    struct stat st;

    return fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

int bz_fs_readlink(int dir, const char *path, char **out, struct bz_err *err)
{
    char text[PATH_MAX]; /* the kernel makes no longer link */
    ssize_t n = readlinkat(dir, path, text, sizeof(text));

    if (n < 0 && errno == EINVAL)
        return bz_fail(err, BZ_E_INVAL, "read link %s: not a symbolic link", path);
    if (n < 0)
        return bz_fail_sys(err, "read link %s", path);
    *out = bz_mem_dup(text, (size_t)n);
    return 0;
}
