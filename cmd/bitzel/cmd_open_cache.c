#include "cmd_open_cache.h"

#include "cmd_settings.h"
#include "os/path.h"

#define INDEX_DIGITS 16 /* enough to tell a user's stores apart */

static int index_path(const struct bz_settings *s, const char *root, struct bz_arena *a,
                      const char **out, struct bz_err *err)
{
    struct bz_str state = bz_settings_get(s, BZ_SETTING_STATE_DIR)->text;
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *h = NULL;
    char hex[BZ_DIGEST_HEX_LEN + 1];
    struct bz_digest of_root;
    int rc;

    *out = NULL;
    if (state.n == 0)
        return 0; /* without a home the index is in memory */
    rc = bz_digest_hasher_new(&h, err);
    if (rc < 0)
        return rc;
    bz_digest_bytes(h, root, strlen(root), &of_root);
    bz_digest_hex(&of_root, hex);
    *out =
        bz_arena_printf(a, "%.*s/index/%.*s.db", BZ_STR_ARG(state), INDEX_DIGITS, hex)
            .p;
    return 0;
}

int bz_cmd_open_cache_opts(struct bz_cmd_env *env, struct bz_arena *a,
                           struct bz_cache_opts *out, struct bz_err *err)
{
    static const enum bz_cache_verify verify[] = {
        [BZ_SETTING_VERIFY_FIRST_USE] = BZ_CACHE_FIRST_USE,
        [BZ_SETTING_VERIFY_ALWAYS] = BZ_CACHE_ALWAYS,
        [BZ_SETTING_VERIFY_NEVER] = BZ_CACHE_NEVER,
    };
    struct bz_settings *s;
    int rc = bz_cmd_settings_get(env, &s, err);

    if (rc < 0)
        return rc;
    *out = (struct bz_cache_opts){
        .root = bz_settings_get(s, BZ_SETTING_CACHE_DIR)->text.p,
        .verify = verify[bz_settings_get(s, BZ_SETTING_CACHE_VERIFY)->number],
        .store.sync = bz_settings_get(s, BZ_SETTING_CACHE_SYNC)->number ? BZ_FS_SYNC
                                                                        : BZ_FS_NOSYNC,
    };
    if (!out->root || !*out->root)
        return bz_fail(err, BZ_E_INVAL,
                       "there is no place for the store: HOME is not set; set "
                       "BITZEL_CACHE_DIR to a directory");
    return index_path(s, out->root, a, &out->index, err);
}

int bz_cmd_open_cache(struct bz_cmd_env *env, enum bz_shelf_access access,
                      struct bz_pool *pool, struct bz_cache **out, struct bz_err *err)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bz_cache_opts opts;
    struct bz_str dir;
    int rc = bz_cmd_open_cache_opts(env, &a, &opts, err);

    if (rc < 0)
        return rc;
    opts.pool = pool;
    opts.store.access = access;
    if (access == BZ_SHELF_READ && !bz_fs_exists(AT_FDCWD, opts.root))
        return bz_fail(err, BZ_E_NOENT, "there is no store at %s yet", opts.root);
    if (opts.index) {
        dir = bz_arena_dup(&a, bz_path_dirname(bz_str_from(opts.index)));
        /* Without the directory the index is in memory, and says so. */
        (void)!bz_fs_mkdirs(AT_FDCWD, dir.p, S_IRWXU, err);
    }
    return bz_cache_open(&opts, out, err);
}
