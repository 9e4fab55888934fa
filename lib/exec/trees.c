#include "exec/trees.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "exec/merge.h"
#include "os/fs.h"
#include "os/fs_remove.h"

struct bz_trees {
    struct bz_cache *cache;
    struct bz_pool *pool;
    struct bz_arena arena;
    struct bz_str dir;
    struct bz_map known; /* paths that are there */
    struct bz_digest_hasher *hasher;
    unsigned made;
};

int bz_trees_open(struct bz_cache *cache, struct bz_pool *pool, const char *store,
                  struct bz_trees **out, struct bz_err *err)
{
    struct bz_trees *t = bz_mem_zalloc(sizeof(*t));
    int rc;

    t->cache = cache;
    t->pool = pool;
    t->dir = bz_arena_printf(&t->arena, "%s/trees", store);
    rc = bz_fs_mkdirs(AT_FDCWD, t->dir.p, 0755, err);
    if (rc == 0)
        rc = bz_digest_hasher_new(&t->hasher, err);
    if (rc < 0) {
        bz_trees_close(t);
        return rc;
    }
    *out = t;
    return 0;
}

void bz_trees_close(struct bz_trees *t)
{
    if (!t)
        return;
    bz_map_release(&t->known);
    bz_digest_hasher_free(t->hasher);
    bz_arena_release(&t->arena);
    free(t);
}

void bz_trees_closep(struct bz_trees **t)
{
    bz_trees_close(*t);
}

typedef int (*make_fn)(struct bz_trees *t, const void *what, const char *path,
                       struct bz_err *err);

/* Makes a directory under another name first. */
static int make_whole(struct bz_trees *t, make_fn fn, const void *what,
                      const char *path, struct bz_err *err)
{
    struct bz_str temp =
        bz_arena_printf(&t->arena, "%s/.new-%d-%u", t->dir.p, (int)getpid(), t->made++);
    struct bz_err ignored;
    int rc = bz_fs_remove(AT_FDCWD, temp.p, err); /* of a process long dead */

    if (rc == 0)
        rc = fn(t, what, temp.p, err);
    if (rc == 0 && rename(temp.p, path) == 0)
        return 0;
    /* That another process has been quicker is as well. */
    if (rc == 0 && errno != EEXIST && errno != ENOTEMPTY)
        rc = bz_fail_sys(err, "make %s", path);
    if (bz_fs_remove(AT_FDCWD, temp.p, &ignored) < 0)
        bz_log_warn("exec", "%s", ignored.msg);
    return rc;
}

static int restore(struct bz_trees *t, const void *what, const char *path,
                   struct bz_err *err)
{
    const struct bz_tree_out how = {
        .threads = {t->pool, NULL},
          .how = BZ_CAS_FILE_LINK
    };
    struct bz_tree_stats stats;

    return bz_cache_restore(t->cache, what, AT_FDCWD, path, &how, &stats, err);
}

static int merge(struct bz_trees *t, const void *what, const char *path,
                 struct bz_err *err)
{
    const struct bz_output_layers *layers = what;
    BZ_CLEANUP(bz_mem_freep)
    const char **paths = bz_mem_array(layers->len, sizeof(*paths));
    int rc = 0;

    for (size_t i = 0; i < layers->len && rc == 0; i++)
        rc = bz_trees_get(t, &layers->at[i].tree, &paths[i], err);
    return rc < 0 ? rc : bz_merge_layers(paths, layers->len, path, err);
}

static int find(struct bz_trees *t, const struct bz_digest *name, const char *prefix,
                make_fn fn, const void *what, const char **path, struct bz_err *err)
{
    char hex[BZ_DIGEST_HEX_LEN + 1];
    struct bz_map_entry *e;
    struct bz_str where;
    int rc = 0;

    bz_digest_hex(name, hex);
    where = bz_arena_printf(&t->arena, "%s/%s%s", t->dir.p, prefix, hex);
    e = bz_map_get(&t->known, where);
    if (!e && !bz_fs_exists(AT_FDCWD, where.p))
        rc = make_whole(t, fn, what, where.p, err);
    if (rc < 0)
        return rc;
    e = e ? e : bz_map_put(&t->known, where);
    *path = e->key.p;
    return 0;
}

int bz_trees_get(struct bz_trees *t, const struct bz_reapi_digest *tree,
                 const char **path, struct bz_err *err)
{
    return find(t, &tree->hash, "", restore, tree, path, err);
}

int bz_trees_merge(struct bz_trees *t, const struct bz_output_layers *layers,
                   const char **path, struct bz_err *err)
{
    struct bz_digest name;

    bz_digest_begin(t->hasher);
    for (size_t i = 0; i < layers->len; i++)
        bz_digest_add(t->hasher, layers->at[i].tree.hash.b, BZ_DIGEST_LEN);
    bz_digest_end(t->hasher, &name);
    return find(t, &name, "merged-", merge, layers, path, err);
}
