#include "cmd_open_cache.h"

#include "cmd_settings.h"
#include "os/path.h"
#include "tier_setting.h"

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

const char *bz_cmd_open_cache_keys(const struct bz_settings *s, struct bz_arena *a)
{
    struct bz_str state = bz_settings_get(s, BZ_SETTING_STATE_DIR)->text;

    return state.n == 0 ? NULL : bz_arena_printf(a, "%.*s/keys", BZ_STR_ARG(state)).p;
}

/* A key in the settings must not go before one of this machine: settings may be a
 * project's. */
int bz_cmd_open_cache_key(const struct bz_settings *s, struct bz_str name,
                          struct bz_signature_public *out, struct bz_err *err)
{
    const struct bz_setting_value *all = bz_settings_get(s, BZ_SETTING_CACHE_KEYS);
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    const char *dir = bz_cmd_open_cache_keys(s, &a);
    int rc = dir ? bz_trust_load_public(dir, name, out, err) : BZ_E_NOENT;

    if (rc != BZ_E_NOENT)
        return rc;
    for (size_t i = 0; i < all->n; i++) {
        struct bz_str own, digits;
        struct bz_digest bytes;

        bz_str_cut(all->items[i], '=', &own, &digits);
        if (!bz_str_eq(bz_str_trim(own), name))
            continue;
        if (bz_digest_parse(bz_str_trim(digits), &bytes, err) < 0)
            return bz_fail(err, BZ_E_INVAL, "cache.keys: expected %.*s= and 64 digits",
                           BZ_STR_ARG(name));
        memcpy(out->b, bytes.b, sizeof(out->b));
        return 0;
    }
    return bz_fail(err, BZ_E_NOENT,
                   "the key '%.*s' is not known: put %.*s.pub into %s, or name it in "
                   "cache.keys",
                   BZ_STR_ARG(name), BZ_STR_ARG(name), dir ? dir : "state.dir/keys");
}

int bz_cmd_open_cache_trust(const struct bz_settings *s, struct bz_arena *a,
                            struct bz_tiers_opts *out, struct bz_err *err)
{
    struct bz_tiers_key *keys =
        BZ_ARENA_ARRAY(a, struct bz_tiers_key, out->n * BZ_TIER_SPEC_KEYS);
    int rc = 0;

    out->keys = keys;
    out->nkeys = 0;
    for (size_t i = 0; rc == 0 && i < out->n; i++)
        for (size_t k = 0; rc == 0 && k < out->specs[i].ntrust; k++) {
            struct bz_str name = out->specs[i].trust[k];

            keys[out->nkeys].name = name;
            rc = bz_cmd_open_cache_key(s, name, &keys[out->nkeys++].key, err);
        }
    /* That is a mistake in the settings, not a query without an answer. */
    if (rc == BZ_E_NOENT)
        err->code = rc = BZ_E_INVAL;
    return rc;
}

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
    for (size_t i = 0; rc == 0 && i < e->value.n; i++)
        rc = bz_tier_setting_parse(a, e->value.items[i], &e->place, &specs[i], err);
    if (rc == 0)
        rc = bz_cmd_open_cache_trust(s, a, out, err);
    if (rc < 0)
        (void)bz_err_wrap(err, "cache.tiers");
    if (rc < 0 && e->line > 0)
        (void)bz_err_wrap(err, "%.*s:%u", BZ_STR_ARG(e->source), e->line);
    else if (rc < 0)
        (void)bz_err_wrap(err, "%.*s", BZ_STR_ARG(e->source));
    return rc;
}

const char *const bz_cmd_open_cache_verifies[] = {
    [BZ_SETTING_VERIFY_FIRST_USE] = "first-use",
    [BZ_SETTING_VERIFY_ALWAYS] = "always",
    [BZ_SETTING_VERIFY_NEVER] = "never",
    NULL,
};

int bz_cmd_open_cache_verify(struct bz_cmd_env *env, int how, struct bz_err *err)
{
    struct bz_settings *s;
    int rc = bz_cmd_settings_get(env, &s, err);

    return rc < 0 || how < 0
               ? rc
               : bz_settings_set(s, BZ_SETTING_CACHE_VERIFY,
                                 bz_cmd_open_cache_verifies[how], "--verify", err);
}

/* What lies in a store that came with a project may be anything: what is made with its
 * help is not to be given to others either. */
const char *bz_cmd_open_cache_keeps(const struct bz_settings *s)
{
    if (!bz_settings_get(s, BZ_SETTING_CACHE_UPLOAD)->number)
        return "cache.upload is off";
    return s->at[BZ_SETTING_CACHE_DIR].level == BZ_SETTINGS_OF_PROJECT
               ? "cache.dir is set by the project"
               : NULL;
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
        .max_size = bz_settings_get(s, BZ_SETTING_CACHE_MAX_SIZE)->number,
        .min_free = bz_settings_get(s, BZ_SETTING_CACHE_MIN_FREE)->number,
        .max_age = bz_settings_get(s, BZ_SETTING_CACHE_MAX_AGE)->number,
        .store.sync = bz_settings_get(s, BZ_SETTING_CACHE_SYNC)->number ? BZ_FS_SYNC
                                                                        : BZ_FS_NOSYNC,
        .keep = bz_cmd_open_cache_keeps(s) != NULL,
        .flush = bz_settings_get(s, BZ_SETTING_CACHE_FLUSH)->number,
    };
    if (!out->root || !*out->root)
        return bz_fail(err, BZ_E_INVAL,
                       "there is no place for the store: HOME is not set; set "
                       "BITZEL_CACHE_DIR to a directory");
    rc = read_tiers(s, a, &out->tiers, err);
    return rc < 0 ? rc : index_path(s, out->root, a, &out->index, err);
}

void bz_cmd_open_cache_near(struct bz_cache_opts *opts, struct bz_arena *a, bool all)
{
    struct bz_tiers_opts *tiers = &opts->tiers;
    struct bz_tier_spec *kept = BZ_ARENA_ARRAY(a, struct bz_tier_spec, tiers->n);
    size_t n = 0;

    for (size_t i = 0; i < tiers->n && !all; i++)
        if (tiers->specs[i].kind == BZ_TIER_SPEC_DIR)
            kept[n++] = tiers->specs[i];
    tiers->specs = kept;
    tiers->n = n;
}

/* Without the directory the index is in memory, and says so. */
static void make_index_dir(const struct bz_cache_opts *opts, struct bz_arena *a)
{
    struct bz_err ignored;

    if (opts->index)
        (void)!bz_fs_mkdirs(
            AT_FDCWD, bz_arena_dup(a, bz_path_dirname(bz_str_from(opts->index))).p,
            S_IRWXU, &ignored);
}

int bz_cmd_open_cache_as(const struct bz_cache_opts *opts, struct bz_arena *a,
                         struct bz_cache **out, struct bz_err *err)
{
    if (opts->store.access == BZ_SHELF_READ && !bz_fs_exists(AT_FDCWD, opts->root))
        return bz_fail(err, BZ_E_NOENT,
                       "there is no store at %s yet: 'bitzel build' makes it",
                       opts->root);
    make_index_dir(opts, a);
    return bz_cache_open(opts, out, err);
}

void bz_cmd_open_cache_forget(struct bz_trust_signer *s)
{
    bz_signature_forget(&s->secret);
}

/* Results that are not to be shared are not vouched for either. */
static int load_signer(struct bz_cmd_env *env, struct bz_arena *a,
                       struct bz_cache_opts *opts, struct bz_trust_signer *out,
                       struct bz_err *err)
{
    struct bz_str name = bz_settings_get(&env->settings, BZ_SETTING_CACHE_SIGN)->text;
    const char *dir = bz_cmd_open_cache_keys(&env->settings, a);
    int rc;

    if (name.n == 0 || opts->keep)
        return 0;
    if (!dir)
        return bz_fail(err, BZ_E_INVAL,
                       "cache.sign: HOME is not set; set BITZEL_STATE_DIR");
    rc = bz_trust_load_secret(dir, name, out, err);
    if (rc == BZ_E_NOENT)
        rc =
            bz_fail(err, BZ_E_INVAL,
                    "there is no secret key '%.*s' in %s: 'bitzel cache key new' makes "
                    "one",
                    BZ_STR_ARG(name), dir);
    opts->signer = out;
    return rc < 0 ? bz_err_wrap(err, "cache.sign") : 0;
}

int bz_cmd_open_cache(struct bz_cmd_env *env, enum bz_shelf_access access,
                      struct bz_pool *pool, struct bz_cache **out, struct bz_err *err)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    BZ_CLEANUP(bz_cmd_open_cache_forget) struct bz_trust_signer signer = {{{0}}, {{0}}};
    struct bz_cache_opts opts;
    int rc = bz_cmd_open_cache_opts(env, &a, &opts, err);

    if (rc == 0 && access == BZ_SHELF_WRITE)
        rc = load_signer(env, &a, &opts, &signer, err);
    if (rc < 0)
        return rc;
    opts.pool = pool;
    opts.store.access = access;
    return bz_cmd_open_cache_as(&opts, &a, out, err);
}

int bz_cmd_open_cache_build(struct bz_cmd_env *env, struct bz_arena *a,
                            const struct bz_cmd_open_cache_without *near,
                            struct bz_cache_opts *out, struct bz_trust_signer *signer,
                            struct bz_err *err)
{
    int rc = bz_cmd_open_cache_opts(env, a, out, err);

    if (rc == 0)
        rc = load_signer(env, a, out, signer, err);
    if (rc < 0)
        return rc;
    if (near->local || near->offline)
        bz_cmd_open_cache_near(out, a, near->local);
    out->store.access = BZ_SHELF_WRITE;
    return 0;
}
