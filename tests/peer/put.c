/* put ROOT KEY PATH FILE [DIR]: files in the store at ROOT, as bitzel does for a task,
 * that the action KEY has FILE as its output PATH, or with DIR that tree. For tests in
 * which another program reads what bitzel wrote. */
#include <stdio.h>

#include "cache/action.h"
#include "cache/tree.h"
#include "os/fs.h"

static int store(struct bz_cas *cas, struct bz_digest_hasher *h, char **args,
                 struct bz_err *err)
{
    struct bz_reapi_aux label = {BZ_STR(BZ_ACTION_RECIPE), BZ_STR("peer")};
    struct bz_reapi_outfile file = {.path = bz_str_from(args[3]), .executable = true};
    struct bz_reapi_outdir dir = {.path = bz_str_from(args[3]), .sorted = true};
    struct bz_reapi_result r = {.aux = &label, .naux = 1};
    struct bz_cas_file stored;
    struct bz_tree_stats stats;
    struct bz_tree_in in = {.how = BZ_CAS_FILE_COPY};
    struct bz_pool *pool = NULL;
    enum bz_action_put how;
    struct bz_digest key;
    int rc = bz_digest_parse(bz_str_from(args[2]), &key, err);

    if (rc == 0 && args[5]) {
        rc = bz_pool_new(&(struct bz_pool_opts){.compute = 1}, &pool, err);
        in.threads.pool = pool;
        if (rc == 0)
            rc = bz_tree_store(cas, AT_FDCWD, args[4], &in, &dir.tree, &stats, err);
        bz_pool_free(pool);
        r.dirs = &dir;
        r.ndirs = 1;
    } else if (rc == 0) {
        rc = bz_cas_file_put(cas, h, AT_FDCWD, args[4], BZ_CAS_FILE_COPY, &stored, err);
        file.digest = stored.digest;
        r.files = &file;
        r.nfiles = 1;
    }
    return rc < 0 ? rc : bz_action_put(cas, h, &key, &r, &how, err);
}

int main(int argc, char **argv)
{
    static const struct bz_cas_opts opts = {BZ_SHELF_WRITE, BZ_FS_NOSYNC};
    struct bz_digest_hasher *h = NULL;
    struct bz_cas *cas = NULL;
    struct bz_err err;
    int rc = -1;

    if (argc < 5)
        return 2;
    if (bz_digest_hasher_new(&h, &err) == 0 &&
        bz_cas_open(argv[1], &opts, &cas, &err) == 0)
        rc = store(cas, h, argv, &err);
    bz_cas_close(cas);
    bz_digest_hasher_free(h);
    if (rc < 0)
        fprintf(stderr, "%s\n", err.msg);
    return rc < 0;
}
