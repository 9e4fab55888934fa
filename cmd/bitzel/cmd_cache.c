#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cache/expanded.h"
#include "cache/quota.h"
#include "cache_view.h"
#include "cmd_open_cache.h"
#include "cmd_settings.h"
#include "tier_setting.h"

struct info_values {
    bool json;
};

static const struct bz_opt opts[] = {
    BZ_OPT_FLAG(struct info_values, json, 0, "json", "Print one JSON object"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {BZ_OPT_END};

struct info {
    struct bz_arena arena;
    struct bz_cache_opts opts;
    const struct bz_settings *settings;
    struct bz_index_totals totals;
    bool writable;
    uint64_t available, limit, laid_out;
};

static void release_info(struct info *i)
{
    bz_arena_release(&i->arena);
}

static int gather(struct bz_cmd_env *env, struct info *i, struct bz_err *err)
{
    BZ_CLEANUP(bz_cache_closep) struct bz_cache *c = NULL;
    struct bz_settings *settings;
    struct statvfs fs;
    int rc = bz_cmd_settings_get(env, &settings, err);

    if (rc == 0)
        rc = bz_cmd_open_cache_opts(env, &i->arena, &i->opts, err);
    if (rc == 0)
        rc = bz_cmd_open_cache(env, BZ_SHELF_READ, NULL, &c, err);
    if (rc < 0)
        return rc;
    i->settings = settings;
    i->writable = faccessat(bz_cache_cas(c)->root.top, ".", W_OK, AT_EACCESS) == 0;
    if (fstatvfs(bz_cache_cas(c)->root.top, &fs) == 0)
        i->available = (uint64_t)fs.f_bavail * fs.f_frsize;
    bz_index_get_totals(bz_cache_index(c), &i->totals);
    i->laid_out = bz_expanded_estimate(&bz_cache_cas(c)->root);
    i->limit = bz_quota_max_size(bz_cache_cas(c), i->opts.max_size,
                                 bz_quota_estimate(bz_cache_cas(c), bz_cache_index(c)));
    return 0;
}

static void show_text(struct bz_out *out, struct info *i)
{
    const struct bz_setting_value tiers = bz_tier_setting_value(
        &i->arena, bz_settings_get(i->settings, BZ_SETTING_CACHE_TIERS));
    char size[BZ_CACHE_VIEW_TEXT], limit[BZ_CACHE_VIEW_TEXT], room[BZ_CACHE_VIEW_TEXT];
    char laid_out[BZ_CACHE_VIEW_TEXT];

    bz_cache_view_row(out, "store", "%s%s", i->opts.root,
                      i->writable ? "" : " (for reading only)");
    bz_cache_view_row(out, "index", "%s", i->opts.index ? i->opts.index : "in memory");
    for (size_t k = 0; k < tiers.n; k++)
        bz_cache_view_row(out, "tier", "%.*s", BZ_STR_ARG(tiers.items[k]));
    bz_cache_view_row(out, "results", "%llu", (unsigned long long)i->totals.actions);
    bz_cache_view_row(out, "blobs", "%llu", (unsigned long long)i->totals.blobs);
    bz_cache_view_row(out, "size", "%s%s%s", bz_cache_view_size(i->totals.bytes, size),
                      i->limit ? " of " : "",
                      i->limit ? bz_cache_view_size(i->limit, limit) : "");
    if (i->laid_out > 0)
        bz_cache_view_row(out, "trees", "%s",
                          bz_cache_view_size(i->laid_out, laid_out));
    bz_cache_view_row(out, "free", "%s", bz_cache_view_size(i->available, room));
    bz_cache_view_row(out, "hits", "%llu", (unsigned long long)i->totals.hits);
}

static void show_json(struct bz_out *out, struct info *i)
{
    const struct bz_setting_value tiers = bz_tier_setting_value(
        &i->arena, bz_settings_get(i->settings, BZ_SETTING_CACHE_TIERS));
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_jsonw w = bz_jsonw_to(&text, 2);

    bz_jsonw_map(&w);
    bz_jsonw_cstr(bz_jsonw_key(&w, "store"), i->opts.root);
    bz_jsonw_bool(bz_jsonw_key(&w, "writable"), i->writable);
    if (i->opts.index)
        bz_jsonw_cstr(bz_jsonw_key(&w, "index"), i->opts.index);
    else
        bz_jsonw_null(bz_jsonw_key(&w, "index"));
    bz_jsonw_list(bz_jsonw_key(&w, "tiers"));
    for (size_t k = 0; k < tiers.n; k++)
        bz_jsonw_str(&w, tiers.items[k]);
    bz_jsonw_list_end(&w);
    bz_jsonw_int(bz_jsonw_key(&w, "results"), (int64_t)i->totals.actions);
    bz_jsonw_int(bz_jsonw_key(&w, "blobs"), (int64_t)i->totals.blobs);
    bz_jsonw_int(bz_jsonw_key(&w, "bytes"), (int64_t)i->totals.bytes);
    bz_jsonw_int(bz_jsonw_key(&w, "laid_out_bytes"), (int64_t)i->laid_out);
    bz_jsonw_int(bz_jsonw_key(&w, "max_bytes"), (int64_t)i->limit);
    bz_jsonw_int(bz_jsonw_key(&w, "free_bytes"), (int64_t)i->available);
    bz_jsonw_int(bz_jsonw_key(&w, "hits"), (int64_t)i->totals.hits);
    bz_jsonw_map_end(&w);
    bz_out_print(out, "%s\n", bz_buf_text(&text));
}

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct info_values *v = values;
    BZ_CLEANUP(release_info) struct info i = {0};
    int rc = gather(env, &i, err);

    if (rc < 0)
        return rc;
    if (v->json)
        show_json(&env->out, &i);
    else
        show_text(&env->out, &i);
    return BZ_CMD_EXIT_SUCCESS;
}

static const struct bz_cmd_term info_examples[] = {
    {"bitzel cache info --json", "The totals for a script"},
    {NULL,                       NULL                     },
};

static const struct bz_cmd info = {
    .of = "cache",
    .name = "info",
    .summary = "Show where the store is and how much it holds",
    .detail = "Shows the local store, its index, the places that are asked for what it "
              "lacks, and totals as the index of this machine knows them: what others "
              "put into a shared store is counted after 'bitzel cache reindex'; "
              "'bitzel cache du' looks at the files.",
    .opts = opts,
    .args = args,
    .examples = info_examples,
    .size = sizeof(struct info_values),
    .run = run,
};

static const struct bz_cmd *const subs[] = {
    &info,
    &bz_cmd_cache_du,
    &bz_cmd_cache_ls,
    &bz_cmd_cache_show,
    &bz_cmd_cache_path,
    &bz_cmd_cache_verify,
    &bz_cmd_cache_gc,
    &bz_cmd_cache_reindex,
    &bz_cmd_cache_copy_push,
    &bz_cmd_cache_copy_pull,
    &bz_cmd_cache_key,
    NULL,
};

static const struct bz_cmd_term cache_examples[] = {
    {"bitzel cache",                             "See how much the store holds"},
    {"bitzel cache gc --max-size 20G --dry-run",
     "See what would go if it were to take 20 GiB"                             },
    {NULL,                                       NULL                          },
};

const struct bz_cmd bz_cmd_cache = {
    .name = "cache",
    .summary = "Look at the store of results, check it, clean it up",
    .detail =
        "The store is a directory of files named by digest: results of tasks, and "
        "the blobs they consist of. cache.dir says where it is (see 'bitzel "
        "config'). Without a command, 'info' is shown.",
    .opts = opts,
    .args = args,
    .examples = cache_examples,
    .size = sizeof(struct info_values),
    .run = run,
    .subs = subs,
};
