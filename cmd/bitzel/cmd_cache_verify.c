#include "cache/verify.h"

#include "cache_view.h"
#include "cmd_open_cache.h"
#include "cmd_settings.h"

struct verify_values {
    bool repair, json;
};

static const struct bz_opt opts[] = {
    BZ_OPT_FLAG(struct verify_values, repair, 0, "repair",
                "Put aside what is damaged and drop results whose blobs are gone"),
    BZ_OPT_FLAG(struct verify_values, json, 0, "json", "Print one JSON object"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {BZ_OPT_END};

struct report {
    struct bz_cache_view_progress progress; /* first: see bz_cache_view_bytes */
    struct bz_out *out;                     /* NULL: as JSON */
    struct bz_jsonw w;
    struct bz_buf text;
};

static const char *kind_of(struct bz_str path)
{
    if (bz_str_starts(path, BZ_STR("cas/")))
        return "blob";
    return bz_str_starts(path, BZ_STR("ac/")) ? "result" : "tree";
}

static void fault(void *ctx, enum bz_verify_fault kind, const char *path)
{
    struct report *r = ctx;

    if (r->out) {
        bz_out_print(r->out, "%s: %s\n", path, bz_verify_fault_text(kind));
        return;
    }
    bz_jsonw_map(&r->w);
    bz_jsonw_cstr(bz_jsonw_key(&r->w, "kind"), kind_of(bz_str_from(path)));
    bz_jsonw_cstr(bz_jsonw_key(&r->w, "key"), strrchr(path, '/') + 1);
    bz_jsonw_cstr(bz_jsonw_key(&r->w, "fault"), bz_verify_fault_text(kind));
    bz_jsonw_map_end(&r->w);
}

static void show_text(struct bz_out *out, const struct bz_verify_stats *s)
{
    char size[BZ_CACHE_VIEW_TEXT];

    bz_out_print(out, "checked %llu blobs (%s), %llu results and %llu trees: ",
                 (unsigned long long)s->blobs, bz_cache_view_size(s->bytes, size),
                 (unsigned long long)s->results, (unsigned long long)s->trees);
    if (bz_verify_faults(s) == 0)
        bz_out_print(out, "all is well\n");
    else
        bz_out_print(
            out,
            "%llu damaged blobs, %llu damaged results, %llu results without "
            "all their blobs, %llu changed trees, %llu things that do not belong "
            "there; %llu repaired\n",
            (unsigned long long)s->bad_blobs, (unsigned long long)s->bad_results,
            (unsigned long long)s->incomplete, (unsigned long long)s->bad_trees,
            (unsigned long long)s->strange, (unsigned long long)s->repaired);
}

static void end_json(struct bz_out *out, struct report *r,
                     const struct bz_verify_stats *s)
{
    const struct {
        const char *key;
        uint64_t value;
    } rows[] = {
        {"blobs",              s->blobs      },
        {"bytes",              s->bytes      },
        {"results",            s->results    },
        {"unsealed_results",   s->unsealed   },
        {"trees",              s->trees      },
        {"damaged_blobs",      s->bad_blobs  },
        {"damaged_results",    s->bad_results},
        {"incomplete_results", s->incomplete },
        {"changed_trees",      s->bad_trees  },
        {"misplaced",          s->strange    },
        {"repaired",           s->repaired   },
    };

    bz_jsonw_list_end(&r->w);
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++)
        bz_jsonw_int(bz_jsonw_key(&r->w, rows[i].key), (int64_t)rows[i].value);
    bz_jsonw_map_end(&r->w);
    bz_out_print(out, "%s\n", bz_buf_text(&r->text));
}

static int check(struct bz_cmd_env *env, const struct verify_values *v,
                 struct bz_cache *c, struct bz_verify_stats *stats, struct bz_err *err)
{
    BZ_CLEANUP(bz_pool_freep) struct bz_pool *pool = NULL;
    struct report report = {.out = v->json ? NULL : &env->out};
    struct bz_verify_opts how = {.repair = v->repair,
                                 .fault = fault,
                                 .progress = bz_cache_view_bytes,
                                 .ctx = &report};
    struct bz_settings *settings;
    int rc = bz_cmd_settings_get(env, &settings, err);

    if (rc == 0)
        rc = bz_pool_new(
            &(struct bz_pool_opts){
                .compute =
                    (unsigned)bz_settings_get(settings, BZ_SETTING_JOBS)->number},
            &pool, err);
    if (rc < 0)
        return rc;
    how.threads.pool = pool;
    report.w = bz_jsonw_to(&report.text, 2);
    bz_jsonw_map(&report.w);
    bz_jsonw_list(bz_jsonw_key(&report.w, "faults"));
    bz_cache_view_begin(&report.progress, env);
    rc = bz_verify_run(bz_cache_cas(c), &how, stats, err);
    bz_cache_view_end(&report.progress, env);
    if (rc == 0 && v->json)
        end_json(&env->out, &report, stats);
    else if (rc == 0)
        show_text(&env->out, stats);
    bz_buf_release(&report.text);
    return rc;
}

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct verify_values *v = values;
    BZ_CLEANUP(bz_cache_closep) struct bz_cache *c = NULL;
    struct bz_verify_stats stats = {0};
    int rc = bz_cmd_open_cache(env, BZ_SHELF_READ, NULL, &c, err);

    if (rc == 0 && v->repair) {
        bz_cache_close(c); /* it is there: now to write */
        c = NULL;
        rc = bz_cmd_open_cache(env, BZ_SHELF_WRITE, NULL, &c, err);
    }
    if (rc == 0)
        rc = check(env, v, c, &stats, err);
    if (rc < 0)
        return rc;
    return bz_verify_faults(&stats) > 0 ? BZ_CMD_EXIT_DIFFERENT : BZ_CMD_EXIT_SUCCESS;
}

static const struct bz_cmd_term examples[] = {
    {"bitzel cache verify --repair", "Check all bytes and drop what is damaged"},
    {NULL,                           NULL                                      },
};

const struct bz_cmd bz_cmd_cache_verify = {
    .of = "cache",
    .name = "verify",
    .summary = "Check every byte of the store",
    .detail =
        "Hashes every blob, reads every result, looks whether its blobs are there and "
        "compares laid-out trees with the stored ones. Exits with 6 if something is "
        "wrong. With --repair what is damaged moves to bad/ in the store, and changed "
        "trees and results that lack blobs are dropped: they are made anew when they "
        "are needed.",
    .opts = opts,
    .args = args,
    .examples = examples,
    .size = sizeof(struct verify_values),
    .run = run,
};
