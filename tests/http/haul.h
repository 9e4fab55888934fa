/* haul.h - a whole tree to a tier and back: its blobs in one batch, then its result. */
#ifndef BZ_TEST_HTTP_HAUL_H
#define BZ_TEST_HTTP_HAUL_H

#include "cache/tier.h"
#include "cache/tree_load.h"
#include "tests/unit/cache/forest.h"

struct haul_blobs BZ_VEC(struct bz_tier_blob);

/* All files of a tree whose message is in the store. */
static inline struct haul_blobs haul_files(struct bz_cas *cas, struct bz_pool *pool,
                                           const struct bz_reapi_digest *tree)
{
    struct bz_crew_threads threads = {.pool = pool};
    struct haul_blobs blobs = {0};
    struct bz_tree_load t;
    struct bz_err err;

    assert_ok(bz_tree_load(cas, tree, &threads, &t, &err), &err);
    for (size_t i = 0; i < t.ndirs; i++)
        for (size_t k = 0; k < t.dirs[i].dir.nfiles; k++)
            BZ_VEC_PUSH(&blobs,
                        (struct bz_tier_blob){t.dirs[i].dir.files[k].digest, 1, false});
    bz_tree_load_release(&t);
    return blobs;
}

/* Blobs first, the result last; the key is the tree's digest. */
static inline int haul_push(struct bz_tier *t, struct bz_cas *cas, struct bz_pool *pool,
                            struct bz_digest_hasher *h,
                            const struct bz_reapi_digest *tree, struct bz_err *err)
{
    const struct bz_tier_call call = {.h = h};
    BZ_CLEANUP(bz_vec_release)
    struct haul_blobs blobs = haul_files(cas, pool, tree);
    struct bz_reapi_outdir dir = {.tree = *tree};
    struct bz_reapi_result r = {.dirs = &dir, .ndirs = 1};
    int rc;

    BZ_VEC_PUSH(&blobs, (struct bz_tier_blob){*tree, 1, false});
    rc = t->ops->put_blobs(t, &call, blobs.at, blobs.len, cas, err);
    return rc < 0 ? rc : t->ops->put_action(t, &call, &tree->hash, &r, err);
}

/* Into a store that need not know anything of it. */
static inline int haul_pull(struct bz_tier *t, struct bz_cas *cas, struct bz_pool *pool,
                            struct bz_digest_hasher *h, const struct bz_digest *key,
                            struct bz_err *err)
{
    const struct bz_tier_call call = {.h = h};
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    BZ_CLEANUP(bz_vec_release) struct haul_blobs blobs = {0};
    struct bz_tier_blob tree = {.status = 1};
    struct bz_reapi_result r;
    int rc = t->ops->get_action(t, &call, key, &a, &r, err);

    if (rc < 0)
        return rc;
    assert_int_equal(r.ndirs, 1);
    tree.digest = r.dirs[0].tree;
    rc = t->ops->get_blobs(t, &call, &tree, 1, cas, err);
    if (rc < 0)
        return rc;
    blobs = haul_files(cas, pool, &tree.digest);
    return t->ops->get_blobs(t, &call, blobs.at, blobs.len, cas, err);
}

#endif
