#include <string.h>

#include "cache/closure.h"
#include "cache_view.h"
#include "cmd_open_cache.h"
#include "cmd_settings.h"
#include "os/fs_walk.h"
#include "tier_setting.h"

struct copy_values {
    struct bz_opt_list words;
    bool json;
};

static const struct bz_opt opts[] = {
    BZ_OPT_FLAG(struct copy_values, json, 0, "json", "Print one JSON object"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {
    BZ_OPT_ANY(struct copy_values, words, "[TIER] [KEY]",
               "A place as in cache.tiers (dir:PATH or a URL), else those that are "
               "configured; and results by their keys, else all"),
    BZ_OPT_END,
};

#define SHOWN 5 /* problems, unless all are asked for */

struct keys BZ_VEC(struct bz_digest);

/* Why a result was not copied. */
struct problem {
    struct bz_digest key;
    bool failed; /* else it is not there */
    struct bz_str why;
};
struct problems BZ_VEC(struct problem);

struct copy {
    struct bz_arena arena;
    struct bz_cache_opts opts;
    struct bz_tier_spec spec; /* of the line */
    bool named;               /* there is one */
    struct bz_cache *cache;
    struct bz_digest_hasher *h;
    struct keys keys;
    uint64_t copied, unsealed, missing, failed;
    struct problems problems;
};

static void release_copy(struct copy *c)
{
    bz_cache_close(c->cache);
    bz_digest_hasher_free(c->h);
    bz_vec_release(&c->keys);
    bz_vec_release(&c->problems);
    bz_arena_release(&c->arena);
}

/* The place on the line, which has a colon in it, takes the place of the settings. */
static int read_tier(struct bz_cmd_env *env, const struct copy_values *v,
                     struct copy *c, struct bz_err *err)
{
    struct bz_settings *s;
    int rc = bz_cmd_settings_get(env, &s, err);

    if (rc == 0)
        rc = bz_cmd_open_cache_opts(env, &c->arena, &c->opts, err);
    c->opts.keep = true; /* nothing goes elsewhere on the side */
    c->named = rc == 0 && v->words.n > 0 && strchr(v->words.word[0], ':');
    if (rc < 0 || !c->named)
        return rc;
    rc = bz_tier_setting_parse(&c->arena, bz_str_from(v->words.word[0]),
                               &(const struct bz_setting_value_place){s->cwd, s->home},
                               &c->spec, err);
    c->opts.tiers.specs = &c->spec;
    c->opts.tiers.n = 1;
    return rc < 0 ? rc : bz_cmd_open_cache_trust(s, &c->arena, &c->opts.tiers, err);
}

static int open_copy(struct bz_cmd_env *env, const struct copy_values *v,
                     enum bz_shelf_access access, struct copy *c, struct bz_err *err)
{
    int rc = read_tier(env, v, c, err);

    if (rc == 0 && c->opts.tiers.n == 0)
        rc = bz_fail(err, BZ_E_INVAL,
                     "there is no other place: name one, as dir:PATH or a URL, or set "
                     "cache.tiers");
    if (rc == 0)
        rc = bz_digest_hasher_new(&c->h, err);
    c->spec.write = true;
    c->opts.store.access = access;
    return rc < 0 ? rc : bz_cmd_open_cache_as(&c->opts, &c->arena, &c->cache, err);
}

/* Full keys: what is to come from elsewhere cannot be found by its first digits here.
 */
static int read_keys(const struct copy_values *v, struct copy *c, bool local,
                     struct bz_err *err)
{
    int rc = 0;

    for (size_t i = c->named; rc == 0 && i < v->words.n; i++) {
        struct bz_cache_view_found found = {.result = true};

        if (local)
            rc = bz_cache_view_find(bz_cache_cas(c->cache), v->words.word[i], &found,
                                    err);
        else
            rc = bz_digest_parse(bz_str_from(v->words.word[i]), &found.key, err);
        if (rc == 0 && !found.result)
            rc = bz_fail(err, BZ_E_INVAL, "%s is a blob, not a result",
                         v->words.word[i]);
        if (rc == 0)
            BZ_VEC_PUSH(&c->keys, found.key);
    }
    return rc;
}

static int add_key(void *ctx, const struct bz_fs_walk_entry *e, struct bz_err *err)
{
    struct keys *keys = ctx;
    struct bz_digest key;

    if (S_ISREG(e->st->st_mode) &&
        bz_digest_parse(bz_str_from(e->name), &key, err) == 0)
        BZ_VEC_PUSH(keys, key);
    return BZ_FS_WALK_ON;
}

static int all_keys(struct bz_cas *cas, struct keys *keys, struct bz_err *err)
{
    return cas->actions.dir < 0 ? 0
                                : bz_fs_walk(cas->actions.dir, ".", add_key, keys, err);
}

/* A directory can be listed, a web server cannot. */
static int keys_of_tiers(struct copy *c, struct bz_err *err)
{
    static const struct bz_cas_opts reading = {BZ_SHELF_READ, BZ_FS_NOSYNC};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < c->opts.tiers.n; i++) {
        const struct bz_tier_spec *spec = &c->opts.tiers.specs[i];
        BZ_CLEANUP(bz_cas_closep) struct bz_cas *cas = NULL;

        if (spec->kind != BZ_TIER_SPEC_DIR)
            return bz_fail(err, BZ_E_INVAL,
                           "%s cannot be listed: name the results by their keys",
                           spec->name.p);
        rc = bz_cas_open(spec->place.p, &reading, &cas, err);
        if (rc == 0)
            rc = all_keys(cas, &c->keys, err);
    }
    return rc;
}

/* What is missing is BZ_E_NOENT. */
static void note_problem(struct copy *c, const struct bz_digest *key,
                         const struct bz_err *err)
{
    bool failed = err->code != BZ_E_NOENT;
    struct problem p = {*key, failed, bz_arena_dup(&c->arena, bz_str_from(err->msg))};

    c->failed += failed;
    c->missing += !failed;
    BZ_VEC_PUSH(&c->problems, p);
}

/* What is to go must be here: a tier that gets a part of it can say no more than that.
 */
static int find_blobs(struct copy *c, const struct bz_reapi_result *r,
                      struct bz_closure_blobs *out, struct bz_err *err)
{
    struct bz_cas *cas = bz_cache_cas(c->cache);
    char hex[BZ_DIGEST_HEX_LEN + 1];
    int rc = bz_closure_all(cas, c->h, r, out, err);

    for (size_t i = 0; rc == 0 && i < out->len; i++)
        if (!bz_cas_has(cas, &out->at[i])) {
            bz_digest_hex(&out->at[i].hash, hex);
            rc = bz_fail(err, BZ_E_NOENT, "the store lacks its blob %s", hex);
        }
    return rc;
}

static int put_all(struct copy *c, const struct bz_tiers_load *load, struct bz_err *err)
{
    struct bz_tiers *tiers = bz_cache_tiers(c->cache);
    struct bz_err others;
    int rc = 0;

    for (size_t i = 0; i < bz_tiers_count(tiers); i++)
        if (bz_tiers_wants(tiers, i) &&
            bz_tiers_put(tiers, i, load, NULL, rc == 0 ? err : &others) < 0)
            rc = BZ_E_IO; /* whatever it is, it is here */
    if (rc < 0)
        err->code = rc;
    return rc;
}

static void push_one(struct copy *c, const struct bz_digest *key)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    BZ_CLEANUP(bz_vec_release) struct bz_closure_blobs blobs = {0};
    struct bz_cas *cas = bz_cache_cas(c->cache);
    struct bz_reapi_result r;
    struct bz_tiers_load load = {.key = *key, .result = &r, .from = cas};
    struct bz_err err;
    /* Others' results have no seal; whoever wrote them has to say that they are right.
     */
    int rc = bz_action_get(cas, c->h, key, BZ_ACTION_ANYONE, &a, &r, &err);

    if (rc == 0 && !r.sealed) {
        c->unsealed++;
        return;
    }
    if (rc == 0)
        rc = find_blobs(c, &r, &blobs, &err);
    load.blobs = blobs.at;
    load.n = blobs.len;
    if (rc == 0)
        rc = put_all(c, &load, &err);
    if (rc < 0)
        note_problem(c, key, &err);
    c->copied += rc == 0;
}

static void pull_one(struct copy *c, const struct bz_digest *key)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bz_reapi_result r;
    struct bz_err err;
    int rc = bz_cache_get(c->cache, c->h, key, &a, &r, &err);

    if (rc == 0)
        rc = bz_cache_fetch(c->cache, c->h, key, &r, NULL, &err);
    if (rc < 0)
        note_problem(c, key, &err);
    c->copied += rc == 0;
}

static void report_json(struct bz_out *out, const struct copy *c)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_jsonw w = bz_jsonw_to(&text, 2);
    char hex[BZ_DIGEST_HEX_LEN + 1];

    bz_jsonw_map(&w);
    bz_jsonw_int(bz_jsonw_key(&w, "copied"), (int64_t)c->copied);
    bz_jsonw_int(bz_jsonw_key(&w, "unsealed"), (int64_t)c->unsealed);
    bz_jsonw_int(bz_jsonw_key(&w, "missing"), (int64_t)c->missing);
    bz_jsonw_int(bz_jsonw_key(&w, "failed"), (int64_t)c->failed);
    bz_jsonw_list(bz_jsonw_key(&w, "problems"));
    for (size_t i = 0; i < c->problems.len; i++) {
        const struct problem *p = &c->problems.at[i];

        bz_digest_hex(&p->key, hex);
        bz_jsonw_map(&w);
        bz_jsonw_cstr(bz_jsonw_key(&w, "key"), hex);
        bz_jsonw_cstr(bz_jsonw_key(&w, "state"), p->failed ? "failed" : "missing");
        bz_jsonw_str(bz_jsonw_key(&w, "why"), p->why);
        bz_jsonw_map_end(&w);
    }
    bz_jsonw_list_end(&w);
    bz_jsonw_map_end(&w);
    bz_out_print(out, "%s\n", bz_buf_text(&text));
}

static void report(struct bz_cmd_env *env, const struct copy *c)
{
    char hex[BZ_DIGEST_HEX_LEN + 1];

    for (size_t i = 0; i < c->problems.len && i < SHOWN; i++) {
        const struct problem *p = &c->problems.at[i];

        bz_digest_hex(&p->key, hex);
        bz_out_print(&env->log, "%s: %s: ", p->failed ? "failed" : "missing", hex);
        bz_out_plain(&env->log, p->why.p, p->why.n);
        bz_out_print(&env->log, "\n");
    }
    if (c->problems.len > SHOWN)
        bz_out_print(&env->log, "and %zu more, which --json lists\n",
                     c->problems.len - SHOWN);
    bz_out_print(&env->out,
                 "copied %llu results; %llu without a seal left out, %llu missing, "
                 "%llu failed\n",
                 (unsigned long long)c->copied, (unsigned long long)c->unsealed,
                 (unsigned long long)c->missing, (unsigned long long)c->failed);
}

static int copy_all(struct bz_cmd_env *env, const struct copy_values *v, struct copy *c,
                    void (*one)(struct copy *c, const struct bz_digest *key))
{
    struct bz_cache_view_progress progress;

    bz_cache_view_begin(&progress, env);
    for (size_t i = 0; i < c->keys.len; i++) {
        one(c, &c->keys.at[i]);
        bz_cache_view_results(&progress, i + 1, c->keys.len);
    }
    bz_cache_view_end(&progress, env);
    if (v->json)
        report_json(&env->out, c);
    else
        report(env, c);
    if (c->failed > 0)
        return BZ_CMD_EXIT_INFRA;
    return c->missing > 0 && v->words.n > c->named ? BZ_CMD_EXIT_NONE
                                                   : BZ_CMD_EXIT_SUCCESS;
}

static bool has_writable(const struct copy *c)
{
    for (size_t i = 0; i < c->opts.tiers.n; i++)
        if (c->opts.tiers.specs[i].write)
            return true;
    return false;
}

static int push(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct copy_values *v = values;
    BZ_CLEANUP(release_copy) struct copy c = {0};
    struct bz_settings *s;
    int rc = bz_cmd_settings_get(env, &s, err);
    const char *keeps = rc == 0 ? bz_cmd_open_cache_keeps(s) : NULL;

    if (keeps)
        rc = bz_fail(err, BZ_E_INVAL, "nothing is uploaded: %s", keeps);
    if (rc == 0)
        rc = open_copy(env, v, BZ_SHELF_READ, &c, err);
    if (rc == 0 && !has_writable(&c))
        rc = bz_fail(err, BZ_E_INVAL,
                     "all places of cache.tiers are for reading: say rw, or name one");
    if (rc == 0)
        rc = read_keys(v, &c, true, err);
    if (rc == 0 && v->words.n <= c.named)
        rc = all_keys(bz_cache_cas(c.cache), &c.keys, err);
    return rc < 0 ? rc : copy_all(env, v, &c, push_one);
}

static int pull(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct copy_values *v = values;
    BZ_CLEANUP(release_copy) struct copy c = {0};
    int rc = open_copy(env, v, BZ_SHELF_WRITE, &c, err);

    if (rc == 0)
        rc = read_keys(v, &c, false, err);
    if (rc == 0 && v->words.n <= c.named)
        rc = keys_of_tiers(&c, err);
    return rc < 0 ? rc : copy_all(env, v, &c, pull_one);
}

static const struct bz_cmd_term push_examples[] = {
    {"bitzel cache push dir:/srv/cache",
     "Give all results to a directory that others read"},
    {NULL,                               NULL          },
};

const struct bz_cmd bz_cmd_cache_copy_push = {
    .of = "cache",
    .name = "push",
    .summary = "Copy results with their blobs to another place",
    .detail = "Copies results of the local store, and what they consist of, to TIER or "
              "to all places of cache.tiers that are written. What is there is not "
              "copied again. Results of other programs, which have no seal, stay here. "
              "Of results that could not be copied the first few are named with the "
              "reason, by --json all.",
    .opts = opts,
    .args = args,
    .examples = push_examples,
    .size = sizeof(struct copy_values),
    .run = push,
};

static const struct bz_cmd_term pull_examples[] = {
    {"bitzel cache pull dir:/srv/cache", "Take all results that are there"},
    {NULL,                               NULL                             },
};

const struct bz_cmd bz_cmd_cache_copy_pull = {
    .of = "cache",
    .name = "pull",
    .summary = "Copy results with their blobs from another place",
    .detail =
        "Copies results, and what they consist of, from TIER or the places of "
        "cache.tiers into the local store. Every byte is checked. Without KEY all "
        "results that a directory holds; a web server cannot be listed.",
    .opts = opts,
    .args = args,
    .examples = pull_examples,
    .size = sizeof(struct copy_values),
    .run = pull,
};
