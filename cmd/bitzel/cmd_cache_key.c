#include <string.h>

#include "base/vec.h"
#include "cmd.h"
#include "cmd_open_cache.h"
#include "cmd_settings.h"
#include "codec/jsonw.h"
#include "os/fs_list.h"

struct key_values {
    const char *name;
    bool json;
};

static const struct bz_opt opts[] = {
    BZ_OPT_FLAG(struct key_values, json, 0, "json", "Print one JSON object"),
    BZ_OPT_END,
};

static const struct bz_opt_arg name_args[] = {
    BZ_OPT_ONE(struct key_values, name, "NAME", "What the key is called here"),
    BZ_OPT_END,
};

static const struct bz_opt_arg no_args[] = {BZ_OPT_END};

/* A key that is known here. */
struct row {
    struct bz_str name;
    struct bz_signature_public key;
    bool secret; /* we have its secret half */
};

struct rows BZ_VEC(struct row);

static void hex_of(const struct row *r, char out[BZ_SIGNATURE_HEX_LEN + 1])
{
    struct bz_digest bytes;

    memcpy(bytes.b, r->key.b, sizeof(bytes.b));
    bz_digest_hex(&bytes, out);
}

static void json_row(struct bz_jsonw *w, const struct row *r)
{
    char hex[BZ_SIGNATURE_HEX_LEN + 1];

    hex_of(r, hex);
    bz_jsonw_map(w);
    bz_jsonw_str(bz_jsonw_key(w, "name"), r->name);
    bz_jsonw_cstr(bz_jsonw_key(w, "public"), hex);
    bz_jsonw_bool(bz_jsonw_key(w, "secret"), r->secret);
    bz_jsonw_map_end(w);
}

/* As it stands in cache.keys. */
static void text_row(struct bz_out *out, const struct row *r)
{
    char hex[BZ_SIGNATURE_HEX_LEN + 1];

    hex_of(r, hex);
    bz_out_plain(out, r->name.p, r->name.n);
    bz_out_print(out, "=%s", hex);
}

static int find_dir(struct bz_cmd_env *env, struct bz_arena *a,
                    struct bz_settings **settings, const char **dir, struct bz_err *err)
{
    int rc = bz_cmd_settings_get(env, settings, err);

    if (rc < 0)
        return rc;
    *dir = bz_cmd_open_cache_keys(*settings, a);
    return *dir ? 0
                : bz_fail(err, BZ_E_INVAL,
                          "there is no place for keys: HOME is not set; set "
                          "BITZEL_STATE_DIR to a directory");
}

static int run_new(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct key_values *v = values;
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_jsonw w = bz_jsonw_to(&text, 2);
    struct row r = {.name = bz_str_from(v->name), .secret = true};
    struct bz_settings *settings;
    const char *dir;
    int rc = find_dir(env, &a, &settings, &dir, err);

    if (rc == 0)
        rc = bz_trust_new_key(dir, r.name, &r.key, err);
    if (rc == BZ_E_EXISTS)
        err->code = rc = BZ_E_INVAL;
    if (rc < 0)
        return rc;
    if (v->json) {
        json_row(&w, &r);
        bz_out_print(&env->out, "%s\n", bz_buf_text(&text));
        return BZ_CMD_EXIT_SUCCESS;
    }
    text_row(&env->out, &r);
    bz_out_print(&env->out, "\n");
    if (!env->global.quiet)
        bz_out_print(&env->log,
                     "The secret half is %s/%s.key; others need the line above.\n", dir,
                     v->name);
    return BZ_CMD_EXIT_SUCCESS;
}

static bool is_listed(const struct rows *rows, struct bz_str name)
{
    for (size_t i = 0; i < rows->len; i++)
        if (bz_str_eq(rows->at[i].name, name))
            return true;
    return false;
}

static int add_row(const struct bz_settings *s, const char *dir, struct bz_arena *a,
                   struct bz_str name, struct rows *out, struct bz_err *err)
{
    struct row r = {.name = bz_arena_dup(a, name)};
    int rc;

    if (is_listed(out, name))
        return 0;
    rc = bz_cmd_open_cache_key(s, name, &r.key, err);
    if (rc < 0)
        return rc;
    r.secret = bz_fs_exists(AT_FDCWD,
                            bz_arena_printf(a, "%s/%.*s.key", dir, BZ_STR_ARG(name)).p);
    BZ_VEC_PUSH(out, r);
    return 0;
}

/* Those of this machine, then those that only the settings name. */
static int list_keys(const struct bz_settings *s, const char *dir, struct bz_arena *a,
                     struct rows *out, struct bz_err *err)
{
    const struct bz_setting_value *all = bz_settings_get(s, BZ_SETTING_CACHE_KEYS);
    struct bz_fs_list list;
    struct bz_err ignored;
    int rc = 0;

    if (bz_fs_list_dir(AT_FDCWD, dir, &list, &ignored) == 0) {
        for (size_t i = 0; rc == 0 && i < list.n; i++) {
            struct bz_str name = bz_str_from(list.names[i]);

            if (bz_str_cut_suffix(&name, BZ_STR(".pub")) && bz_trust_is_name(name))
                rc = add_row(s, dir, a, name, out, err);
        }
        bz_fs_list_release(&list);
    }
    for (size_t i = 0; rc == 0 && i < all->n; i++) {
        struct bz_str name, digits;

        bz_str_cut(all->items[i], '=', &name, &digits);
        rc = add_row(s, dir, a, bz_str_trim(name), out, err);
    }
    return rc;
}

static int run_list(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct key_values *v = values;
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    BZ_CLEANUP(bz_vec_release) struct rows rows = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_jsonw w = bz_jsonw_to(&text, 2);
    struct bz_settings *settings;
    const char *dir;
    int rc = find_dir(env, &a, &settings, &dir, err);

    if (rc == 0)
        rc = list_keys(settings, dir, &a, &rows, err);
    if (rc < 0)
        return rc;
    if (v->json) {
        bz_jsonw_map(&w);
        bz_jsonw_cstr(bz_jsonw_key(&w, "dir"), dir);
        bz_jsonw_list(bz_jsonw_key(&w, "keys"));
        for (size_t i = 0; i < rows.len; i++)
            json_row(&w, &rows.at[i]);
        bz_jsonw_list_end(&w);
        bz_jsonw_map_end(&w);
        bz_out_print(&env->out, "%s\n", bz_buf_text(&text));
        return BZ_CMD_EXIT_SUCCESS;
    }
    for (size_t i = 0; i < rows.len; i++) {
        text_row(&env->out, &rows.at[i]);
        bz_out_print(&env->out, "%s\n", rows.at[i].secret ? "  (secret here)" : "");
    }
    return BZ_CMD_EXIT_SUCCESS;
}

static const struct bz_cmd_term new_examples[] = {
    {"bitzel cache key new ci", "Make a key for a build server"},
    {NULL,                      NULL                           },
};

static const struct bz_cmd new_key = {
    .of = "cache key",
    .name = "new",
    .summary = "Make a key to sign results with",
    .detail =
        "Makes a key and prints its public half as it goes into cache.keys of those "
        "who are to trust it. The secret half stays in state.dir, readable for you "
        "only; results are signed with it when cache.sign names the key.",
    .opts = opts,
    .args = name_args,
    .examples = new_examples,
    .size = sizeof(struct key_values),
    .run = run_new,
};

static const struct bz_cmd list_cmd = {
    .of = "cache key",
    .name = "list",
    .summary = "List the keys that are known here",
    .detail =
        "Lists the public keys that tiers can be told to trust: those that lie in "
        "keys/ of state.dir, which go first, and those of cache.keys.",
    .opts = opts,
    .args = no_args,
    .size = sizeof(struct key_values),
    .run = run_list,
};

static const struct bz_cmd *const subs[] = {&new_key, &list_cmd, NULL};

static const struct bz_cmd_term cache_key_examples[] = {
    {"bitzel cache key", "List the keys"},
    {NULL,               NULL           },
};

const struct bz_cmd bz_cmd_cache_key = {
    .of = "cache",
    .name = "key",
    .summary = "Make keys that vouch for results, or list them",
    .detail =
        "A result can be signed by whoever made it, and a tier can be told to "
        "give only results that certain keys signed: cache.tiers = dir:/srv/cache "
        "trust=ci. Without a command the keys are listed.",
    .opts = opts,
    .args = no_args,
    .examples = cache_key_examples,
    .size = sizeof(struct key_values),
    .run = run_list,
    .subs = subs,
};
