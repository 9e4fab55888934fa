#include "os/fs_below.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/fs.h"

#define OPEN_DIR (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

void bz_fs_below_init(struct bz_fs_below *b, int root, mode_t umask)
{
    memset(b, 0, sizeof(*b));
    b->root = root;
    b->umask = umask;
    b->dir = -1;
}

void bz_fs_below_release(struct bz_fs_below *b)
{
    for (size_t i = 0; i < b->later.len; i++)
        free(b->later.at[i].path);
    bz_vec_release(&b->later);
    bz_fs_closep(&b->dir);
    b->dir = -1;
}

int bz_fs_below_name(struct bz_str name, unsigned strip, struct bz_path *out,
                     struct bz_err *err)
{
    struct bz_str rest = name, part;

    out->n = 0;
    out->s[0] = '\0';
    if (bz_str_find_byte(name, '\0') != BZ_STR_NONE)
        return bz_fail(err, BZ_E_INVAL, "a name has a NUL in it");
    while (rest.p && bz_str_next_part(&rest, '/', &part)) {
        if (part.n == 0 || bz_str_eq(part, BZ_STR(".")))
            continue;
        if (bz_str_eq(part, BZ_STR("..")))
            return bz_fail(err, BZ_E_INVAL, "'%.*s' leads upwards", BZ_STR_ARG(name));
        if (strip > 0) {
            strip--;
            continue;
        }
        if (out->n + 1 + part.n >= sizeof(out->s) || part.n > 255)
            return bz_fail(err, BZ_E_LIMIT, "'%.60s...' is too long a name", name.p);
        if (out->n > 0)
            out->s[out->n++] = '/';
        memcpy(out->s + out->n, part.p, part.n);
        out->n += part.n;
    }
    out->s[out->n] = '\0';
    return 0;
}

/* Opens one directory in another, making it if need be; -1 and errno if that fails. */
static int step(const struct bz_fs_below *b, int dir, const char *part, bool make)
{
    int fd = openat(dir, part, OPEN_DIR);
    bool made;

    if (fd >= 0 || errno != ENOENT || !make)
        return fd;
    made = mkdirat(dir, part, 0755) == 0;
    if (!made && errno != EEXIST)
        return -1;
    fd = openat(dir, part, OPEN_DIR);
    /* Whatever the umask of the process. */
    if (fd >= 0 && made && fchmod(fd, (0755 & ~b->umask) | S_IRWXU) < 0)
        bz_fs_closep(&fd);
    return fd;
}

/* The step to the directory that the first n bytes of `whole` name failed. */
static int fail_step(struct bz_str whole, size_t n, struct bz_err *err)
{
    struct bz_str at = bz_str_sub(whole, 0, n);

    if (errno == ELOOP || errno == ENOTDIR)
        return bz_fail(err, BZ_E_INVAL,
                       "'%.*s' needs '%.*s' to be a directory, and it is something "
                       "else",
                       BZ_STR_ARG(whole), BZ_STR_ARG(at));
    return bz_fail_sys(err, "'%.*s'", BZ_STR_ARG(at));
}

/* Opens the directory `path`, "" being the root, link by link. */
static int walk(const struct bz_fs_below *b, struct bz_str whole, size_t n, bool make,
                int *out, struct bz_err *err)
{
    int dir = openat(b->root, ".", OPEN_DIR), next;
    size_t at = 0;

    if (dir < 0)
        return bz_fail_sys(err, "open the directory to put '%.*s' in",
                           BZ_STR_ARG(whole));
    while (at < n) {
        char part[256];
        struct bz_str rest = bz_str_sub(whole, at, n), head, tail;

        bz_str_cut(rest, '/', &head, &tail);
        BZ_ASSERT(head.n < sizeof(part));
        memcpy(part, head.p, head.n);
        part[head.n] = '\0';
        next = step(b, dir, part, make);
        bz_fs_closep(&dir);
        if (next < 0)
            return fail_step(whole, at + head.n, err);
        dir = next;
        at += head.n + 1;
    }
    *out = dir;
    return 0;
}

static size_t parent_length(struct bz_str name)
{
    size_t slash = bz_str_rfind_byte(name, '/');

    return slash == BZ_STR_NONE ? 0 : slash;
}

/* Makes b->dir the parent of `name`; *base is its last part, in b->name. */
static int enter(struct bz_fs_below *b, struct bz_str name, const char **base,
                 struct bz_err *err)
{
    size_t n = parent_length(name);

    BZ_ASSERT(name.n > 0 && name.n < sizeof(b->name.s));
    memmove(b->name.s, name.p, name.n);
    b->name.s[name.n] = '\0';
    b->name.n = name.n;
    *base = b->name.s + (n > 0 ? n + 1 : 0);
    if (b->dir < 0 || n != b->parent.n || memcmp(b->parent.s, b->name.s, n) != 0) {
        int rc;

        bz_fs_closep(&b->dir);
        b->dir = -1;
        rc = walk(b, bz_path_str(&b->name), n, true, &b->dir, err);
        if (rc < 0)
            return rc;
        memcpy(b->parent.s, b->name.s, n);
        b->parent.n = n;
    }
    return 0;
}

int bz_fs_below_enter(struct bz_fs_below *b, struct bz_str name, struct bz_err *err)
{
    const char *base;

    return enter(b, name, &base, err);
}

int bz_fs_below_dir(struct bz_fs_below *b, struct bz_str name, mode_t mode,
                    struct timespec mtime, struct bz_err *err)
{
    struct bz_fs_below_dir later = {.mode = (mode & 0777 & ~b->umask) | 0700,
                                    .mtime = mtime};
    const char *base;
    int fd, rc = enter(b, name, &base, err);

    if (rc < 0)
        return rc;
    fd = step(b, b->dir, base, true);
    if (fd < 0)
        return fail_step(bz_path_str(&b->name), b->name.n, err);
    close(fd);
    later.path = bz_mem_dup(b->name.s, b->name.n);
    BZ_VEC_PUSH(&b->later, later);
    return 0;
}

/* Takes away what has the name, but no directory. */
static int make_way(const struct bz_fs_below *b, const char *base, struct bz_err *err)
{
    if (unlinkat(b->dir, base, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno == EISDIR || errno == EPERM)
        return bz_fail(err, BZ_E_INVAL, "'%s' is a directory already", b->name.s);
    return bz_fail_sys(err, "replace '%s'", b->name.s);
}

int bz_fs_below_file(struct bz_fs_below *b, struct bz_str name, int *fd,
                     struct bz_err *err)
{
    const char *base;
    int rc = enter(b, name, &base, err);

    for (int i = 0; rc == 0 && i < 2; i++) {
        *fd = openat(b->dir, base, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                     0600);
        if (*fd >= 0)
            return 0;
        if (errno != EEXIST || i == 1)
            return bz_fail_sys(err, "create '%s'", b->name.s);
        rc = make_way(b, base, err);
    }
    return rc;
}

int bz_fs_below_seal(const struct bz_fs_below *b, int fd, mode_t mode,
                     struct timespec mtime, struct bz_err *err)
{
    const struct timespec times[2] = {mtime, mtime};

    if (fchmod(fd, mode & 0777 & ~b->umask) < 0 || futimens(fd, times) < 0)
        return bz_fail_sys(err, "set mode and time of '%s'", b->name.s);
    return 0;
}

int bz_fs_below_symlink(struct bz_fs_below *b, struct bz_str name, const char *text,
                        struct timespec mtime, struct bz_err *err)
{
    const struct timespec times[2] = {mtime, mtime};
    const char *base;
    int rc = enter(b, name, &base, err);

    if (rc == 0)
        rc = make_way(b, base, err);
    if (rc < 0)
        return rc;
    if (symlinkat(text, b->dir, base) < 0)
        return bz_fail_sys(err, "create the link '%s'", b->name.s);
    /* A file system that keeps no times for links is none to fail for. */
    (void)utimensat(b->dir, base, times, AT_SYMLINK_NOFOLLOW);
    return 0;
}

int bz_fs_below_link(struct bz_fs_below *b, struct bz_str name, struct bz_str old,
                     struct bz_err *err)
{
    size_t n = parent_length(old);
    char last[256];
    const char *base;
    int dir = -1, rc = enter(b, name, &base, err);

    if (rc < 0 || bz_str_eq(name, old))
        return rc;
    rc = walk(b, old, n, false, &dir, err);
    if (rc < 0)
        return rc;
    BZ_ASSERT(old.n - n < sizeof(last));
    memcpy(last, old.p + (n > 0 ? n + 1 : 0), old.n - (n > 0 ? n + 1 : 0));
    last[old.n - (n > 0 ? n + 1 : 0)] = '\0';
    if (faccessat(dir, last, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
        rc = bz_fail_sys(err, "'%s' is a link to '%.*s'", b->name.s, BZ_STR_ARG(old));
    else
        rc = make_way(b, base, err);
    if (rc == 0 && linkat(dir, last, b->dir, base, 0) < 0)
        rc = bz_fail_sys(err, "link '%s' to '%.*s'", b->name.s, BZ_STR_ARG(old));
    bz_fs_closep(&dir);
    return rc;
}

int bz_fs_below_reopen(struct bz_fs_below *b, struct bz_str name, ino_t inode, int *fd,
                       struct bz_err *err)
{
    struct stat st;
    const char *base;
    int rc = enter(b, name, &base, err);

    if (rc < 0)
        return rc;
    *fd = openat(b->dir, base, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (*fd < 0)
        return bz_fail_sys(err, "open '%s'", b->name.s);
    if (fstat(*fd, &st) < 0 || st.st_ino != inode || !S_ISREG(st.st_mode)) {
        bz_fs_closep(fd);
        *fd = -1;
        return bz_fail(err, BZ_E_INVAL, "'%s' has been replaced", b->name.s);
    }
    return 0;
}

int bz_fs_below_finish(struct bz_fs_below *b, struct bz_err *err)
{
    for (size_t i = 0; i < b->later.len; i++) {
        const struct bz_fs_below_dir *d = &b->later.at[i];
        const struct timespec times[2] = {d->mtime, d->mtime};
        struct bz_str path = bz_str_from(d->path);
        int fd = -1, bad, rc = walk(b, path, path.n, false, &fd, err);

        if (rc < 0)
            return rc;
        bad = fchmod(fd, d->mode) < 0 || futimens(fd, times) < 0;
        if (bad)
            rc = bz_fail_sys(err, "set mode and time of '%s'", d->path);
        close(fd);
        if (rc < 0)
            return rc;
    }
    return 0;
}
