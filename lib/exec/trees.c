#include "exec/trees.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "cache/expanded.h"
#include "exec/merge.h"
#include "os/alive.h"
#include "os/fs.h"
#include "os/fs_remove.h"

struct bz_trees {
    struct bz_cache *cache;
    struct bz_pool *pool;
    struct bz_arena arena;
    struct bz_str dir, shown;
    struct bz_str making;            /* where they are made; swept if we are killed */
    struct bz_map known;             /* paths that are there */
    size_t lost;                     /* the layer that could not be had last */
    struct BZ_VEC(const char *) old; /* taken out of the way */
    struct bz_digest_hasher *hasher;
    unsigned made;
};

static int make_dirs(const struct bz_trees *t, struct bz_err *err)
{
    int rc = bz_expanded_close_off(t->dir.p, err);

    return rc < 0 ? rc : bz_fs_mkdirs(AT_FDCWD, t->shown.p, 0755, err);
}

int bz_trees_open(struct bz_cache *cache, struct bz_pool *pool, const char *store,
                  struct bz_trees **out, struct bz_err *err)
{
    struct bz_trees *t = bz_mem_zalloc(sizeof(*t));
    struct bz_alive self;
    int rc;

    t->cache = cache;
    t->pool = pool;
    bz_alive_self(&self);
    t->dir = bz_arena_printf(&t->arena, "%s/trees", store);
    t->shown = bz_arena_printf(&t->arena, "%s/out", store);
    t->making = bz_arena_printf(&t->arena, "%s/work/%s", store, self.name);
    /* A store that is only read serves what is shown in it. */
    rc = bz_cache_cas(cache)->root.readonly ? 0 : make_dirs(t, err);
    if (rc == 0)
        rc = bz_digest_hasher_new(&t->hasher, err);
    if (rc < 0) {
        bz_trees_close(t);
        return rc;
    }
    *out = t;
    return 0;
}

static void remove_dir(const char *path)
{
    struct bz_err err;

    if (bz_fs_remove(AT_FDCWD, path, &err) < 0)
        bz_log_warn("exec", "%s", err.msg);
}

void bz_trees_close(struct bz_trees *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->old.len; i++)
        remove_dir(t->old.at[i]);
    bz_vec_release(&t->old);
    if (t->made > 0)
        rmdir(t->making.p); /* there may be more in it, which others remove */
    bz_map_release(&t->known);
    bz_digest_hasher_free(t->hasher);
    bz_arena_release(&t->arena);
    free(t);
}

/* How one of them comes to be, and how to tell that it is still that. */
struct kind {
    const char *prefix;
    bool plain; /* for users */
    int (*make)(struct bz_trees *t, const struct kind *kind, const void *what,
                const char *path, struct bz_err *err);
    int (*check)(struct bz_trees *t, const struct kind *kind, const void *what,
                 const char *path, struct bz_err *err);
};

/* Gives a directory that was made its name. What is no directory, a link say, has no
 * business there: it goes. */
static int name_it(const char *made, const char *path)
{
    if (rename(made, path) == 0)
        return 0;
    if (errno != ENOTDIR)
        return -1;
    bz_log_warn("exec", "%s is not a directory: it is removed and made anew", path);
    return unlink(path) < 0 && errno != ENOENT ? -1 : rename(made, path);
}

/* Makes a directory under another name first. */
static int make_whole(struct bz_trees *t, const struct kind *kind, const void *what,
                      const char *path, struct bz_err *err)
{
    struct bz_str temp =
        bz_arena_printf(&t->arena, "%s/tree-%u", t->making.p, t->made++);
    int rc = bz_fs_mkdirs(AT_FDCWD, t->making.p, 0755, err);

    if (rc == 0)
        rc = kind->make(t, kind, what, temp.p, err);
    if (rc == 0)
        rc = bz_expanded_touch(temp.p, err);
    if (rc == 0 && name_it(temp.p, path) == 0) {
        bz_cache_laid_out(t->cache, path);
        return 0;
    }
    /* That another process has been quicker is as well. */
    if (rc == 0 && errno != EEXIST && errno != ENOTEMPTY)
        rc = bz_fail_sys(err, "make %s", path);
    remove_dir(temp.p);
    return rc;
}

static int restore(struct bz_trees *t, const struct kind *kind, const void *what,
                   const char *path, struct bz_err *err)
{
    const struct bz_tree_out out = {
        .threads = {t->pool, NULL},
          .plain = kind->plain
    };

    return bz_cache_lay_out(t->cache, what, path, &out, err);
}

static int inspect(struct bz_trees *t, const struct kind *kind, const void *what,
                   const char *path, struct bz_err *err)
{
    const struct bz_tree_out out = {
        .threads = {t->pool, NULL},
          .plain = kind->plain
    };

    return bz_cache_inspect(t->cache, what, path, &out, err);
}

static int find_all(struct bz_trees *t, const struct bz_output_layers *layers,
                    const char **paths, struct bz_err *err)
{
    int rc = 0;

    for (size_t i = 0; i < layers->len && rc == 0; i++) {
        t->lost = i;
        rc = bz_trees_get(t, &layers->at[i].tree, &paths[i], err);
    }
    if (rc == 0)
        t->lost = 0;
    return rc;
}

static enum bz_merge_how merge_how(const struct kind *kind)
{
    return kind->plain ? BZ_MERGE_PLAIN : BZ_MERGE_LINK;
}

/* Layers that lie on each other, or a part of them. */
struct pile {
    const struct bz_output_layers *layers;
    struct bz_str part; /* empty: all */
};

static int merge(struct bz_trees *t, const struct kind *kind, const void *what,
                 const char *path, struct bz_err *err)
{
    const struct pile *pile = what;
    BZ_CLEANUP(bz_mem_freep)
    const char **paths = bz_mem_array(pile->layers->len, sizeof(*paths));
    const struct bz_merge_in in = {paths, pile->layers->len, pile->part};
    int rc = find_all(t, pile->layers, paths, err);

    if (rc == 0)
        rc = bz_merge_layers(&in, path, merge_how(kind), err);
    if (rc == 0)
        bz_cache_vouch(t->cache, path);
    return rc;
}

/* Its files are those of its layers, about which one can tell, or copies of these. */
static int compare(struct bz_trees *t, const struct kind *kind, const void *what,
                   const char *path, struct bz_err *err)
{
    const struct pile *pile = what;
    BZ_CLEANUP(bz_mem_freep)
    const char **paths = bz_mem_array(pile->layers->len, sizeof(*paths));
    const struct bz_merge_in in = {paths, pile->layers->len, pile->part};
    int rc;

    if (bz_cache_believes(t->cache, path))
        return 0;
    rc = find_all(t, pile->layers, paths, err);
    if (rc == 0)
        rc = bz_merge_check(&in, path, merge_how(kind), err);
    if (rc == 0)
        bz_cache_vouch(t->cache, path);
    return rc;
}

/* One that is there is used if it is right; otherwise it makes way. */
static int use(struct bz_trees *t, const struct kind *kind, const void *what,
               const char *path, struct bz_err *err)
{
    struct bz_shelf_root *root = &bz_cache_cas(t->cache)->root;
    const char *old;
    struct bz_err why;
    int rc;

    if (!bz_expanded_claim(root, path))
        return make_whole(t, kind, what, path, err);
    if (kind->check(t, kind, what, path, &why) == 0)
        return 0;
    bz_log_warn("exec", "%s is not what was laid out (%s): it is made anew", path,
                why.msg);
    rc = bz_expanded_discard(root, path, &t->arena, &old, err);
    if (rc < 0)
        return rc;
    BZ_VEC_PUSH(&t->old, old);
    return make_whole(t, kind, what, path, err);
}

static int find(struct bz_trees *t, const struct bz_digest *name,
                const struct kind *kind, const void *what, const char **path,
                struct bz_err *err)
{
    char hex[BZ_DIGEST_HEX_LEN + 1];
    const struct bz_map_entry *e;
    struct bz_str where;
    int rc = 0;

    bz_digest_hex(name, hex);
    where = bz_arena_printf(&t->arena, "%s/%s%s", kind->plain ? t->shown.p : t->dir.p,
                            kind->prefix, hex);
    e = bz_map_get(&t->known, where);
    if (!e)
        rc = use(t, kind, what, where.p, err);
    if (rc < 0)
        return rc;
    *path = bz_map_put(&t->known, where)->key.p;
    return 0;
}

int bz_trees_get(struct bz_trees *t, const struct bz_reapi_digest *tree,
                 const char **path, struct bz_err *err)
{
    static const struct kind layer = {"", false, restore, inspect};

    return find(t, &tree->hash, &layer, tree, path, err);
}

static void name_merged(struct bz_trees *t, const struct pile *pile,
                        struct bz_digest *out)
{
    const struct bz_output_layers *layers = pile->layers;

    bz_digest_begin(t->hasher);
    for (size_t i = 0; i < layers->len; i++)
        bz_digest_add(t->hasher, layers->at[i].tree.hash.b, BZ_DIGEST_LEN);
    bz_digest_add(t->hasher, pile->part.p, pile->part.n);
    bz_digest_end(t->hasher, out);
}

int bz_trees_merge(struct bz_trees *t, const struct bz_output_layers *layers,
                   const char **path, struct bz_err *err)
{
    static const struct kind merged = {"merged-", false, merge, compare};
    const struct pile pile = {.layers = layers};
    struct bz_digest name;

    if (layers->len == 1)
        return bz_trees_get(t, &layers->at[0].tree, path, err);
    name_merged(t, &pile, &name);
    return find(t, &name, &merged, &pile, path, err);
}

int bz_trees_show(struct bz_trees *t, const struct bz_output_layers *layers,
                  struct bz_str part, const char **path, size_t *lost,
                  struct bz_err *err)
{
    static const struct kind one = {"", true, restore, inspect};
    static const struct kind merged = {"merged-", true, merge, compare};
    const struct bz_reapi_digest *tree = &layers->at[0].tree;
    const struct pile pile = {layers, part};
    struct bz_digest name;
    int rc;

    t->lost = 0;
    if (layers->len == 1 && part.n == 0) {
        rc = find(t, &tree->hash, &one, tree, path, err);
    } else {
        name_merged(t, &pile, &name);
        rc = find(t, &name, &merged, &pile, path, err);
    }
    *lost = t->lost;
    return rc;
}
