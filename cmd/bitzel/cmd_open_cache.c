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

/* Places are relative to whoever names them. */
static int read_tiers(const struct bz_settings *s, struct bz_arena *a,
                      struct bz_tiers_opts *out, struct bz_err *err)
{
    const struct bz_settings_entry *e = &s->at[BZ_SETTING_CACHE_TIERS];
    struct bz_tier_spec *specs = BZ_ARENA_ARRAY(a, struct bz_tier_spec, e->value.n);
    int rc = 0;

    *out = (struct bz_tiers_opts){
        .specs = specs,
        .n = e->value.n,
        .timeout = bz_settings_get(s, BZ_SETTING_CACHE_TIMEOUT)->number};
    for (size_t i = 0; rc == 0 && i < e->value.n; i++) {
        rc = bz_tier_spec_parse(a, e->value.items[i], &specs[i], err);
        if (rc == 0 && specs[i].kind == BZ_TIER_SPEC_DIR)
            rc = bz_setting_value_path(a, specs[i].place, &e->place, &specs[i].place,
                                       err);
        if (rc < 0)
            (void)bz_err_wrap(err, "cache.tiers: '%.*s'",
                              BZ_STR_ARG(e->value.items[i]));
    }
    if (rc < 0 && e->line > 0)
        (void)bz_err_wrap(err, "%.*s:%u", BZ_STR_ARG(e->source), e->line);
    else if (rc < 0)
        (void)bz_err_wrap(err, "%.*s", BZ_STR_ARG(e->source));
    return rc;
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
        .max_size = (uint64_t)bz_settings_get(s, BZ_SETTING_CACHE_MAX_SIZE)->number,
        .min_free = (uint64_t)bz_settings_get(s, BZ_SETTING_CACHE_MIN_FREE)->number,
        .max_age = bz_settings_get(s, BZ_SETTING_CACHE_MAX_AGE)->number,
        .store.sync = bz_settings_get(s, BZ_SETTING_CACHE_SYNC)->number ? BZ_FS_SYNC
                                                                        : BZ_FS_NOSYNC,
        .keep = !bz_settings_get(s, BZ_SETTING_CACHE_UPLOAD)->number,
        .flush = bz_settings_get(s, BZ_SETTING_CACHE_FLUSH)->number,
    };
    if (!out->root || !*out->root)
        return bz_fail(err, BZ_E_INVAL,
                       "there is no place for the store: HOME is not set; set "
                       "BITZEL_CACHE_DIR to a directory");
    rc = read_tiers(s, a, &out->tiers, err);
    return rc < 0 ? rc : index_path(s, out->root, a, &out->index, err);
}

int bz_cmd_open_cache_as(const struct bz_cache_opts *opts, struct bz_arena *a,
                         struct bz_cache **out, struct bz_err *err)
{
    struct bz_str dir;

    if (opts->store.access == BZ_SHELF_READ && !bz_fs_exists(AT_FDCWD, opts->root))
        return bz_fail(err, BZ_E_NOENT, "there is no store at %s yet", opts->root);
    if (opts->index) {
        dir = bz_arena_dup(a, bz_path_dirname(bz_str_from(opts->index)));
        /* Without the directory the index is in memory, and says so. */
        (void)!bz_fs_mkdirs(AT_FDCWD, dir.p, S_IRWXU, err);
    }
    return bz_cache_open(opts, out, err);
}

int bz_cmd_open_cache(struct bz_cmd_env *env, enum bz_shelf_access access,
                      struct bz_pool *pool, struct bz_cache **out, struct bz_err *err)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bz_cache_opts opts;
    int rc = bz_cmd_open_cache_opts(env, &a, &opts, err);

    if (rc < 0)
        return rc;
    opts.pool = pool;
    opts.store.access = access;
    return bz_cmd_open_cache_as(&opts, &a, out, err);
}
