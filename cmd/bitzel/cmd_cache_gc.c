#include <string.h>

#include "cache/gc.h"
#include "cache/quota.h"
#include "cache_view.h"
#include "cmd_open_cache.h"
#include "cmd_settings.h"

struct gc_values {
    const char *max_size, *max_age, *min_free;
    int64_t keep_last;
    bool dry_run, json;
};

static const struct bz_opt opts[] = {
    BZ_OPT_TEXT(struct gc_values, max_size, 0, "max-size", "SIZE",
                "Drop results until the store is not larger; else cache.max_size"),
    BZ_OPT_TEXT(struct gc_values, max_age, 0, "max-age", "DURATION",
                "Drop results that were not used for longer; else cache.max_age"),
    BZ_OPT_NUMBER(struct gc_values, keep_last, 0, "keep-last", "N", 0, 1000000, 0,
                  "Of each recipe and task, drop all results but the N used last"),
    BZ_OPT_TEXT(struct gc_values, min_free, 0, "min-free", "SIZE",
                "Drop results until so much is free on the disk; else cache.min_free"),
    BZ_OPT_FLAG(struct gc_values, dry_run, 'n', "dry-run",
                "Show what would go, and remove nothing"),
    BZ_OPT_FLAG(struct gc_values, json, 0, "json", "Print one JSON object"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {BZ_OPT_END};

/* What is told about the results that go. */
struct report {
    struct bz_cache_view_progress progress; /* first: see bz_cache_view_seen */
    struct bz_out *out;                     /* NULL: as JSON */
    struct bz_jsonw w;
    struct bz_buf text;
};

static void dropped(void *ctx, const struct bz_inventory *v,
                    const struct bz_inventory_result *r, enum bz_gc_reason why)
{
    struct report *report = ctx;
    struct bz_str recipe = bz_intern_str(&v->names, r->recipe);
    struct bz_str task = bz_intern_str(&v->names, r->task);
    char hex[BZ_DIGEST_HEX_LEN + 1];

    bz_digest_hex(&r->key, hex);
    if (report->out) {
        bz_out_print(report->out, "%-7s %.*s  ", bz_gc_reason_text(why),
                     BZ_CACHE_VIEW_DIGITS, hex);
        bz_out_plain(report->out, recipe.p, recipe.n);
        bz_out_print(report->out, " ");
        bz_out_plain(report->out, task.p, task.n);
        bz_out_print(report->out, "\n");
        return;
    }
    bz_jsonw_map(&report->w);
    bz_jsonw_cstr(bz_jsonw_key(&report->w, "key"), hex);
    bz_jsonw_str(bz_jsonw_key(&report->w, "recipe"), recipe);
    bz_jsonw_str(bz_jsonw_key(&report->w, "task"), task);
    bz_jsonw_cstr(bz_jsonw_key(&report->w, "reason"), bz_gc_reason_text(why));
    bz_jsonw_map_end(&report->w);
}

/* The options are settings of the command line. */
static int read_limits(struct bz_cmd_env *env, const struct gc_values *v,
                       struct bz_settings **out, struct bz_err *err)
{
    const struct {
        const char *text, *option;
        enum bz_setting_id id;
    } rows[] = {
        {v->max_size, "--max-size", BZ_SETTING_CACHE_MAX_SIZE},
        {v->max_age,  "--max-age",  BZ_SETTING_CACHE_MAX_AGE },
        {v->min_free, "--min-free", BZ_SETTING_CACHE_MIN_FREE},
    };
    int rc = bz_cmd_settings_get(env, out, err);

    for (size_t i = 0; rc == 0 && i < BZ_COUNTOF(rows); i++)
        if (rows[i].text)
            rc = bz_settings_set(*out, rows[i].id, rows[i].text, rows[i].option, err);
    return rc;
}

/* Shares depend on the store. */
static struct bz_gc_policy policy_of(const struct bz_settings *s,
                                     const struct gc_values *v, struct bz_cache *c)
{
    struct bz_cas *cas = bz_cache_cas(c);
    uint64_t bytes = bz_quota_estimate(cas, bz_cache_index(c));

    return (struct bz_gc_policy){
        .max_size = bz_quota_max_size(
            cas, bz_settings_get(s, BZ_SETTING_CACHE_MAX_SIZE)->number, bytes),
        .min_free = bz_quota_min_free(
            cas, bz_settings_get(s, BZ_SETTING_CACHE_MIN_FREE)->number),
        .max_age = bz_settings_get(s, BZ_SETTING_CACHE_MAX_AGE)->number,
        .keep_last = (uint32_t)v->keep_last,
    };
}

static void show_text(struct bz_out *out, const struct bz_gc_stats *s, bool dry_run)
{
    char gone[BZ_CACHE_VIEW_TEXT], freed[BZ_CACHE_VIEW_TEXT], left[BZ_CACHE_VIEW_TEXT];

    bz_out_print(out, "%s %llu of %llu results and %llu of %llu blobs: %s",
                 dry_run ? "would remove" : "removed",
                 (unsigned long long)s->results_gone, (unsigned long long)s->results,
                 (unsigned long long)s->blobs_gone, (unsigned long long)s->blobs,
                 bz_cache_view_size(s->bytes_gone, gone));
    if (s->bytes_freed != s->bytes_gone)
        bz_out_print(out, " (%s freed, the rest is in use elsewhere)",
                     bz_cache_view_size(s->bytes_freed, freed));
    bz_out_print(out, "; %s left\n", bz_cache_view_size(s->bytes_left, left));
    if (s->trees_gone > 0)
        bz_out_print(out, "%s %llu of %llu trees laid out for builds\n",
                     dry_run ? "would remove" : "removed",
                     (unsigned long long)s->trees_gone, (unsigned long long)s->trees);
    if (s->failed_gone > 0)
        bz_out_print(out, "%s what %llu of %llu failed tasks have left\n",
                     dry_run ? "would remove" : "removed",
                     (unsigned long long)s->failed_gone, (unsigned long long)s->failed);
    if (s->temps + s->bad > 0)
        bz_out_print(out, "removed %llu leftovers and %llu damaged files\n",
                     (unsigned long long)s->temps, (unsigned long long)s->bad);
}

static void end_json(struct bz_out *out, struct report *r, const struct bz_gc_stats *s,
                     bool dry_run)
{
    const struct {
        const char *key;
        uint64_t value;
    } rows[] = {
        {"results",         s->results     },
        {"blobs",           s->blobs       },
        {"bytes",           s->bytes       },
        {"removed_results", s->results_gone},
        {"removed_blobs",   s->blobs_gone  },
        {"removed_bytes",   s->bytes_gone  },
        {"freed_bytes",     s->bytes_freed },
        {"left_bytes",      s->bytes_left  },
        {"recent_bytes",    s->bytes_recent},
        {"trees",           s->trees       },
        {"removed_trees",   s->trees_gone  },
        {"failed",          s->failed      },
        {"removed_failed",  s->failed_gone },
        {"leftovers",       s->temps       },
        {"damaged",         s->bad         },
    };

    bz_jsonw_list_end(&r->w);
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++)
        bz_jsonw_int(bz_jsonw_key(&r->w, rows[i].key), (int64_t)rows[i].value);
    bz_jsonw_bool(bz_jsonw_key(&r->w, "dry_run"), dry_run);
    bz_jsonw_bool(bz_jsonw_key(&r->w, "enough"), s->enough);
    bz_jsonw_map_end(&r->w);
    bz_out_print(out, "%s\n", bz_buf_text(&r->text));
}

static void say_not_enough(struct bz_out *log, const struct bz_gc_stats *s)
{
    char recent[BZ_CACHE_VIEW_TEXT];

    bz_out_paint(log, BZ_OUT_YELLOW, "warning:");
    bz_out_print(log,
                 " that is not enough: %s were used in the last two hours, or since a "
                 "process that still runs began\n",
                 bz_cache_view_size(s->bytes_recent, recent));
}

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct gc_values *v = values;
    BZ_CLEANUP(bz_cache_closep) struct bz_cache *c = NULL;
    struct report report = {.out = v->json ? NULL : &env->out};
    struct bz_gc_opts gc = {.dry_run = v->dry_run,
                            .dropped = dropped,
                            .progress = bz_cache_view_seen,
                            .ctx = &report};
    struct bz_gc_stats stats = {0};
    struct bz_settings *settings;
    int rc = read_limits(env, v, &settings, err);

    if (rc == 0)
        rc = bz_cmd_open_cache(env, BZ_SHELF_READ, NULL, &c, err); /* make none */
    bz_cache_close(c);
    c = NULL;
    if (rc == 0)
        rc = bz_cmd_open_cache(env, v->dry_run ? BZ_SHELF_READ : BZ_SHELF_WRITE, NULL,
                               &c, err);
    if (rc < 0)
        return rc;
    gc.policy = policy_of(settings, v, c);
    gc.index = bz_cache_index(c);
    report.w = bz_jsonw_to(&report.text, 2);
    bz_jsonw_map(&report.w);
    bz_jsonw_list(bz_jsonw_key(&report.w, "removed"));
    bz_cache_view_begin(&report.progress, env);
    rc = bz_gc_run(bz_cache_cas(c), &gc, &stats, err);
    bz_cache_view_end(&report.progress, env);
    if (rc == 0 && v->json)
        end_json(&env->out, &report, &stats, v->dry_run);
    else if (rc == 0)
        show_text(&env->out, &stats, v->dry_run);
    bz_buf_release(&report.text);
    if (rc == 0 && !stats.enough)
        say_not_enough(&env->log, &stats);
    return rc < 0 ? rc : BZ_CMD_EXIT_SUCCESS;
}

static const struct bz_cmd_term examples[] = {
    {"bitzel cache gc --max-age 30d --keep-last 2",
     "Drop what was not used for a month, and of each task all but two results"},
    {NULL,                                          NULL                       },
};

const struct bz_cmd bz_cmd_cache_gc = {
    .of = "cache",
    .name = "gc",
    .summary = "Remove what is not needed from the store",
    .detail =
        "Drops results by size, age or number, those first that are big, quick to "
        "make again and long unused, and then the blobs that no result names; "
        "without limits only the latter. Builds may go on meanwhile, on other "
        "machines too: what was used in the last two hours or since a running "
        "process began stays. Trees that builds have laid out in the store go before "
        "any "
        "result, and leftovers of killed processes go too.",
    .opts = opts,
    .args = args,
    .examples = examples,
    .size = sizeof(struct gc_values),
    .run = run,
};
