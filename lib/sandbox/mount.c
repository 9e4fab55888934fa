#include "sandbox/mount.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/spawn.h"

/* <sys/mount.h>, which has it, clashes with <linux/mount.h>. */
#define MNT_DETACH 2

#define STEP_MAX 256 /* bytes of one step of a path, its end included */
#define LINK_MAX_BYTES 1024
#define OPTION_MAX 256 /* bytes of a file system's option, its end included */

struct builder {
    const struct bz_mount_plan *plan;
    int root; /* the new one */
    struct bz_mount_failure *failure;
};

BZ_SPAWN_CHILD static bool fail(struct builder *b, const char *step, const char *what)
{
    if (!b->failure->step)
        *b->failure = (struct bz_mount_failure){step, what, errno};
    return false;
}

BZ_SPAWN_CHILD static void close_fd(int fd)
{
    int sys = errno;

    if (fd >= 0)
        syscall(SYS_close, fd);
    errno = sys;
}

BZ_SPAWN_CHILD static int open_at(int dir, const char *path, int flags, int mode)
{
    return (int)syscall(SYS_openat, dir, path, flags | O_CLOEXEC, mode);
}

/* The directory that the last step of a target lies in, made if need be; the step
 * itself in `name`. -1 on failure. */
BZ_SPAWN_CHILD static int open_parent(struct builder *b, const char *target,
                                      char name[STEP_MAX])
{
    int at = open_at(b->root, ".", O_PATH | O_DIRECTORY, 0);
    const char *p = target + 1;

    for (;;) {
        size_t n = 0;
        int next;

        while (p[n] && p[n] != '/')
            n++;
        if (at < 0 || n >= STEP_MAX) {
            close_fd(at);
            return -1;
        }
        for (size_t i = 0; i < n; i++)
            name[i] = p[i];
        name[n] = '\0';
        if (!p[n])
            return at;
        next = open_at(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
        if (next < 0 && errno == ENOENT && syscall(SYS_mkdirat, at, name, 0755) == 0)
            next = open_at(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
        close_fd(at);
        at = next;
        p += n + 1;
    }
}

/* `how`: O_EXCL if there must be no such file, or 0. */
BZ_SPAWN_CHILD static bool make_file(int dir, const char *name, struct bz_str bytes,
                                     int how)
{
    int fd = open_at(dir, name, O_WRONLY | O_CREAT | O_NOFOLLOW | how, 0444);
    size_t done = 0;
    bool ok;

    while (fd >= 0 && done < bytes.n) {
        long n = syscall(SYS_write, fd, bytes.p + done, bytes.n - done);

        if (n < 0)
            break;
        done += (size_t)n;
    }
    ok = fd >= 0 && done == bytes.n &&
         (how == O_EXCL || syscall(SYS_ftruncate, fd, bytes.n) == 0);
    close_fd(fd);
    return ok;
}

/* A place to mount on: a directory or a file, as is what will be seen there. */
BZ_SPAWN_CHILD static int open_place(int parent, const char *name, bool dir)
{
    int fd = open_at(parent, name, O_PATH | O_NOFOLLOW, 0);

    if (fd >= 0 || errno != ENOENT)
        return fd;
    if (dir)
        syscall(SYS_mkdirat, parent, name, 0755);
    else
        make_file(parent, name, (struct bz_str){"", 0}, O_EXCL);
    return open_at(parent, name, O_PATH | O_NOFOLLOW, 0);
}

/* Puts a mount that lies nowhere yet in its place. */
BZ_SPAWN_CHILD static bool put(int tree, int place)
{
    return syscall(SYS_move_mount, tree, "", place, "",
                   MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) == 0;
}

/* What lies at a path of the host, as a mount that lies nowhere yet. */
BZ_SPAWN_CHILD static int open_source(const char *source, enum bz_spec_kind kind)
{
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_NOSUID};
    int tree = (int)syscall(SYS_open_tree, AT_FDCWD, source,
                            OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);

    /* A device can be written to all the same; but if root builds, the task's user is
     * the owner of the host's own file, whose mode it could change. */
    if (kind != BZ_SPEC_WORK)
        attr.attr_set |= MOUNT_ATTR_RDONLY;
    if (kind != BZ_SPEC_DEVICE)
        attr.attr_set |= MOUNT_ATTR_NODEV;
    if (tree < 0 || syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH | AT_RECURSIVE,
                            &attr, sizeof(attr)) == 0)
        return tree;
    close_fd(tree);
    return -1;
}

/* Puts it there, whatever it is, and closes it. */
BZ_SPAWN_CHILD static bool put_tree(int tree, int parent, const char *name)
{
    struct stat st = {0};
    int place = -1;
    bool ok;

    if (tree < 0)
        return false;
    if (syscall(SYS_newfstatat, tree, "", &st, AT_EMPTY_PATH) == 0)
        place = open_place(parent, name, S_ISDIR(st.st_mode));
    ok = place >= 0 && put(tree, place);
    close_fd(place);
    close_fd(tree);
    return ok;
}

/* On some hosts /lib is a directory, on others a link. */
BZ_SPAWN_CHILD static bool show_host(const char *path, int parent, const char *name)
{
    char link[LINK_MAX_BYTES];
    long n = syscall(SYS_readlinkat, AT_FDCWD, path, link, sizeof(link) - 1);

    if (n >= 0) {
        link[n] = '\0';
        return syscall(SYS_symlinkat, link, parent, name) == 0;
    }
    return errno == ENOENT || errno == ENOTDIR ||
           put_tree(open_source(path, BZ_SPEC_SHOW), parent, name);
}

/* A file system that is new: `options` are pairs of names and values, which flags have
 * not. */
BZ_SPAWN_CHILD static int make_fs(const char *type, const char *const *options,
                                  unsigned attr)
{
    int fs = (int)syscall(SYS_fsopen, type, FSOPEN_CLOEXEC);
    int mnt = -1;
    bool ok = fs >= 0;

    for (; ok && *options; options += 2)
        ok = syscall(SYS_fsconfig, fs,
                     options[1] ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG, options[0],
                     options[1], 0) == 0;
    if (ok && syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
        mnt = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, attr);
    close_fd(fs);
    return mnt;
}

/* A file system of the sandbox's own, as a mount that lies nowhere yet. */
BZ_SPAWN_CHILD static int open_fs(const struct bz_spec_entry *e)
{
    const char *const tmpfs[] = {"mode", "1777", e->source.n ? "size" : NULL,
                                 e->source.p, NULL};
    const char *const pts[] = {"ptmxmode", "0666", "mode", "0620", NULL};
    const char *const none[] = {NULL};
    const unsigned safe = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;

    if (e->kind == BZ_SPEC_TMPFS)
        return make_fs("tmpfs", tmpfs, safe);
    if (e->kind == BZ_SPEC_PTS)
        return make_fs("devpts", pts, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
    /* If root builds, the settings of the kernel belong to the task's user. */
    return make_fs("proc", none, safe | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_RDONLY);
}

/* "/proc/self/fd/<fd>": the old mount call takes paths only. */
BZ_SPAWN_CHILD static void fd_path(int fd, char out[32])
{
    static const char before[] = "/proc/self/fd/";
    char digits[12];
    size_t n = 0, at = 0;

    do
        digits[n++] = (char)('0' + fd % 10);
    while ((fd /= 10) > 0);
    while (before[at]) {
        out[at] = before[at];
        at++;
    }
    while (n > 0)
        out[at++] = digits[--n];
    out[at] = '\0';
}

/* An option of the new interface has at most 255 bytes, too few for many layers; the
 * old one has a page, in which the layers' links have names of a few digits. */
BZ_SPAWN_CHILD static bool overlay(struct builder *b, int parent, const char *name)
{
    const struct bz_spec_layers *layers = &b->plan->spec->layers;
    char path[32];
    int place;
    bool ok;

    if (layers->n == 0)
        return put_tree(open_source(layers->upper, BZ_SPEC_WORK), parent, name);
    place = open_place(parent, name, true);
    if (place < 0)
        return false;
    fd_path(place, path);
    ok = syscall(SYS_chdir, layers->dir) == 0 &&
         syscall(SYS_mount, "overlay", path, "overlay", MS_NOSUID | MS_NODEV,
                 b->plan->layers) == 0;
    close_fd(place);
    return ok;
}

/* The same by the new interface, to lie nowhere yet. The names of its directories are
 * those of descriptors, however long they are. */
BZ_SPAWN_CHILD static int open_overlay(const struct bz_mount_plan *plan)
{
    const struct bz_spec_layers *layers = &plan->spec->layers;
    char upper[32], work[32];
    const char *const options[] = {"userxattr", NULL,        "volatile", NULL,
                                   "lowerdir",  plan->lower, "upperdir", upper,
                                   "workdir",   work,        NULL};
    int up = open_at(AT_FDCWD, layers->upper, O_PATH | O_DIRECTORY, 0);
    int aside = open_at(AT_FDCWD, layers->work, O_PATH | O_DIRECTORY, 0);
    int mnt = -1;

    if (up >= 0 && aside >= 0 && syscall(SYS_chdir, layers->dir) == 0) {
        fd_path(up, upper);
        fd_path(aside, work);
        mnt = make_fs("overlay", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
    }
    close_fd(up);
    close_fd(aside);
    return mnt;
}

/* What only a process that sees the host can open; true with -1 if there is nothing.
 * The kernel makes a new /proc only for whoever sees one that hides nothing. */
BZ_SPAWN_CHILD static bool fetch(const struct bz_mount_plan *plan,
                                 const struct bz_spec_entry *e, int *tree)
{
    const struct bz_spec_layers *layers = &plan->spec->layers;

    *tree = -1;
    if (e->kind == BZ_SPEC_SHOW || e->kind == BZ_SPEC_WORK || e->kind == BZ_SPEC_DEVICE)
        *tree = open_source(e->source.p, e->kind);
    else if (e->kind == BZ_SPEC_PROC)
        *tree = open_fs(e);
    else if (e->kind == BZ_SPEC_OVERLAY)
        *tree = layers->n == 0 ? open_source(layers->upper, BZ_SPEC_WORK)
                               : open_overlay(plan);
    else
        return true;
    return *tree >= 0;
}

BZ_SPAWN_CHILD bool bz_mount_fetch(const struct bz_mount_plan *plan,
                                   struct bz_mount_failure *failure)
{
    const struct bz_spec_entries *all = &plan->spec->entries;
    struct builder b = {plan, -1, failure};

    for (size_t i = 0; i < all->len; i++)
        if (!plan->fixed[i] && !fetch(plan, &all->at[i], &plan->trees[i]))
            return fail(&b, "set up", all->at[i].target);
    return true;
}

bool bz_mount_can_base(const struct bz_mount_plan *plan)
{
    const struct bz_spec_entries *all = &plan->spec->entries;

    for (size_t i = 0; i < all->len; i++)
        if (!plan->fixed[i] && all->at[i].kind == BZ_SPEC_HOST)
            return false;
    return strlen(plan->lower) < OPTION_MAX;
}

/* `tree` is what was fetched for it, or -1. */
BZ_SPAWN_CHILD static bool add(struct builder *b, const struct bz_spec_entry *e,
                               int tree)
{
    char name[STEP_MAX];
    int parent = open_parent(b, e->target, name);
    bool ok = false;

    if (parent < 0)
        return fail(b, "make the place", e->target);
    if (tree >= 0) {
        ok = put_tree(tree, parent, name);
        close_fd(parent);
        return ok || fail(b, "set up", e->target);
    }
    switch (e->kind) {
    case BZ_SPEC_DIR:
        ok = syscall(SYS_mkdirat, parent, name, 0755) == 0 || errno == EEXIST;
        break;
    case BZ_SPEC_TEXT:
        /* The root may be one that another sandbox has had before: nobody has its file
         * open any more, and none but us could ever write to it. */
        ok = make_file(parent, name, e->source, 0);
        break;
    case BZ_SPEC_FILE:
        ok = make_file(parent, name, e->source, O_EXCL);
        break;
    case BZ_SPEC_LINK:
        ok = syscall(SYS_symlinkat, e->source.p, parent, name) == 0;
        break;
    case BZ_SPEC_HOST:
        ok = show_host(e->target, parent, name);
        break;
    case BZ_SPEC_SHOW:
    case BZ_SPEC_WORK:
    case BZ_SPEC_DEVICE:
        ok = put_tree(open_source(e->source.p, e->kind), parent, name);
        break;
    case BZ_SPEC_TMPFS:
    case BZ_SPEC_PROC:
    case BZ_SPEC_PTS:
        ok = put_tree(open_fs(e), parent, name);
        break;
    case BZ_SPEC_OVERLAY:
        ok = overlay(b, parent, name);
        break;
    }
    close_fd(parent);
    return ok || fail(b, "set up", e->target);
}

/* The new root on the anchor, in b->root. */
BZ_SPAWN_CHILD static bool begin(struct builder *b)
{
    const char *const options[] = {"mode", "0755", "size", "4m", NULL};
    int mnt;

    if (syscall(SYS_mount, NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return fail(b, "leave the host's mounts", NULL);
    mnt = make_fs("tmpfs", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
    if (mnt < 0)
        return fail(b, "make a file system", NULL);
    b->root = mnt;
    if (syscall(SYS_move_mount, mnt, "", AT_FDCWD, b->plan->anchor,
                MOVE_MOUNT_F_EMPTY_PATH) < 0)
        return fail(b, "mount the new root on", b->plan->anchor);
    return true;
}

/* It is the root already. */
BZ_SPAWN_CHILD static bool resume(struct builder *b)
{
    b->root = open_at(AT_FDCWD, "/", O_PATH | O_DIRECTORY, 0);
    return b->root >= 0 || fail(b, "open the new root", NULL);
}

/* Those entries that are fixed, or those that are not. */
BZ_SPAWN_CHILD static bool add_all(struct builder *b, bool fixed)
{
    const struct bz_mount_plan *plan = b->plan;
    const struct bz_spec_entries *all = &plan->spec->entries;

    for (size_t i = 0; i < all->len; i++)
        if (plan->fixed[i] == fixed &&
            !add(b, &all->at[i], plan->based && !fixed ? plan->trees[i] : -1))
            return false;
    return true;
}

BZ_SPAWN_CHILD static bool enter(struct builder *b)
{
    /* With both names the same the old root comes to lie on the new one, from where it
     * is taken away with all that is in it. */
    if (syscall(SYS_fchdir, b->root) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 ||
        syscall(SYS_umount2, ".", MNT_DETACH) < 0 || syscall(SYS_chdir, "/") < 0)
        return fail(b, "change the root", NULL);
    return true;
}

BZ_SPAWN_CHILD static bool protect(struct builder *b)
{
    struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};

    if (syscall(SYS_mount_setattr, b->root, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0)
        return fail(b, "make the root read-only", NULL);
    return true;
}

BZ_SPAWN_CHILD bool bz_mount_base(const struct bz_mount_plan *plan,
                                  struct bz_mount_failure *failure)
{
    struct builder b = {plan, -1, failure};
    bool ok = begin(&b) && add_all(&b, true) && enter(&b);

    close_fd(b.root);
    return ok;
}

BZ_SPAWN_CHILD bool bz_mount_root(const struct bz_mount_plan *plan,
                                  struct bz_mount_failure *failure)
{
    struct builder b = {plan, -1, failure};

    if (plan->based)
        return resume(&b) && add_all(&b, false) && protect(&b);
    return begin(&b) && add_all(&b, true) && add_all(&b, false) && enter(&b) &&
           protect(&b);
}
