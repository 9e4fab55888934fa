#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "cache/opaque.h"
#include "cache/tree_walk.h"
#include "os/fs_remove.h"

#define NEW_DIR 0700 /* until all is in it */

static int restore_file(const struct bz_tree_walk_node *n, struct bz_digest_hasher *h,
                        const struct bz_reapi_file *f, const char *name,
                        struct bz_err *err)
{
    const struct bz_tree_out *out = n->walk->out;
    struct bz_cas_file_want want = {&f->digest, bz_tree_walk_file_mode(n, f), out->how,
                                    out->check, out->plain};

    return bz_cas_file_get(n->walk->cas, h, n->fd, name, &want, err);
}

static int make_links(const struct bz_tree_walk_node *n, struct bz_err *err)
{
    static const struct timespec times[2] = {
        {0,              UTIME_OMIT},
        {BZ_SHELF_MTIME, 0         }
    };

    for (size_t i = 0; i < n->from->dir.nlinks; i++) {
        const struct bz_reapi_link *l = &n->from->dir.links[i];
        struct bz_tree_walk_name name = bz_tree_walk_name(l->name);
        char target[BZ_REAPI_TARGET_MAX + 1];

        snprintf(target, sizeof(target), "%.*s", BZ_STR_ARG(l->target));
        if (symlinkat(target, n->fd, name.s) < 0 ||
            utimensat(n->fd, name.s, times, AT_SYMLINK_NOFOLLOW) < 0)
            return bz_fail_sys(err, "make link %s", name.s);
    }
    return 0;
}

/* As an overlay wants them: a device 0/0, which takes no privilege to make. */
static int make_whiteouts(const struct bz_tree_walk_node *n, struct bz_err *err)
{
    for (size_t i = 0; i < n->from->dir.nwhiteouts; i++) {
        struct bz_tree_walk_name name = bz_tree_walk_name(n->from->dir.whiteouts[i]);

        if (mknodat(n->fd, name.s, S_IFCHR, 0) < 0)
            return bz_fail_sys(err, "make whiteout %s", name.s);
    }
    return 0;
}

/* Mode and time come last: what is made in a directory changes its time, and the mode
 * may forbid making it. */
static int seal_dir(const struct bz_tree_walk_node *n, struct bz_err *err)
{
    const struct timespec times[2] = {
        {0,              UTIME_OMIT},
        {BZ_SHELF_MTIME, 0         }
    };

    if (fchmod(n->fd, bz_tree_walk_mode(n)) < 0 || futimens(n->fd, times) < 0)
        return bz_fail_sys(err, "set mode and time of a directory");
    return 0;
}

/* Opens the new directory and makes what is in it. */
static int fill_dir(struct bz_worker *w, struct bz_tree_walk_node *n, int at,
                    const char *name, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep)
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int rc;

    if (fd < 0)
        return bz_fail_sys(err, "open directory %s", name);
    n->fd = fd;
    rc = make_links(n, err);
    if (rc == 0)
        rc = make_whiteouts(n, err);
    if (rc == 0 && n->from->dir.opaque)
        rc = bz_opaque_set(n->fd, err);
    if (rc < 0)
        return rc;
    bz_tree_walk_below(w, n);
    return bz_crew_stopped(&n->walk->crew) ? 0 : seal_dir(n, err);
}

static int make_dir(const struct bz_tree_walk_node *n, const char *name,
                    struct bz_err *err)
{
    return mkdirat(n->parent->fd, name, NEW_DIR) < 0
               ? bz_fail_sys(err, "make directory %s", name)
               : 0;
}

int bz_tree_restore(struct bz_cas *cas, const struct bz_reapi_digest *tree, int dir,
                    const char *path, const struct bz_tree_out *out,
                    struct bz_tree_stats *stats, struct bz_err *err)
{
    BZ_CLEANUP(bz_tree_load_release) struct bz_tree_load loaded = {0};
    static const struct bz_tree_walk_ops ops = {make_dir, fill_dir, restore_file};
    struct bz_tree_walk walk = {.ops = &ops, .cas = cas, .out = out, .tree = &loaded};
    struct bz_err ignored;
    int rc;

    *stats = (struct bz_tree_stats){0};
    rc = bz_tree_load(cas, tree, &out->threads, &loaded, err);
    if (rc < 0)
        return bz_err_wrap(err, "restore %s", path);
    if (mkdirat(dir, path, NEW_DIR) < 0)
        return bz_fail_sys(err, "restore %s", path);
    *stats = loaded.dirs[0].sum;
    rc = bz_tree_walk(&walk, dir, path, err);
    if (rc < 0 && bz_fs_remove(dir, path, &ignored) < 0)
        return bz_err_wrap(err, "restore %s, of which a part stays", path);
    return rc < 0 ? bz_err_wrap(err, "restore %s", path) : 0;
}
