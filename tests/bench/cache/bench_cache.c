/* What the driver measures: one operation of the store, as a program.
 *
 *   bench_cache has STORE N         look for N keys that are there, and the same with
 *                                   bare faccessat; prints ns a key of both
 *   bench_cache store STORE DIR     store a tree; prints its digest and size
 *   bench_cache restore STORE DIGEST SIZE DIR [check]
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "cache/tree.h"
#include "os/clock.h"

#define ROUNDS 15
#define SLICE 500

static void fail(const struct bz_err *err)
{
    fprintf(stderr, "bench_cache: %s\n", err->msg);
    exit(1);
}

static struct bz_cas *open_store(const char *root)
{
    static const struct bz_cas_opts opts = {BZ_SHELF_WRITE, BZ_FS_NOSYNC};
    struct bz_cas *cas;
    struct bz_err err;

    if (bz_cas_open(root, &opts, &cas, &err) < 0)
        fail(&err);
    return cas;
}

/* In slices, the fastest round of each: a slice is over before a stranger gets the CPU.
 */
struct slice {
    int64_t ours, bare;
};

static size_t measure(const struct bz_cas *cas, const struct bz_reapi_digest *keys,
                      char (*names)[BZ_SHELF_NAME], size_t n, struct slice *best)
{
    int64_t a = bz_clock_now(), b, c;
    size_t found = 0;

    for (size_t i = 0; i < n; i++)
        found += bz_cas_has(cas, &keys[i]);
    b = bz_clock_now();
    for (size_t i = 0; i < n; i++)
        found += faccessat(cas->blobs.dir, names[i], F_OK, 0) == 0;
    c = bz_clock_now();
    if (best->ours == 0 || b - a < best->ours)
        best->ours = b - a;
    if (best->bare == 0 || c - b < best->bare)
        best->bare = c - b;
    return found;
}

static void has(const char *root, size_t n)
{
    struct bz_cas *cas = open_store(root);
    struct bz_reapi_digest *keys = bz_mem_array(n, sizeof(*keys));
    char(*names)[BZ_SHELF_NAME] = bz_mem_array(n, BZ_SHELF_NAME);
    struct slice sum = {0};
    struct bz_digest_hasher *h;
    struct bz_err err;

    if (bz_digest_hasher_new(&h, &err) < 0)
        fail(&err);
    for (size_t i = 0; i < n; i++) {
        if (bz_cas_put(cas, h, &i, sizeof(i), &keys[i], &err) < 0)
            fail(&err);
        bz_shelf_name(&keys[i].hash, names[i]);
    }
    for (size_t i = 0; i < n; i += SLICE) {
        size_t len = n - i < SLICE ? n - i : SLICE;
        struct slice best = {0};

        for (int round = 0; round < ROUNDS; round++)
            if (measure(cas, keys + i, names + i, len, &best) != 2 * len)
                exit(1);
        sum.ours += best.ours;
        sum.bare += best.bare;
    }
    printf("%.1f %.1f\n", (double)sum.ours / (double)n, (double)sum.bare / (double)n);
    bz_digest_hasher_free(h);
    bz_cas_close(cas);
    free(keys);
    free(names);
}

static void store(const char *root, const char *path, struct bz_pool *pool)
{
    struct bz_tree_in in = {.threads = {.pool = pool}, .how = BZ_CAS_FILE_ADOPT};
    struct bz_cas *cas = open_store(root);
    char hex[BZ_DIGEST_HEX_LEN + 1];
    struct bz_tree_stats stats;
    struct bz_reapi_digest d;
    struct bz_err err;

    if (bz_tree_store(cas, AT_FDCWD, path, &in, &d, &stats, &err) < 0)
        fail(&err);
    bz_digest_hex(&d.hash, hex);
    printf("%s %llu\n", hex, (unsigned long long)d.size);
    bz_cas_close(cas);
}

static void restore(char **argv, struct bz_pool *pool)
{
    struct bz_tree_out out = {.threads = {.pool = pool},
                              .how = BZ_CAS_FILE_LINK,
                              .check =
                                  argv[6] ? BZ_CAS_FILE_CHECK : BZ_CAS_FILE_CHANGED};
    struct bz_cas *cas = open_store(argv[2]);
    struct bz_tree_stats stats;
    struct bz_reapi_digest d;
    struct bz_err err;

    if (bz_digest_parse(bz_str_from(argv[3]), &d.hash, &err) < 0)
        fail(&err);
    d.size = strtoull(argv[4], NULL, 10);
    if (bz_tree_restore(cas, &d, AT_FDCWD, argv[5], &out, &stats, &err) < 0)
        fail(&err);
    bz_cas_close(cas);
}

int main(int argc, char **argv)
{
    struct bz_pool *pool;
    struct bz_err err;

    if (bz_pool_new(&(struct bz_pool_opts){0}, &pool, &err) < 0)
        fail(&err);
    if (argc == 4 && strcmp(argv[1], "has") == 0)
        has(argv[2], strtoull(argv[3], NULL, 10));
    else if (argc == 4 && strcmp(argv[1], "store") == 0)
        store(argv[2], argv[3], pool);
    else if (argc >= 6 && strcmp(argv[1], "restore") == 0)
        restore(argv, pool);
    else
        return 2;
    bz_pool_free(pool);
    return 0;
}
