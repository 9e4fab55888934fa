#include <dirent.h>
#include <errno.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/map.h"
#include "cache/closed.h"
#include "cache/opaque.h"
#include "cache/tree.h"
#include "os/path.h"
#include "pool/scope.h"

#define FILES_AT_ONCE 32
#define ENTRIES_MAX ((size_t)1 << 22)
#define PERMISSIONS 07777

struct job {
    struct bz_cas *cas;
    const struct bz_tree_in *in;
    struct bz_crew crew;
};

/* The names in a directory by kind. */
struct file_list BZ_VEC(struct bz_reapi_file);
struct subdir_list BZ_VEC(struct bz_reapi_subdir);
struct link_list BZ_VEC(struct bz_reapi_link);
struct name_list BZ_VEC(struct bz_str);

/* A directory on its way. Its memory is its own, so that workers share none. */
struct node {
    struct job *job;
    struct node *parent;
    const char *name;
    unsigned depth;
    int fd;
    mode_t mode;
    struct bz_arena a;
    struct file_list files;
    bool *existed; /* one for each of files */
    struct subdir_list dirs;
    struct link_list links;
    struct name_list gone;
    bool opaque;
    bool closed;       /* to its owner, but not now */
    struct node *subs; /* one for each of dirs */
    uint64_t size;     /* of its files */
    struct bz_buf bytes;
    struct bz_reapi_digest digest;
};

/* Some of a directory's files, for one worker. */
struct batch {
    struct node *node;
    size_t begin, end;
    uint64_t size;
};

static void fail(struct node *n, struct bz_err *err)
{
    for (; n->parent; n = n->parent)
        bz_err_wrap(err, "in %s", n->name);
    bz_crew_fail(&n->job->crew, err);
}

/* The mode goes into the message where it is not what everybody would assume. */
static void set_mode(struct bz_reapi_file *f, mode_t mode)
{
    mode &= PERMISSIONS;
    f->executable = (mode & S_IXUSR) != 0;
    f->props.has_mode = mode != (f->executable ? 0755 : 0644);
    f->props.mode = f->props.has_mode ? mode : 0;
}

static void store_batch(struct bz_worker *w, void *arg)
{
    struct batch *b = arg;
    struct job *job = b->node->job;
    struct bz_digest_hasher *h = bz_crew_take(&job->crew);
    struct bz_err err;

    (void)w;
    if (!h)
        return;
    for (size_t i = b->begin; i < b->end && !bz_crew_stopped(&job->crew); i++) {
        struct bz_reapi_file *f = &b->node->files.at[i];
        struct bz_cas_file got;

        if (bz_cas_file_put(job->cas, h, b->node->fd, f->name.p, job->in->how, &got,
                            &err) < 0) {
            fail(b->node, &err);
            break;
        }
        f->digest = got.digest;
        b->node->existed[i] = got.existed;
        b->size += got.digest.size;
        set_mode(f, got.st.st_mode);
    }
    bz_crew_give(&job->crew, h);
}

static int add_link(struct node *n, struct bz_str name, struct bz_err *err)
{
    char target[BZ_PATH_MAX];
    ssize_t len = readlinkat(n->fd, name.p, target, sizeof(target));

    if (len < 0)
        return bz_fail_sys(err, "read link %s", name.p);
    BZ_VEC_PUSH(&n->links,
                (struct bz_reapi_link){
                    .name = name,
                    .target = bz_arena_dup(&n->a, bz_str_of(target, (size_t)len))});
    return 0;
}

static int add_special(struct node *n, struct bz_str name, const struct stat *st,
                       struct bz_err *err)
{
    if (S_ISCHR(st->st_mode) && st->st_rdev == makedev(0, 0))
        BZ_VEC_PUSH(&n->gone, name);
    else if (!S_ISSOCK(st->st_mode)) /* means nothing without who listened on it */
        return bz_fail(err, BZ_E_NOSUP,
                       "%s is a pipe or a device: remove it, or make "
                       "it where it is used",
                       name.p);
    return 0;
}

static int add_entry(struct node *n, const struct dirent *e, struct bz_err *err)
{
    struct bz_str name = bz_arena_dup(&n->a, bz_str_from(e->d_name));
    unsigned char type = e->d_type;
    struct stat st = {0};

    if (type != DT_REG && type != DT_DIR && type != DT_LNK) {
        if (fstatat(n->fd, name.p, &st, AT_SYMLINK_NOFOLLOW) < 0)
            return bz_fail_sys(err, "stat %s", name.p);
        type = (unsigned char)IFTODT(st.st_mode);
    }
    switch (type) {
    case DT_REG:
        BZ_VEC_PUSH(&n->files, (struct bz_reapi_file){.name = name});
        return 0;
    case DT_DIR:
        BZ_VEC_PUSH(&n->dirs, (struct bz_reapi_subdir){.name = name});
        return 0;
    case DT_LNK:
        return add_link(n, name, err);
    default:
        return add_special(n, name, &st, err);
    }
}

static bool is_dots(const char *name)
{
    return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

static int read_entries(struct node *n, DIR *d, struct bz_err *err)
{
    for (size_t count = 0;; count++) {
        struct dirent *e;
        int rc;

        errno = 0;
        e = readdir(d);
        if (!e && errno)
            return bz_fail_sys(err, "list a directory");
        if (!e)
            return 0;
        if (count > ENTRIES_MAX)
            return bz_fail(err, BZ_E_LIMIT, "more than %zu names in a directory",
                           ENTRIES_MAX);
        if (is_dots(e->d_name))
            continue;
        rc = add_entry(n, e, err);
        if (rc < 0)
            return rc;
    }
}

static int cmp_subdirs(const void *a, const void *b)
{
    return bz_str_cmp(((const struct bz_reapi_subdir *)a)->name,
                      ((const struct bz_reapi_subdir *)b)->name);
}

static int read_dir(struct node *n, DIR *d, struct bz_err *err)
{
    struct stat st;

    if (fstat(n->fd, &st) < 0)
        return bz_fail_sys(err, "stat a directory");
    if (!n->closed) {
        n->mode = st.st_mode & PERMISSIONS;
        n->closed = bz_closed_enter(n->fd, n->mode);
    }
    n->opaque = bz_opaque_is(n->fd);
    if (read_entries(n, d, err) < 0)
        return err->code;
    /* The order of a tree's directories is theirs, not the file system's. */
    BZ_VEC_SORT(&n->dirs, cmp_subdirs);
    return 0;
}

static int encode(struct node *n, struct bz_err *err)
{
    struct bz_reapi_dir dir = {
        .files = n->files.at,
        .nfiles = n->files.len,
        .dirs = n->dirs.at,
        .ndirs = n->dirs.len,
        .links = n->links.at,
        .nlinks = n->links.len,
        .whiteouts = n->gone.at,
        .nwhiteouts = n->gone.len,
        .opaque = n->opaque,
        .props = {.has_mode = n->mode != 0755, .mode = n->mode},
    };
    struct bz_digest_hasher *h;
    int rc = bz_reapi_dir_encode(&dir, &n->bytes, err);

    if (rc < 0)
        return rc;
    h = bz_crew_take(&n->job->crew);
    if (!h)
        return bz_crew_result(&n->job->crew, err);
    bz_digest_bytes(h, n->bytes.data, n->bytes.len, &n->digest.hash);
    n->digest.size = n->bytes.len;
    bz_crew_give(&n->job->crew, h);
    return 0;
}

static void store_dir(struct bz_worker *w, void *arg);

/* The subdirectories and, in batches, the files of a directory, by whoever is free. */
static void store_below(struct bz_worker *w, struct node *n)
{
    size_t nbatches = (n->files.len + FILES_AT_ONCE - 1) / FILES_AT_ONCE;
    struct batch *batches = BZ_ARENA_ARRAY(&n->a, struct batch, nbatches);
    struct bz_scope scope;

    n->existed = BZ_ARENA_ARRAY(&n->a, bool, n->files.len);
    n->subs = BZ_ARENA_ARRAY(&n->a, struct node, n->dirs.len);
    bz_scope_begin(&scope, w, NULL);
    for (size_t i = 0; i < n->dirs.len; i++) {
        n->subs[i] = (struct node){.job = n->job,
                                   .parent = n,
                                   .name = n->dirs.at[i].name.p,
                                   .depth = n->depth + 1,
                                   .fd = -1};
        bz_scope_spawn(&scope, w, store_dir, &n->subs[i]);
    }
    for (size_t i = 0; i < nbatches; i++) {
        size_t end = (i + 1) * FILES_AT_ONCE;

        batches[i] = (struct batch){.node = n,
                                    .begin = i * FILES_AT_ONCE,
                                    .end = end < n->files.len ? end : n->files.len};
        bz_scope_spawn(&scope, w, store_batch, &batches[i]);
    }
    bz_scope_end(&scope, w);
    for (size_t i = 0; i < nbatches; i++)
        n->size += batches[i].size;
    for (size_t i = 0; i < n->dirs.len; i++)
        n->dirs.at[i].digest = n->subs[i].digest;
}

static void close_dir(DIR **d)
{
    if (*d)
        closedir(*d);
}

/* The directory `path`, whose descriptor stays open until all below it is done: what
 * lies in it is reached through it. */
static void store_open(struct bz_worker *w, struct node *n, int at, const char *path,
                       int flags)
{
    BZ_CLEANUP(bz_fs_closep)
    int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
    BZ_CLEANUP(close_dir) DIR *d = NULL;
    struct bz_err err;

    if (fd < 0 && errno == EACCES) {
        fd = bz_closed_dir(at, path, &n->mode);
        n->closed = fd >= 0;
    }
    d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        bz_fail_sys(&err, "open directory %s", path);
        fail(n, &err);
        return;
    }
    n->fd = bz_fs_detach(&fd); /* closed with d */
    if (read_dir(n, d, &err) < 0)
        fail(n, &err);
    else
        store_below(w, n);
    if (n->closed)
        bz_closed_again(n->fd, n->mode);
    if (!bz_crew_stopped(&n->job->crew) && encode(n, &err) < 0)
        fail(n, &err);
}

static void store_dir(struct bz_worker *w, void *arg)
{
    struct node *n = arg;
    struct bz_err err;

    if (bz_crew_stopped(&n->job->crew))
        return;
    if (n->depth > BZ_TREE_DEPTH) {
        bz_fail(&err, BZ_E_LIMIT, "a tree of more than %d levels", BZ_TREE_DEPTH);
        fail(n, &err);
        return;
    }
    store_open(w, n, n->parent->fd, n->name, O_NOFOLLOW);
}

struct root {
    struct node node;
    int dir;
    const char *path;
};

static void store_root(struct bz_worker *w, void *arg)
{
    struct root *r = arg;

    store_open(w, &r->node, r->dir, r->path, 0);
}

/* Nothing here recurses, so a tree of any shape is freed. */
static void node_release(struct node *n)
{
    bz_vec_release(&n->files);
    bz_vec_release(&n->dirs);
    bz_vec_release(&n->links);
    bz_vec_release(&n->gone);
    bz_buf_release(&n->bytes);
    bz_arena_release(&n->a);
}

struct node_ref {
    struct node *node;
};
struct node_list BZ_VEC(struct node_ref);

/* All nodes, parents first. */
static void list_nodes(struct node *root, struct node_list *all)
{
    BZ_VEC_PUSH(all, (struct node_ref){root});
    for (size_t i = 0; i < all->len; i++)
        for (size_t k = 0; all->at[i].node->subs && k < all->at[i].node->dirs.len; k++)
            BZ_VEC_PUSH(all, (struct node_ref){&all->at[i].node->subs[k]});
}

/* The Tree message: each different directory once, parents before children. Listing
 * level by level puts a directory that several have before one of its parents if that
 * is deeper, so the last place of each counts. */
static void encode_tree(const struct node_list *all, struct bz_buf *out)
{
    BZ_CLEANUP(bz_map_release) struct bz_map last = {0};
    BZ_CLEANUP(bz_vec_release) struct name_list dirs = {0};
    struct bz_reapi_tree tree;

    for (size_t i = 0; i < all->len; i++) {
        const struct bz_digest *d = &all->at[i].node->digest.hash;

        bz_map_put(&last, bz_str_of((const char *)d->b, sizeof(d->b)))->u = i;
    }
    for (size_t i = 0; i < all->len; i++) {
        const struct bz_digest *d = &all->at[i].node->digest.hash;

        if (bz_map_get(&last, bz_str_of((const char *)d->b, sizeof(d->b)))->u == i)
            BZ_VEC_PUSH(&dirs, bz_buf_str(&all->at[i].node->bytes));
    }
    tree = (struct bz_reapi_tree){dirs.at, dirs.len};
    bz_reapi_tree_encode(&tree, out);
}

static int put_tree(struct job *job, const struct node_list *all,
                    struct bz_reapi_digest *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf bytes = {0};
    struct bz_digest_hasher *h;
    int rc = bz_crew_result(&job->crew, err);

    if (rc < 0)
        return rc;
    if (all->len > BZ_REAPI_TREE_DIRS)
        return bz_fail(err, BZ_E_LIMIT, "a tree of %zu directories", all->len);
    encode_tree(all, &bytes);
    if (bytes.len > BZ_REAPI_TREE_MAX)
        return bz_fail(err, BZ_E_LIMIT, "a tree whose names take %zu bytes", bytes.len);
    h = bz_crew_take(&job->crew);
    if (!h)
        return bz_crew_result(&job->crew, err);
    rc = bz_cas_put(job->cas, h, bytes.data, bytes.len, out, err);
    bz_crew_give(&job->crew, h);
    return rc;
}

static struct bz_str key_of(const struct bz_reapi_digest *d)
{
    return bz_str_of((const char *)d->hash.b, sizeof(d->hash.b));
}

/* A blob that was there may be ours all the same, by another file of this tree. One of
 * no bytes has the right ones. */
static uint64_t count_unseen(const struct node_list *all)
{
    BZ_CLEANUP(bz_map_release) struct bz_map ours = {0};
    uint64_t n = 0;

    for (size_t i = 0; i < all->len; i++) {
        const struct node *node = all->at[i].node;

        for (size_t k = 0; node->existed && k < node->files.len; k++)
            if (!node->existed[k])
                bz_map_put(&ours, key_of(&node->files.at[k].digest));
    }
    for (size_t i = 0; i < all->len; i++) {
        const struct node *node = all->at[i].node;

        for (size_t k = 0; node->existed && k < node->files.len; k++)
            if (node->existed[k] && node->files.at[k].digest.size > 0 &&
                !bz_map_get(&ours, key_of(&node->files.at[k].digest)))
                n++;
    }
    return n;
}

static void count(const struct node_list *all, struct bz_tree_stats *stats)
{
    *stats = (struct bz_tree_stats){.dirs = all->len};
    for (size_t i = 0; i < all->len; i++) {
        stats->files += all->at[i].node->files.len;
        stats->links += all->at[i].node->links.len;
        stats->bytes += all->at[i].node->size;
    }
    stats->unseen = count_unseen(all);
}

int bz_tree_store(struct bz_cas *cas, int dir, const char *path,
                  const struct bz_tree_in *in, struct bz_reapi_digest *out,
                  struct bz_tree_stats *stats, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct node_list all = {0};
    struct job job = {.cas = cas, .in = in};
    struct root root = {
        .node = {.job = &job, .fd = -1},
          .dir = dir, .path = path
    };
    int rc;

    bz_crew_init(&job.crew, in->cancel);
    bz_crew_run(&in->threads, store_root, &root);
    list_nodes(&root.node, &all);
    count(&all, stats);
    rc = put_tree(&job, &all, out, err);
    for (size_t i = all.len; i > 0; i--) /* a node lies in its parent's memory */
        node_release(all.at[i - 1].node);
    bz_crew_release(&job.crew);
    return rc < 0 ? bz_err_wrap(err, "store %s", path) : 0;
}
