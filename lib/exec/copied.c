#include "exec/copied.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/vec.h"
#include "exec/merge.h"
#include "exec/transfer.h"
#include "os/fs.h"
#include "os/fs_remove.h"
#include "os/fs_walk.h"
#include "os/path.h"

enum fate { GONE, KEPT, REPLACED };

/* What tells whether something is as it was. */
struct mark {
    uint64_t ino, size;
    struct statx_timestamp changed, born;
    uint16_t mode;
};

struct entry {
    struct bz_str path;
    struct mark mark;
    enum fate fate;
};

struct mode {
    const char *path;
    mode_t mode;
};

/* A walk through the tree, or to it. */
struct moving {
    struct bz_copied *c;
    int to; /* where entries go */
    struct bz_arena arena;
    struct bz_map made;               /* directories of `to` that are there */
    struct BZ_VEC(struct mode) modes; /* to be set when all is in its place */
};

static int look(int dir, const char *name, struct mark *out, struct bz_err *err)
{
    struct statx st = {0};

    *out = (struct mark){0};
    if (statx(dir, name, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_BTIME, &st) < 0)
        return bz_fail_sys(err, "look at %s", name);
    *out = (struct mark){.ino = st.stx_ino,
                         .size = S_ISDIR(st.stx_mode) ? 0 : st.stx_size,
                         .changed = st.stx_ctime,
                         .mode = st.stx_mode};
    if (st.stx_mask & STATX_BTIME)
        out->born = st.stx_btime;
    return 0;
}

static bool same_time(const struct statx_timestamp *a, const struct statx_timestamp *b)
{
    return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* The same directory or file, whatever became of it. */
static bool is_itself(const struct mark *a, const struct mark *b)
{
    return a->ino == b->ino && same_time(&a->born, &b->born) &&
           (a->mode & S_IFMT) == (b->mode & S_IFMT);
}

static bool is_same(const struct mark *a, const struct mark *b)
{
    return is_itself(a, b) && same_time(&a->changed, &b->changed) &&
           a->size == b->size && a->mode == b->mode;
}

static struct entry *find(const struct bz_copied *c, struct bz_str path)
{
    const struct bz_map_entry *e = bz_map_get(&c->before, path);

    return e ? e->p : NULL;
}

static int remember(void *ctx, const struct bz_fs_walk_entry *e, struct bz_err *err)
{
    struct bz_copied *c = ctx;
    struct entry *new = BZ_ARENA_NEW(&c->arena, struct entry);
    int rc = look(e->dir, e->name, &new->mark, err);

    new->path = bz_arena_dup(&c->arena, bz_str_from(e->path));
    bz_map_put(&c->before, new->path)->p = new;
    return rc < 0 ? rc : BZ_FS_WALK_ON;
}

/* Until what changes from now on has another time than what has changed before. */
static void await_tick(void)
{
    const struct timespec nap = {0, 1000000};
    struct timespec begin, now;

    clock_gettime(CLOCK_REALTIME_COARSE, &begin);
    do {
        nanosleep(&nap, NULL);
        clock_gettime(CLOCK_REALTIME_COARSE, &now);
    } while (now.tv_sec == begin.tv_sec && now.tv_nsec == begin.tv_nsec);
}

/* ---- directories of the other side ---- */

/* With the mode that it is to have in the end, but open to us until then. */
static int make_dir(struct moving *m, const char *path, mode_t mode, struct bz_err *err)
{
    struct bz_str key = bz_arena_dup(&m->arena, bz_str_from(path));

    if (mkdirat(m->to, path, S_IRWXU) < 0 && errno != EEXIST)
        return bz_fail_sys(err, "make %s", path);
    if (fchmodat(m->to, path, (mode & 07777) | S_IRWXU, 0) < 0)
        return bz_fail_sys(err, "change %s", path);
    bz_map_put(&m->made, key);
    if ((mode & S_IRWXU) != S_IRWXU)
        BZ_VEC_PUSH(&m->modes, (struct mode){key.p, mode & 07777});
    return 0;
}

/* Those above an entry that has changed; what was new among them is there. */
static int make_parents(struct moving *m, const char *path, struct bz_err *err)
{
    char part[BZ_PATH_MAX];
    int rc = 0;

    for (const char *slash = strchr(path, '/'); slash && rc == 0;
         slash = strchr(slash + 1, '/')) {
        const struct entry *old;
        struct bz_str name = bz_str_of(path, (size_t)(slash - path));

        if (bz_map_get(&m->made, name) || name.n >= sizeof(part))
            continue;
        snprintf(part, sizeof(part), "%.*s", BZ_STR_ARG(name));
        old = find(m->c, name);
        rc = make_dir(m, part, old ? old->mark.mode : 0755, err);
    }
    return rc;
}

static int set_modes(struct moving *m, struct bz_err *err)
{
    while (m->modes.len > 0) {
        struct mode last = BZ_VEC_POP(&m->modes);

        if (fchmodat(m->to, last.path, last.mode, 0) < 0)
            return bz_fail_sys(err, "change %s", last.path);
    }
    return 0;
}

typedef int (*step_fn)(struct moving *m, struct bz_err *err);

static int move_all(struct bz_copied *c, const char *from, const char *to,
                    bz_fs_walk_fn fn, step_fn after, struct bz_err *err)
{
    struct moving m = {.c = c};
    int rc;

    m.to = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (m.to < 0)
        return bz_fail_sys(err, "open %s", to);
    rc = bz_fs_walk(AT_FDCWD, from, fn, &m, err);
    if (rc == 0 && after)
        rc = after(&m, err);
    if (rc == 0)
        rc = set_modes(&m, err);
    bz_fs_closep(&m.to);
    bz_map_release(&m.made);
    bz_vec_release(&m.modes);
    bz_arena_release(&m.arena);
    return rc;
}

/* ---- before the task ---- */

static int make_opaque(const struct moving *m, const char *path, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep)
    int fd = openat(m->to, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0 || fsetxattr(fd, "user.overlay.opaque", "y", 1, 0) < 0)
        return bz_fail_sys(err, "make %s opaque", path);
    return 0;
}

static bool is_whiteout(const struct stat *st)
{
    return S_ISCHR(st->st_mode) && st->st_rdev == makedev(0, 0);
}

/* What was made for the task takes the place of what is there. */
static int put_on_top(void *ctx, const struct bz_fs_walk_entry *e, struct bz_err *err)
{
    struct moving *m = ctx;
    const bool dir = S_ISDIR(e->st->st_mode);
    struct stat st;
    bool there = fstatat(m->to, e->path, &st, AT_SYMLINK_NOFOLLOW) == 0;
    int rc = 0;

    if (there && !(dir && S_ISDIR(st.st_mode)))
        rc = bz_fs_remove(m->to, e->path, err);
    if (rc == 0)
        rc = dir ? make_dir(m, e->path, e->st->st_mode, err)
                 : bz_transfer_move(e, m->to, e->path, err);
    if (rc == 0 && dir && there && is_whiteout(&st))
        rc = make_opaque(m, e->path, err);
    return rc < 0 ? rc : BZ_FS_WALK_ON;
}

int bz_copied_lay(const char *from, const char *to, struct bz_err *err)
{
    return move_all(NULL, from, to, put_on_top, NULL, err);
}

static int empty(const char *upper, struct bz_err *err)
{
    struct stat st;
    int rc = stat(upper, &st) < 0 ? bz_fail_sys(err, "look at %s", upper)
                                  : bz_fs_remove(AT_FDCWD, upper, err);

    if (rc == 0 && (mkdir(upper, 0755) < 0 || chmod(upper, st.st_mode & 07777) < 0))
        rc = bz_fail_sys(err, "make %s", upper);
    return rc;
}

static int make_expected(const char *root, struct bz_str path, struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) char *text = bz_mem_dup(path.p, path.n);
    BZ_CLEANUP(bz_fs_closep) int dir = -1;
    int rc = 0;

    dir = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return bz_fail_sys(err, "open %s", root);
    for (char *at = text; rc == 0 && at;) {
        char *slash = strchr(at, '/');

        if (slash)
            *slash = '\0';
        if (mkdirat(dir, text, 0755) < 0 || fchmodat(dir, text, 0755, 0) < 0)
            rc = bz_fail_sys(err, "make %s", text);
        if (slash)
            *slash = '/';
        at = slash ? slash + 1 : NULL;
    }
    return rc;
}

int bz_copied_make(struct bz_copied *c, const char *root, const char *const *layers,
                   size_t n, struct bz_str expect, const char *upper,
                   struct bz_err *err)
{
    int rc = bz_fs_remove(AT_FDCWD, root, err);

    *c = (struct bz_copied){.root = root};
    if (rc == 0)
        rc = bz_merge_layers(&(struct bz_merge_in){.layers = layers, .n = n}, root,
                             BZ_MERGE_COPY, err);
    if (rc == 0 && chmod(root, 0755) < 0) /* whatever the umask */
        rc = bz_fail_sys(err, "change %s", root);
    if (rc == 0 && expect.n > 0)
        rc = make_expected(root, expect, err);
    if (rc == 0)
        rc = bz_fs_walk(AT_FDCWD, root, remember, c, err);
    if (rc < 0)
        return rc;
    await_tick();
    rc = move_all(c, upper, root, put_on_top, NULL, err);
    return rc < 0 ? rc : empty(upper, err);
}

/* ---- after it ---- */

/* Whether the layers' directory of that path is not seen any more, or there is none. */
static bool is_hidden(const struct bz_copied *c, struct bz_str path)
{
    struct bz_str dir = bz_path_dirname(path);
    const struct entry *e;

    if (bz_str_find(path, BZ_STR("/")) == BZ_STR_NONE)
        return false;
    e = find(c, dir);
    return !e || e->fate != KEPT || !S_ISDIR(e->mark.mode);
}

static int keep_dir(struct moving *m, const struct bz_fs_walk_entry *e,
                    const struct entry *old, const struct mark *now, struct bz_err *err)
{
    int rc = 0;

    if (!old || !is_same(&old->mark, now)) {
        rc = make_parents(m, e->path, err);
        if (rc == 0)
            rc = make_dir(m, e->path, now->mode, err);
        if (rc == 0 && old && old->fate == REPLACED && !is_hidden(m->c, old->path))
            rc = make_opaque(m, e->path, err);
    }
    /* So that the walk gets in, and its entries out. */
    if (rc == 0 && (now->mode & S_IRWXU) != S_IRWXU &&
        fchmodat(e->dir, e->name, (now->mode & 07777) | S_IRWXU, 0) < 0)
        return bz_fail_sys(err, "change %s", e->path);
    return rc;
}

static int keep_changed(void *ctx, const struct bz_fs_walk_entry *e, struct bz_err *err)
{
    struct moving *m = ctx;
    struct entry *old = find(m->c, bz_str_from(e->path));
    struct mark now;
    int rc = look(e->dir, e->name, &now, err);

    if (rc < 0)
        return rc;
    if (old)
        old->fate = is_itself(&old->mark, &now) && !is_hidden(m->c, old->path)
                        ? KEPT
                        : REPLACED;
    if (S_ISDIR(now.mode)) {
        rc = keep_dir(m, e, old, &now, err);
    } else if (!old || !is_same(&old->mark, &now)) {
        rc = make_parents(m, e->path, err);
        if (rc == 0)
            rc = bz_transfer_move(e, m->to, e->path, err);
    }
    return rc < 0 ? rc : BZ_FS_WALK_ON;
}

static int hide_gone(struct moving *m, struct bz_err *err)
{
    int rc = 0;

    for (const struct bz_map_entry *at = bz_map_next(&m->c->before, NULL);
         at && rc == 0; at = bz_map_next(&m->c->before, at)) {
        const struct entry *e = at->p;

        if (e->fate != GONE || is_hidden(m->c, e->path))
            continue;
        rc = make_parents(m, e->path.p, err);
        if (rc == 0 && mknodat(m->to, e->path.p, S_IFCHR, makedev(0, 0)) < 0)
            rc = bz_fail_sys(err, "make a whiteout of %s", e->path.p);
    }
    return rc;
}

int bz_copied_capture(struct bz_copied *c, const char *upper, struct bz_err *err)
{
    return move_all(c, c->root, upper, keep_changed, hide_gone, err);
}

void bz_copied_release(struct bz_copied *c)
{
    bz_map_release(&c->before);
    bz_arena_release(&c->arena);
    *c = (struct bz_copied){0};
}
