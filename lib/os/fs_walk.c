#include "os/fs_walk.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "base/mem.h"
#include "os/fs.h"
#include "os/fs_list.h"

struct level {
    int fd;
    size_t path_len; /* of the directory's own path */
    size_t next;
    struct bz_fs_list list;
};

struct walk {
    const char *root;
    size_t depth; /* levels in use */
    struct level levels[BZ_FS_WALK_DEPTH];
    /* Large enough for the deepest path, so it never has to grow. */
    char path[BZ_FS_WALK_DEPTH * (NAME_MAX + 1) + 1];
};

static void pop(struct walk *w)
{
    struct level *l = &w->levels[--w->depth];

    bz_fs_closep(&l->fd);
    bz_fs_list_release(&l->list);
}

static void walk_freep(struct walk **w)
{
    while ((*w)->depth)
        pop(*w);
    free(*w);
}

/* Takes fd, the directory whose path is the first path_len bytes of w->path. */
static int push(struct walk *w, int fd, size_t path_len, struct bz_err *err)
{
    struct level *l = &w->levels[w->depth++];

    *l = (struct level){.fd = fd, .path_len = path_len};
    return bz_fs_list_fd(fd, path_len ? w->path : w->root, &l->list, err);
}

static int enter(struct walk *w, int parent, const char *name, size_t path_len,
                 struct bz_err *err)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
        return bz_fail(err, BZ_E_IO, "walk %s: %s changed while it was read", w->root,
                       w->path);
    if (fd < 0)
        return bz_fail_sys(err, "walk %s: open %s", w->root, w->path);
    if (w->depth == BZ_FS_WALK_DEPTH) {
        bz_fs_closep(&fd);
        return bz_fail(err, BZ_E_LIMIT, "walk %s: deeper than %d levels", w->root,
                       BZ_FS_WALK_DEPTH);
    }
    return push(w, fd, path_len, err);
}

/* Puts the entry's path in w->path and returns its length. */
static size_t set_path(struct walk *w, const struct level *l, const char *name)
{
    size_t n = l->path_len, add = strlen(name);

    if (n)
        w->path[n++] = '/';
    memcpy(w->path + n, name, add + 1);
    return n + add;
}

/* Visits the next entry of the deepest level; BZ_FS_WALK_STOP ends the walk. */
static int step(struct walk *w, bz_fs_walk_fn fn, void *ctx, struct bz_err *err)
{
    struct level *l = &w->levels[w->depth - 1];
    const char *name = l->list.names[l->next++];
    size_t path_len = set_path(w, l, name);
    struct stat st;
    struct bz_fs_walk_entry e = {
        .dir = l->fd, .name = name, .path = w->path, .st = &st};
    int rc;

    if (fstatat(l->fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
        if (errno == ENOENT)
            return 0;
        return bz_fail_sys(err, "walk %s: look at %s", w->root, w->path);
    }
    rc = fn(ctx, &e, err);
    if (rc == BZ_FS_WALK_ON && S_ISDIR(st.st_mode))
        return enter(w, l->fd, name, path_len, err);
    return rc == BZ_FS_WALK_SKIP ? 0 : rc;
}

int bz_fs_walk(int dir, const char *path, bz_fs_walk_fn fn, void *ctx,
               struct bz_err *err)
{
    BZ_CLEANUP(walk_freep) struct walk *w = bz_mem_alloc(sizeof(*w));
    int fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc;

    w->root = path;
    w->depth = 0;
    w->path[0] = '\0';
    if (fd < 0)
        return bz_fail_sys(err, "walk %s", path);
    rc = push(w, fd, 0, err);
    while (rc == 0 && w->depth) {
        const struct level *l = &w->levels[w->depth - 1];

        if (l->next == l->list.n)
            pop(w);
        else
            rc = step(w, fn, ctx, err);
    }
    return rc == BZ_FS_WALK_STOP ? 0 : rc;
}
