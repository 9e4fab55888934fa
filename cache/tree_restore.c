#include <errno.h>
#include <stdio.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cache/tree_load.h"
#include "codec/reapi_name.h"
#include "os/fs_remove.h"
#include "pool/scope.h"

#define FILES_AT_ONCE 64
#define NEW_DIR 0700 /* until all is in it */

struct job {
    struct bz_cas *cas;
    const struct bz_tree_out *out;
    const struct bz_tree_load *tree;
    struct bz_crew crew;
};

/* A directory being made: one place in the unfolded tree. */
struct node {
    struct job *job;
    const struct node *parent;
    const struct bz_tree_load_dir *from;
    struct bz_str name;
    int fd;
};

/* Some of a directory's files, for one worker. */
struct batch {
    const struct node *node;
    size_t begin, end;
};

/* A name as the system wants it; decoding has checked its length. */
struct name {
    char s[BZ_REAPI_NAME_MAX + 1];
};

static struct name name_of(struct bz_str s)
{
    struct name n;

    BZ_ASSERT(s.n < sizeof(n.s));
    memcpy(n.s, s.p, s.n);
    n.s[s.n] = '\0';
    return n;
}

static void fail(const struct node *n, struct bz_err *err)
{
    struct job *job = n->job;

    for (; n->parent; n = n->parent)
        bz_err_wrap(err, "in %.*s", BZ_STR_ARG(n->name));
    bz_crew_fail(&job->crew, err);
}

static void restore_batch(struct bz_worker *w, void *arg)
{
    const struct batch *b = arg;
    struct job *job = b->node->job;
    struct bz_digest_hasher *h = bz_crew_take(&job->crew);
    struct bz_err err;

    (void)w;
    if (!h)
        return;
    for (size_t i = b->begin; i < b->end && !bz_crew_stopped(&job->crew); i++) {
        const struct bz_reapi_file *f = &b->node->from->dir.files[i];
        struct bz_cas_file_want want = {&f->digest, bz_tree_load_mode(f), job->out->how,
                                        job->out->check};
        struct name name = name_of(f->name);

        if (bz_cas_file_get(job->cas, h, b->node->fd, name.s, &want, &err) < 0) {
            fail(b->node, &err);
            break;
        }
    }
    bz_crew_give(&job->crew, h);
}

static int make_links(const struct node *n, struct bz_err *err)
{
    static const struct timespec times[2] = {
        {0,              UTIME_OMIT},
        {BZ_SHELF_MTIME, 0         }
    };

    for (size_t i = 0; i < n->from->dir.nlinks; i++) {
        const struct bz_reapi_link *l = &n->from->dir.links[i];
        struct name name = name_of(l->name);
        char target[BZ_REAPI_TARGET_MAX + 1];

        snprintf(target, sizeof(target), "%.*s", BZ_STR_ARG(l->target));
        if (symlinkat(target, n->fd, name.s) < 0 ||
            utimensat(n->fd, name.s, times, AT_SYMLINK_NOFOLLOW) < 0)
            return bz_fail_sys(err, "make link %s", name.s);
    }
    return 0;
}

/* As an overlay wants them: a device 0/0, which takes no privilege to make. */
static int make_whiteouts(const struct node *n, struct bz_err *err)
{
    for (size_t i = 0; i < n->from->dir.nwhiteouts; i++) {
        struct name name = name_of(n->from->dir.whiteouts[i]);

        if (mknodat(n->fd, name.s, S_IFCHR, 0) < 0)
            return bz_fail_sys(err, "make whiteout %s", name.s);
    }
    return 0;
}

/* An overlay reads one or the other, depending on who mounts it. */
static int make_opaque(const struct node *n, struct bz_err *err)
{
    bool user = fsetxattr(n->fd, "user.overlay.opaque", "y", 1, 0) == 0;
    bool trusted = fsetxattr(n->fd, "trusted.overlay.opaque", "y", 1, 0) == 0;

    return user || trusted ? 0 : bz_fail_sys(err, "make a directory opaque");
}

static void restore_dir(struct bz_worker *w, void *arg);

/* The subdirectories and, in batches, the files, by whoever is free. */
static void restore_below(struct bz_worker *w, const struct node *n)
{
    const struct bz_reapi_dir *dir = &n->from->dir;
    size_t nbatches = (dir->nfiles + FILES_AT_ONCE - 1) / FILES_AT_ONCE;
    struct bz_arena a = {0};
    struct batch *batches = BZ_ARENA_ARRAY(&a, struct batch, nbatches);
    struct node *subs = BZ_ARENA_ARRAY(&a, struct node, dir->ndirs);
    struct bz_scope scope;

    bz_scope_begin(&scope, w, NULL);
    for (size_t i = 0; i < dir->ndirs; i++) {
        subs[i] = (struct node){.job = n->job,
                                .parent = n,
                                .from = &n->job->tree->dirs[n->from->subs[i]],
                                .name = dir->dirs[i].name,
                                .fd = -1};
        bz_scope_spawn(&scope, w, restore_dir, &subs[i]);
    }
    for (size_t i = 0; i < nbatches; i++) {
        size_t end = (i + 1) * FILES_AT_ONCE;

        batches[i] =
            (struct batch){n, i * FILES_AT_ONCE, end < dir->nfiles ? end : dir->nfiles};
        bz_scope_spawn(&scope, w, restore_batch, &batches[i]);
    }
    bz_scope_end(&scope, w);
    bz_arena_release(&a);
}

/* Mode and time come last: what is made in a directory changes its time, and the mode
 * may forbid making it. */
static int seal_dir(const struct node *n, struct bz_err *err)
{
    const struct timespec times[2] = {
        {0,              UTIME_OMIT},
        {BZ_SHELF_MTIME, 0         }
    };
    const struct bz_reapi_props *props = &n->from->dir.props;

    if (fchmod(n->fd, props->has_mode ? props->mode : 0755) < 0 ||
        futimens(n->fd, times) < 0)
        return bz_fail_sys(err, "set mode and time of a directory");
    return 0;
}

/* Opens the new directory and makes what is in it. */
static int fill_dir(struct bz_worker *w, struct node *n, int at, const char *name,
                    struct bz_err *err)
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
        rc = make_opaque(n, err);
    if (rc < 0)
        return rc;
    restore_below(w, n);
    return bz_crew_stopped(&n->job->crew) ? 0 : seal_dir(n, err);
}

static void restore_dir(struct bz_worker *w, void *arg)
{
    struct node *n = arg;
    struct name name = name_of(n->name);
    struct bz_err err;

    if (bz_crew_stopped(&n->job->crew))
        return;
    if (mkdirat(n->parent->fd, name.s, NEW_DIR) < 0) {
        bz_fail_sys(&err, "make directory %s", name.s);
        fail(n, &err);
    } else if (fill_dir(w, n, n->parent->fd, name.s, &err) < 0) {
        fail(n, &err);
    }
}

struct root {
    struct node node;
    int dir;
    const char *path;
};

static void restore_root(struct bz_worker *w, void *arg)
{
    struct root *r = arg;
    struct bz_err err;

    if (fill_dir(w, &r->node, r->dir, r->path, &err) < 0)
        fail(&r->node, &err);
}

int bz_tree_restore(struct bz_cas *cas, const struct bz_reapi_digest *tree, int dir,
                    const char *path, const struct bz_tree_out *out,
                    struct bz_tree_stats *stats, struct bz_err *err)
{
    BZ_CLEANUP(bz_tree_load_release) struct bz_tree_load loaded = {0};
    struct job job = {.cas = cas, .out = out, .tree = &loaded};
    struct root root = {
        .node = {.job = &job, .fd = -1},
          .dir = dir, .path = path
    };
    struct bz_err ignored;
    int rc;

    *stats = (struct bz_tree_stats){0};
    rc = bz_tree_load(cas, tree, &out->threads, &loaded, err);
    if (rc < 0)
        return bz_err_wrap(err, "restore %s", path);
    if (mkdirat(dir, path, NEW_DIR) < 0)
        return bz_fail_sys(err, "restore %s", path);
    root.node.from = &loaded.dirs[0];
    *stats = loaded.dirs[0].sum;
    bz_crew_init(&job.crew, out->cancel);
    bz_crew_run(&out->threads, restore_root, &root);
    rc = bz_crew_result(&job.crew, err);
    bz_crew_release(&job.crew);
    if (rc < 0 && bz_fs_remove(dir, path, &ignored) < 0)
        return bz_err_wrap(err, "restore %s, of which a part stays", path);
    return rc < 0 ? bz_err_wrap(err, "restore %s", path) : 0;
}
