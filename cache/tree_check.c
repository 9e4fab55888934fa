#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cache/closed.h"
#include "cache/tree_load.h"
#include "codec/reapi_name.h"
#include "pool/scope.h"

#define FILES_AT_ONCE 64
#define MODE_BITS 07777
#define ENTER (S_IRUSR | S_IXUSR)

struct job {
    const struct bz_tree_out *out;
    const struct bz_tree_load *tree;
    struct bz_crew crew;
};

/* One place in the unfolded tree. */
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

static int differs(const char *name, const char *how, struct bz_err *err)
{
    return bz_fail(err, BZ_E_CORRUPT, "%s %s", name, how);
}

static bool is_stamped(const struct stat *st)
{
    return st->st_mtim.tv_sec == BZ_SHELF_MTIME && st->st_mtim.tv_nsec == 0;
}

/* What all entries have in common. */
static int look_at(const struct node *n, const char *name, mode_t type, struct stat *st,
                   struct bz_err *err)
{
    if (fstatat(n->fd, name, st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? differs(name, "is missing", err)
                               : bz_fail_sys(err, "stat %s", name);
    if ((st->st_mode & S_IFMT) != type)
        return differs(name, "is something else", err);
    if (type != S_IFCHR && n->job->out->check != BZ_CAS_FILE_UNCHECKED &&
        !is_stamped(st))
        return differs(name, "was written to", err);
    return 0;
}

static int hash_file(const struct node *n, struct bz_digest_hasher *h, const char *name,
                     const struct bz_reapi_digest *want, struct bz_err *err)
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

static int check_file(const struct node *n, struct bz_digest_hasher *h,
                      const struct bz_reapi_file *f, struct bz_err *err)
{
    struct name name = name_of(f->name);
    struct stat st;
    int rc = look_at(n, name.s, S_IFREG, &st, err);

    if (rc < 0)
        return rc;
    if ((uint64_t)st.st_size != f->digest.size)
        return differs(name.s, "has another size", err);
    if ((st.st_mode & MODE_BITS) != bz_tree_load_mode(f))
        return differs(name.s, "has another mode", err);
    return n->job->out->check == BZ_CAS_FILE_CHECK
               ? hash_file(n, h, name.s, &f->digest, err)
               : 0;
}

static void check_batch(struct bz_worker *w, void *arg)
{
    const struct batch *b = arg;
    struct job *job = b->node->job;
    struct bz_digest_hasher *h = bz_crew_take(&job->crew);
    struct bz_err err;

    (void)w;
    if (!h)
        return;
    for (size_t i = b->begin; i < b->end && !bz_crew_stopped(&job->crew); i++)
        if (check_file(b->node, h, &b->node->from->dir.files[i], &err) < 0)
            fail(b->node, &err);
    bz_crew_give(&job->crew, h);
}

static int check_links(const struct node *n, struct bz_err *err)
{
    for (size_t i = 0; i < n->from->dir.nlinks; i++) {
        const struct bz_reapi_link *l = &n->from->dir.links[i];
        struct name name = name_of(l->name);
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

static int check_whiteouts(const struct node *n, struct bz_err *err)
{
    for (size_t i = 0; i < n->from->dir.nwhiteouts; i++) {
        struct name name = name_of(n->from->dir.whiteouts[i]);
        struct stat st;
        int rc = look_at(n, name.s, S_IFCHR, &st, err);

        if (rc < 0)
            return rc;
        if (st.st_rdev != 0)
            return differs(name.s, "is a device", err);
    }
    return 0;
}

static bool is_opaque(int fd)
{
    static const char *const names[] = {"user.overlay.opaque",
                                        "trusted.overlay.opaque"};
    char value;

    for (size_t i = 0; i < BZ_COUNTOF(names); i++)
        if (fgetxattr(fd, names[i], &value, 1) == 1 && value == 'y')
            return true;
    return false;
}

/* All that it should have is looked for elsewhere: then the number tells whether there
 * is more. */
static int check_number(const struct node *n, DIR *d, struct bz_err *err)
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

static mode_t mode_of(const struct node *n)
{
    const struct bz_reapi_props *props = &n->from->dir.props;

    return props->has_mode ? props->mode : 0755;
}

static int check_own(const struct node *n, mode_t mode, DIR *d, struct bz_err *err)
{
    int rc;

    if (mode != mode_of(n))
        return bz_fail(err, BZ_E_CORRUPT, "it has another mode");
    if (is_opaque(n->fd) != n->from->dir.opaque)
        return bz_fail(err, BZ_E_CORRUPT, "what it hides is not the same");
    rc = check_number(n, d, err);
    if (rc == 0)
        rc = check_links(n, err);
    if (rc == 0)
        rc = check_whiteouts(n, err);
    return rc;
}

static void check_dir(struct bz_worker *w, void *arg);

/* The subdirectories and, in batches, the files, by whoever is free. */
static void check_below(struct bz_worker *w, const struct node *n)
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
        bz_scope_spawn(&scope, w, check_dir, &subs[i]);
    }
    for (size_t i = 0; i < nbatches; i++) {
        size_t end = (i + 1) * FILES_AT_ONCE;

        batches[i] =
            (struct batch){n, i * FILES_AT_ONCE, end < dir->nfiles ? end : dir->nfiles};
        bz_scope_spawn(&scope, w, check_batch, &batches[i]);
    }
    bz_scope_end(&scope, w);
    bz_arena_release(&a);
}

/* Looks at what is in an open directory; if it is closed otherwise, `mode` is its own
 * one. */
static int look_into(struct bz_worker *w, struct node *n, bool closed, mode_t mode,
                     struct bz_err *err)
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
        check_below(w, n);
    if (closed)
        bz_closed_again(n->fd, mode);
    closedir(d);
    return rc;
}

static int open_dir(struct bz_worker *w, struct node *n, int at, const char *name,
                    struct bz_err *err)
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
static bool is_closed(const struct node *n, const struct stat *st)
{
    return (mode_of(n) & ENTER) != ENTER && (st->st_mode & MODE_BITS) == mode_of(n) &&
           geteuid() != 0 && n->job->out->check != BZ_CAS_FILE_CHECK;
}

static void check_dir(struct bz_worker *w, void *arg)
{
    struct node *n = arg;
    struct name name = name_of(n->name);
    struct bz_err err;
    struct stat st;

    if (bz_crew_stopped(&n->job->crew))
        return;
    if (look_at(n->parent, name.s, S_IFDIR, &st, &err) < 0)
        fail(n->parent, &err);
    else if (!is_closed(n, &st) && open_dir(w, n, n->parent->fd, name.s, &err) < 0)
        fail(n, &err);
}

struct root {
    struct node node;
    int dir;
    const char *path;
};

static void check_root(struct bz_worker *w, void *arg)
{
    struct root *r = arg;
    struct bz_err err;

    if (open_dir(w, &r->node, r->dir, r->path, &err) < 0)
        fail(&r->node, &err);
}

int bz_tree_check(struct bz_cas *cas, const struct bz_reapi_digest *tree, int dir,
                  const char *path, const struct bz_tree_out *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_tree_load_release) struct bz_tree_load loaded = {0};
    struct job job = {.out = out, .tree = &loaded};
    struct root root = {
        .node = {.job = &job, .fd = -1},
          .dir = dir, .path = path
    };
    int rc = bz_tree_load(cas, tree, &out->threads, &loaded, err);

    if (rc < 0)
        return rc;
    root.node.from = &loaded.dirs[0];
    bz_crew_init(&job.crew, out->cancel);
    bz_crew_run(&out->threads, check_root, &root);
    rc = bz_crew_result(&job.crew, err);
    bz_crew_release(&job.crew);
    return rc;
}
