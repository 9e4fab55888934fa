#include "cache/tree_walk.h"

#include "cache/plain.h"
#include "pool/scope.h"

#define FILES_AT_ONCE 64

/* Some of a directory's files, for one worker. */
struct batch {
    const struct bz_tree_walk_node *node;
    size_t begin, end;
};

struct bz_tree_walk_name bz_tree_walk_name(struct bz_str s)
{
    struct bz_tree_walk_name n;

    BZ_ASSERT(s.n < sizeof(n.s));
    memcpy(n.s, s.p, s.n);
    n.s[s.n] = '\0';
    return n;
}

static mode_t wanted_mode(const struct bz_tree_walk_node *n, mode_t type, mode_t stored)
{
    return n->walk->out->plain ? bz_plain_mode(type | stored) & ~type : stored;
}

mode_t bz_tree_walk_mode(const struct bz_tree_walk_node *n)
{
    const struct bz_reapi_props *props = &n->from->dir.props;

    return wanted_mode(n, S_IFDIR, props->has_mode ? props->mode : 0755);
}

mode_t bz_tree_walk_file_mode(const struct bz_tree_walk_node *n,
                              const struct bz_reapi_file *f)
{
    return wanted_mode(n, S_IFREG, bz_tree_load_mode(f));
}

static void fail(const struct bz_tree_walk_node *n, struct bz_err *err)
{
    struct bz_tree_walk *walk = n->walk;

    for (; n->parent; n = n->parent)
        bz_err_wrap(err, "in %.*s", BZ_STR_ARG(n->name));
    bz_crew_fail(&walk->crew, err);
}

static void walk_files(struct bz_worker *w, void *arg)
{
    const struct batch *b = arg;
    struct bz_tree_walk *walk = b->node->walk;
    struct bz_digest_hasher *h = bz_crew_take(&walk->crew);
    struct bz_err err;

    (void)w;
    if (!h)
        return;
    for (size_t i = b->begin; i < b->end && !bz_crew_stopped(&walk->crew); i++) {
        const struct bz_reapi_file *f = &b->node->from->dir.files[i];
        struct bz_tree_walk_name name = bz_tree_walk_name(f->name);

        if (walk->ops->file(b->node, h, f, name.s, &err) < 0)
            fail(b->node, &err);
    }
    bz_crew_give(&walk->crew, h);
}

static void walk_dir(struct bz_worker *w, void *arg)
{
    struct bz_tree_walk_node *n = arg;
    const struct bz_tree_walk_ops *ops = n->walk->ops;
    struct bz_tree_walk_name name = bz_tree_walk_name(n->name);
    struct bz_err err;
    int rc;

    if (bz_crew_stopped(&n->walk->crew))
        return;
    rc = ops->meet(n, name.s, &err);
    if (rc < 0)
        fail(n->parent, &err);
    else if (rc == 0 && ops->enter(w, n, n->parent->fd, name.s, &err) < 0)
        fail(n, &err);
}

void bz_tree_walk_below(struct bz_worker *w, const struct bz_tree_walk_node *n)
{
    const struct bz_reapi_dir *dir = &n->from->dir;
    size_t nbatches = (dir->nfiles + FILES_AT_ONCE - 1) / FILES_AT_ONCE;
    struct bz_arena a = {0};
    struct batch *batches = BZ_ARENA_ARRAY(&a, struct batch, nbatches);
    struct bz_tree_walk_node *subs =
        BZ_ARENA_ARRAY(&a, struct bz_tree_walk_node, dir->ndirs);
    struct bz_scope scope;

    bz_scope_begin(&scope, w, NULL);
    for (size_t i = 0; i < dir->ndirs; i++) {
        subs[i] =
            (struct bz_tree_walk_node){.walk = n->walk,
                                       .parent = n,
                                       .from = &n->walk->tree->dirs[n->from->subs[i]],
                                       .name = dir->dirs[i].name,
                                       .fd = -1};
        bz_scope_spawn(&scope, w, walk_dir, &subs[i]);
    }
    for (size_t i = 0; i < nbatches; i++) {
        size_t end = (i + 1) * FILES_AT_ONCE;

        batches[i] =
            (struct batch){n, i * FILES_AT_ONCE, end < dir->nfiles ? end : dir->nfiles};
        bz_scope_spawn(&scope, w, walk_files, &batches[i]);
    }
    bz_scope_end(&scope, w);
    bz_arena_release(&a);
}

struct root {
    struct bz_tree_walk_node node;
    int dir;
    const char *path;
};

static void walk_root(struct bz_worker *w, void *arg)
{
    struct root *r = arg;
    struct bz_err err;

    if (r->node.walk->ops->enter(w, &r->node, r->dir, r->path, &err) < 0)
        fail(&r->node, &err);
}

int bz_tree_walk(struct bz_tree_walk *walk, int dir, const char *path,
                 struct bz_err *err)
{
    struct root root = {
        .node = {.walk = walk, .from = &walk->tree->dirs[0], .fd = -1},
        .dir = dir,
        .path = path
    };
    int rc;

    bz_crew_init(&walk->crew, walk->out->cancel);
    bz_crew_run(&walk->out->threads, walk_root, &root);
    rc = bz_crew_result(&walk->crew, err);
    bz_crew_release(&walk->crew);
    return rc;
}
