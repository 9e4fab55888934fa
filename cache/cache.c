#include "cache/cache.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "cache/reindex.h"
#include "os/clock.h"

struct bz_cache {
    struct bz_cas *cas;
    struct bz_index *index;
    enum bz_cache_verify verify;
};

/* Not having an index is no reason to fail, nor is failing to fill it. */
static void fill_index(struct bz_cache *c)
{
    struct bz_reindex_stats stats = {0};
    struct bz_err err;

    if (bz_reindex(c->cas, c->index, &stats, &err) < 0)
        bz_log_warn("cache", "the index is not complete: %s", err.msg);
    else if (stats.blobs + stats.actions > 0)
        bz_log_warn("cache", "the index was made anew: %llu results, %llu blobs",
                    (unsigned long long)stats.actions, (unsigned long long)stats.blobs);
}

int bz_cache_open(const struct bz_cache_opts *opts, struct bz_cache **out,
                  struct bz_err *err)
{
    BZ_CLEANUP(bz_cache_closep) struct bz_cache *c = bz_mem_zalloc(sizeof(*c));
    enum bz_index_state state = BZ_INDEX_MEMORY;
    int rc;

    c->verify = opts->verify;
    rc = bz_cas_open(opts->root, &opts->store, &c->cas, err);
    if (rc == 0)
        rc = bz_index_open(opts->index, opts->pool, &c->index, &state, err);
    if (rc < 0)
        return rc;
    if (state == BZ_INDEX_NEW)
        fill_index(c);
    *out = c;
    c = NULL; /* the caller owns it now */
    return 0;
}

void bz_cache_close(struct bz_cache *c)
{
    if (!c)
        return;
    bz_index_close(c->index);
    bz_cas_close(c->cas);
    free(c);
}

struct bz_cas *bz_cache_cas(struct bz_cache *c)
{
    return c->cas;
}

struct bz_index *bz_cache_index(struct bz_cache *c)
{
    return c->index;
}

int bz_cache_get(struct bz_cache *c, struct bz_digest_hasher *h,
                 const struct bz_digest *key, struct bz_arena *a,
                 struct bz_reapi_result *out, struct bz_err *err)
{
    int rc = bz_action_get(c->cas, h, key, BZ_ACTION_OURS, a, out, err);

    if (rc == 0)
        bz_index_note_hit(c->index, key);
    return rc;
}

int bz_cache_put(struct bz_cache *c, struct bz_digest_hasher *h,
                 const struct bz_digest *key, const struct bz_reapi_result *r,
                 const struct bz_cache_labels *labels, enum bz_action_put *how,
                 struct bz_err *err)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bz_reapi_result labelled = *r;
    int rc;

    labelled.naux = r->naux + 2;
    labelled.aux = BZ_ARENA_ARRAY(&a, struct bz_reapi_aux, labelled.naux);
    for (size_t i = 0; i < r->naux; i++)
        labelled.aux[i] = r->aux[i];
    labelled.aux[r->naux] =
        (struct bz_reapi_aux){BZ_STR(BZ_ACTION_RECIPE), labels->recipe};
    labelled.aux[r->naux + 1] =
        (struct bz_reapi_aux){BZ_STR(BZ_ACTION_TASK), labels->task};
    rc = bz_action_put(c->cas, h, key, &labelled, how, err);
    if (rc == 0)
        bz_reindex_result(c->index, key, &labelled, bz_clock_wall());
    return rc;
}

int bz_cache_store(struct bz_cache *c, int dir, const char *path,
                   const struct bz_tree_in *in, struct bz_reapi_digest *out,
                   struct bz_tree_stats *stats, struct bz_err *err)
{
    int rc = bz_tree_store(c->cas, dir, path, in, out, stats, err);

    if (rc == 0) {
        bz_index_note_blob(c->index, out, bz_clock_wall(), NULL, 0);
        bz_index_note_checked(c->index, &out->hash); /* hashed just now */
    }
    return rc;
}

int bz_cache_restore(struct bz_cache *c, const struct bz_reapi_digest *tree, int dir,
                     const char *path, const struct bz_tree_out *out,
                     struct bz_tree_stats *stats, struct bz_err *err)
{
    struct bz_tree_out own = *out;
    int rc;

    own.check = BZ_CAS_FILE_CHECK;
    if (c->verify == BZ_CACHE_NEVER)
        own.check = BZ_CAS_FILE_UNCHECKED;
    else if (c->verify == BZ_CACHE_FIRST_USE && bz_index_checked(c->index, &tree->hash))
        own.check = BZ_CAS_FILE_CHANGED;
    rc = bz_tree_restore(c->cas, tree, dir, path, &own, stats, err);
    if (rc == 0 && own.check == BZ_CAS_FILE_CHECK) {
        bz_index_note_blob(c->index, tree, bz_clock_wall(), NULL, 0);
        bz_index_note_checked(c->index, &tree->hash);
    }
    return rc;
}
