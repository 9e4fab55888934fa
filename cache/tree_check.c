#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "cache/closed.h"
#include "cache/opaque.h"
#include "cache/tree_walk.h"

#define MODE_BITS 07777
#define ENTER (S_IRUSR | S_IXUSR)

static int differs(const char *name, const char *how, struct bz_err *err)
{
    return bz_fail(err, BZ_E_CORRUPT, "%s %s", name, how);
}

static bool is_stamped(const struct stat *st)
{
    return st->st_mtim.tv_sec == BZ_SHELF_MTIME && st->st_mtim.tv_nsec == 0;
}

/* What all entries have in common. */
static int look_at(const struct bz_tree_walk_node *n, const char *name, mode_t type,
                   struct stat *st, struct bz_err *err)
{
    if (fstatat(n->fd, name, st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? differs(name, "is missing", err)
                               : bz_fail_sys(err, "stat %s", name);
    if ((st->st_mode & S_IFMT) != type)
        return differs(name, "is something else", err);
    if (type != S_IFCHR && n->walk->out->check != BZ_CAS_FILE_UNCHECKED &&
        !is_stamped(st))
        return differs(name, "was written to", err);
    return 0;
}

static int hash_file(const struct bz_tree_walk_node *n, struct bz_digest_hasher *h,
                     const char *name, const struct bz_reapi_digest *want,
                     struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep)
    int fd = openat(n->fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct bz_digest got = {{0}};
    uint64_t size = 0;
    mode_t mode;
    int rc;

    if (fd < 0 && errno == EACCES)
        fd = bz_closed_file(n->fd, name, &mode);
    rc = fd < 0 ? bz_fail_sys(err, "open %s", name)
                : bz_digest_fd(h, fd, &got, &size, err);
    if (rc == 0 && (size != want->size || !bz_digest_eq(&got, &want->hash)))
        return differs(name, "has wrong bytes", err);
    return rc;
}

static int check_file(const struct bz_tree_walk_node *n, struct bz_digest_hasher *h,
                      const struct bz_reapi_file *f, const char *name,
                      struct bz_err *err)
{
    struct stat st;
    int rc = look_at(n, name, S_IFREG, &st, err);

    if (rc < 0)
        return rc;
    if ((uint64_t)st.st_size != f->digest.size)
        return differs(name, "has another size", err);
    if ((st.st_mode & MODE_BITS) != bz_tree_walk_file_mode(n, f))
        return differs(name, "has another mode", err);
    if (n->walk->out->plain && st.st_nlink != 1)
        return differs(name, "has another name", err);
    return n->walk->out->check == BZ_CAS_FILE_CHECK
               ? hash_file(n, h, name, &f->digest, err)
               : 0;
}

static int check_links(const struct bz_tree_walk_node *n, struct bz_err *err)
{
    for (size_t i = 0; i < n->from->dir.nlinks; i++) {
        const struct bz_reapi_link *l = &n->from->dir.links[i];
        struct bz_tree_walk_name name = bz_tree_walk_name(l->name);
        char target[BZ_REAPI_TARGET_MAX + 1];
        struct stat st;
        ssize_t len;
        int rc = look_at(n, name.s, S_IFLNK, &st, err);

        if (rc < 0)
            return rc;
        len = readlinkat(n->fd, name.s, target, sizeof(target));
        if (len < 0 || !bz_str_eq(bz_str_of(target, (size_t)len), l->target))
            return differs(name.s, "leads elsewhere", err);
    }
    return 0;
}

static int check_whiteouts(const struct bz_tree_walk_node *n, struct bz_err *err)
{
    for (size_t i = 0; i < n->from->dir.nwhiteouts; i++) {
        struct bz_tree_walk_name name = bz_tree_walk_name(n->from->dir.whiteouts[i]);
        struct stat st;
        int rc = look_at(n, name.s, S_IFCHR, &st, err);

        if (rc < 0)
            return rc;
        if (st.st_rdev != 0)
            return differs(name.s, "is a device", err);
    }
    return 0;
}

/* All that it should have is looked for elsewhere: then the number tells whether there
 * is more. */
static int check_number(const struct bz_tree_walk_node *n, DIR *d, struct bz_err *err)
{
    const struct bz_reapi_dir *dir = &n->from->dir;
    size_t left = dir->nfiles + dir->ndirs + dir->nlinks + dir->nwhiteouts;

    for (;;) {
        const struct dirent *e;

        errno = 0;
        e = readdir(d);
        if (!e)
            break;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (left-- == 0)
            return bz_fail(err, BZ_E_CORRUPT, "there is more in it");
    }
    return errno ? bz_fail_sys(err, "read a directory") : 0;
}

static int check_own(const struct bz_tree_walk_node *n, mode_t mode, DIR *d,
                     struct bz_err *err)
{
    int rc;

    if (mode != bz_tree_walk_mode(n))
        return bz_fail(err, BZ_E_CORRUPT, "it has another mode");
    if (bz_opaque_is(n->fd) != n->from->dir.opaque)
        return bz_fail(err, BZ_E_CORRUPT, "what it hides is not the same");
    rc = check_number(n, d, err);
    if (rc == 0)
        rc = check_links(n, err);
    if (rc == 0)
        rc = check_whiteouts(n, err);
    return rc;
}

/* Looks at what is in an open directory; if it is closed otherwise, `mode` is its own
 * one. */
static int look_into(struct bz_worker *w, struct bz_tree_walk_node *n, bool closed,
                     mode_t mode, struct bz_err *err)
{
    DIR *d = fdopendir(n->fd);
    struct stat st;
    int rc;

    if (!d || fstat(n->fd, &st) < 0) {
        rc = bz_fail_sys(err, "open a directory");
        if (!d)
            bz_fs_closep(&n->fd);
        else
            closedir(d);
        return rc;
    }
    if (!closed) {
        mode = st.st_mode & MODE_BITS;
        closed = bz_closed_enter(n->fd, mode);
    }
    rc = check_own(n, mode, d, err);
    if (rc == 0)
        bz_tree_walk_below(w, n);
    if (closed)
        bz_closed_again(n->fd, mode);
    closedir(d);
    return rc;
}

static int open_dir(struct bz_worker *w, struct bz_tree_walk_node *n, int at,
                    const char *name, struct bz_err *err)
{
    bool closed = false;
    mode_t mode = 0;

    n->fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (n->fd < 0 && errno == EACCES) {
        n->fd = bz_closed_dir(at, name, &mode);
        closed = n->fd >= 0;
    }
    return n->fd < 0 ? bz_fail_sys(err, "open directory %s", name)
                     : look_into(w, n, closed, mode, err);
}

/* One that its mode keeps closed to us is believed unless bytes are to be hashed:
 * nobody gets in by accident. */
static bool is_closed(const struct bz_tree_walk_node *n, const struct stat *st)
{
    return (bz_tree_walk_mode(n) & ENTER) != ENTER &&
           (st->st_mode & MODE_BITS) == bz_tree_walk_mode(n) && geteuid() != 0 &&
           n->walk->out->check != BZ_CAS_FILE_CHECK;
}

static int meet_dir(const struct bz_tree_walk_node *n, const char *name,
                    struct bz_err *err)
{
    struct stat st;
    int rc = look_at(n->parent, name, S_IFDIR, &st, err);

    return rc == 0 ? is_closed(n, &st) : rc;
}

int bz_tree_check(struct bz_cas *cas, const struct bz_reapi_digest *tree, int dir,
                  const char *path, const struct bz_tree_out *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_tree_load_release) struct bz_tree_load loaded = {0};
    static const struct bz_tree_walk_ops ops = {meet_dir, open_dir, check_file};
    struct bz_tree_walk walk = {.ops = &ops, .cas = cas, .out = out, .tree = &loaded};
    int rc = bz_tree_load(cas, tree, &out->threads, &loaded, err);

    return rc == 0 ? bz_tree_walk(&walk, dir, path, err) : rc;
}
