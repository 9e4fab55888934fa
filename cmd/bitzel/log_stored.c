#include "log_stored.h"

#include "base/mem.h"
#include "cmd_open_cache.h"

#define STORED_MAX ((size_t)64 << 20) /* another program's may be longer than ours */

static int read_blob(struct bz_cas *cas, struct bz_digest_hasher *h,
                     const struct bz_reapi_digest *d, struct bz_arena *a,
                     struct bz_log_stored *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) char *bytes = NULL;
    int rc = bz_cas_read(cas, h, d, STORED_MAX, &bytes, err);

    if (rc == 0)
        out->text = bz_arena_dup(a, bz_str_of(bytes, d->size));
    return rc;
}

int bz_log_stored_read(struct bz_cmd_env *env, struct bz_str key, struct bz_arena *a,
                       struct bz_log_stored *out, struct bz_err *err)
{
    BZ_CLEANUP(bz_cache_closep) struct bz_cache *c = NULL;
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *h = NULL;
    struct bz_cache_opts opts = {0};
    struct bz_reapi_result r = {0};
    struct bz_digest d = {{0}};
    int rc = bz_digest_hasher_new(&h, err);

    *out = (struct bz_log_stored){0};
    if (rc == 0 && bz_digest_parse(key, &d, err) < 0)
        return bz_fail(err, BZ_E_NOENT, "'%.*s' is no key", BZ_STR_ARG(key));
    if (rc == 0)
        rc = bz_cmd_open_cache_opts(env, a, &opts, err);
    if (rc == 0)
        rc = bz_cmd_open_cache(env, BZ_SHELF_READ, NULL, &c, err);
    if (rc == 0)
        rc = bz_action_get(bz_cache_cas(c), h, &d, BZ_ACTION_OURS, a, &r, err);
    if (rc < 0)
        return rc;
    out->text = r.out_raw;
    if (!bz_reapi_digest_none(&r.out)) {
        char name[BZ_SHELF_NAME];

        bz_shelf_name(&r.out.hash, name);
        out->path = bz_arena_printf(a, "%s/cas/%s", opts.root, name).p;
        rc = read_blob(bz_cache_cas(c), h, &r.out, a, out, err);
    }
    return rc;
}
