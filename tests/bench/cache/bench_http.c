/* What the driver measures: blobs from a web server into a store, or the other way.
 *
 *   bench_http get|put STORE URL CONCURRENT     a digest and a size a line on stdin
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/vec.h"
#include "cache/tier_http.h"

struct blobs BZ_VEC(struct bz_tier_blob);

static BZ_NORETURN void fail(const struct bz_err *err)
{
    fprintf(stderr, "bench_http: %s\n", err->msg);
    exit(1);
}

static void read_list(struct blobs *out)
{
    char hex[BZ_DIGEST_HEX_LEN + 1];
    unsigned long long size;
    struct bz_err err;

    while (scanf("%64s %llu", hex, &size) == 2) { /* NOLINT(cert-err34-c): ours */
        struct bz_tier_blob blob = {.digest.size = size};

        if (bz_digest_parse(bz_str_from(hex), &blob.digest.hash, &err) < 0)
            fail(&err);
        BZ_VEC_PUSH(out, blob);
    }
}

int main(int argc, char **argv)
{
    static const struct bz_cas_opts store = {BZ_SHELF_WRITE, BZ_FS_NOSYNC};
    struct bz_remote_opts opts = {0};
    static const struct bz_pool_opts threads = {.compute = 1, .io = 1};
    struct bz_tier_call call = {0};
    struct blobs blobs = {0};
    struct bz_tier *t;
    struct bz_cas *cas;
    struct bz_err err;
    int rc;

    if (argc != 5)
        return 2;
    read_list(&blobs);
    opts.url = argv[3];
    opts.http.concurrent = (unsigned)strtoul(argv[4], NULL, 10);
    if (bz_digest_hasher_new(&call.h, &err) < 0 ||
        bz_cas_open(argv[2], &store, &cas, &err) < 0 ||
        bz_pool_new(&threads, &call.pool, &err) < 0 ||
        bz_tier_http_open(&opts, &t, &err) < 0)
        fail(&err);
    rc = strcmp(argv[1], "get") == 0
             ? t->ops->get_blobs(t, &call, blobs.at, blobs.len, cas, &err)
             : t->ops->put_blobs(t, &call, blobs.at, blobs.len, cas, &err);
    if (rc < 0)
        fail(&err);
    t->ops->close(t);
    bz_pool_free(call.pool);
    bz_cas_close(cas);
    bz_digest_hasher_free(call.h);
    bz_vec_release(&blobs);
    return 0;
}
