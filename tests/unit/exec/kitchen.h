/* kitchen.h - a store with a pool, for tests of what runs tasks. */
#ifndef BZ_TEST_EXEC_KITCHEN_H
#define BZ_TEST_EXEC_KITCHEN_H

#include <stdio.h>
#include <string.h>

#include "cache/cache.h"
#include "plan/output.h"
#include "tests/unit/os/scratch.h"

struct kitchen {
    struct scratch *scratch;
    char store[300];
    struct bz_pool *pool;
    struct bz_cache *cache;
    struct bz_err err;
};

static inline int kitchen_setup(void **state)
{
    struct kitchen *k = calloc(1, sizeof(*k));
    struct bz_cache_opts opts = {
        .root = k->store, .store = {BZ_SHELF_WRITE, BZ_FS_NOSYNC}
    };
    void *scratch;

    if (scratch_setup(&scratch) < 0)
        return -1;
    k->scratch = scratch;
    *state = k;
    snprintf(k->store, sizeof(k->store), "%s/store", k->scratch->path);
    if (bz_pool_new(&(struct bz_pool_opts){.compute = 2}, &k->pool, &k->err) < 0)
        return -1;
    return bz_cache_open(&opts, &k->cache, &k->err);
}

static inline int kitchen_teardown(void **state)
{
    struct kitchen *k = *state;
    void *scratch = k->scratch;

    bz_cache_close(k->cache);
    bz_pool_free(k->pool);
    free(k);
    return scratch_teardown(&scratch);
}

/* Runs a line of shell in the test's directory. */
static inline void kitchen_make(struct kitchen *k, const char *script)
{
    char line[2000];

    snprintf(line, sizeof(line), "cd %s && set -e; %s", k->scratch->path, script);
    assert_int_equal(system(line), 0);
}

/* Stores a directory of the test's. */
static inline struct bz_output_layer kitchen_store(struct kitchen *k, const char *dir,
                                                   const char *task)
{
    const struct bz_tree_in how = {
        .threads = {k->pool, NULL},
          .how = BZ_CAS_FILE_COPY
    };
    struct bz_output_layer layer = {.task = bz_str_from(task)};
    struct bz_tree_stats stats;

    assert_ok(bz_cache_store(k->cache, k->scratch->fd, dir, &how, &layer.tree, &stats,
                             &k->err),
              &k->err);
    return layer;
}

#endif
