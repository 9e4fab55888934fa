#include <inttypes.h>

#include "cmd.h"
#include "cmd_open.h"
#include "codec/jsonw.h"

struct parse_values {
    int64_t threads;
    bool profile, json;
};

static const struct bz_opt opts[] = {
    BZ_OPT_NUMBER(struct parse_values, threads, 'j', "jobs", "N", 0, 1024, 0,
                  "Use N threads; 0 means one for each CPU"),
    BZ_OPT_FLAG(struct parse_values, profile, 0, "profile",
                "Parse everything and show which files and expressions take the time"),
    BZ_OPT_FLAG(struct parse_values, json, 0, "json", "Print one JSON object"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {BZ_OPT_END};

/* Calls fn for each recipe that failed. */
typedef void (*each_error_fn)(void *ctx, const struct bz_facts *f);
static void each_error(const struct bz_survey *s, each_error_fn fn, void *ctx)
{
    for (size_t i = 0; i < s->parts.len; i++)
        for (size_t k = 0; k < s->parts.at[i].facts.len; k++)
            if (s->parts.at[i].facts.at[k].error.p)
                fn(ctx, &s->parts.at[i].facts.at[k]);
}

static void json_error(void *ctx, const struct bz_facts *f)
{
    struct bz_jsonw *w = ctx;

    bz_jsonw_map(w);
    bz_jsonw_str(bz_jsonw_key(w, "file"), f->path);
    bz_jsonw_str(bz_jsonw_key(w, "message"), f->error);
    bz_jsonw_map_end(w);
}

enum { SHOWN = 15 }; /* rows of a profile */

static void json_times(struct bz_jsonw *w, const char *key, const struct bz_map *times)
{
    struct bz_profile_time top[SHOWN];
    size_t n = bz_profile_top(times, top, SHOWN);

    bz_jsonw_list(bz_jsonw_key(w, key));
    for (size_t i = 0; i < n; i++) {
        bz_jsonw_map(w);
        bz_jsonw_str(bz_jsonw_key(w, "name"), top[i].name);
        bz_jsonw_int(bz_jsonw_key(w, "times"), (int64_t)top[i].times);
        bz_jsonw_int(bz_jsonw_key(w, "own_ns"), top[i].own);
        bz_jsonw_int(bz_jsonw_key(w, "total_ns"), top[i].total);
        bz_jsonw_map_end(w);
    }
    bz_jsonw_list_end(w);
}

static void show_times(struct bz_out *out, const char *title,
                       const struct bz_map *times)
{
    struct bz_profile_time top[SHOWN];
    size_t n = bz_profile_top(times, top, SHOWN);

    bz_out_print(out, "%9s %9s %8s  %s\n", "own ms", "total ms", "times", title);
    for (size_t i = 0; i < n; i++) {
        bz_out_print(out, "%9.3f %9.3f %8" PRIu64 "  ", (double)top[i].own / 1e6,
                     (double)top[i].total / 1e6, top[i].times);
        bz_out_plain(out, top[i].name.p, top[i].name.n);
        bz_out_print(out, "\n");
    }
}

static void write_json(struct bz_out *out, const struct bz_survey *s,
                       const struct bz_profile *profile)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_jsonw w = bz_jsonw_to(&text, 2);

    bz_jsonw_map(&w);
    bz_jsonw_int(bz_jsonw_key(&w, "recipes"), (int64_t)s->files);
    bz_jsonw_int(bz_jsonw_key(&w, "cached"), (int64_t)s->cached);
    bz_jsonw_int(bz_jsonw_key(&w, "parsed"), (int64_t)s->parsed);
    bz_jsonw_int(bz_jsonw_key(&w, "targets"), (int64_t)s->variants);
    bz_jsonw_int(bz_jsonw_key(&w, "skipped"), (int64_t)s->skipped);
    bz_jsonw_int(bz_jsonw_key(&w, "masked"), (int64_t)s->masked);
    bz_jsonw_list(bz_jsonw_key(&w, "errors"));
    each_error(s, json_error, &w);
    bz_jsonw_list_end(&w);
    if (profile) {
        json_times(&w, "files", &profile->files.times);
        json_times(&w, "expressions", &profile->expressions.times);
    }
    bz_jsonw_map_end(&w);
    bz_out_print(out, "%s\n", bz_buf_text(&text));
}

static void show_error(void *ctx, const struct bz_facts *f)
{
    struct bz_out *log = ctx;

    bz_out_paint(log, BZ_OUT_RED, "error: ");
    bz_out_plain(log, f->error.p, f->error.n);
    bz_out_print(log, "\n");
}

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct parse_values *v = values;
    BZ_CLEANUP(bz_pipeline_close) struct bz_pipeline p = {0};
    BZ_CLEANUP(bz_survey_release) struct bz_survey s = {0};
    BZ_CLEANUP(bz_profile_release) struct bz_profile profile = {0};
    int rc;

    p.sweep.threads = (unsigned)v->threads;
    p.sweep.profile = v->profile ? &profile : NULL;
    p.forget = v->profile;
    rc = bz_cmd_open_survey(env, &p, &s, err);
    if (rc < 0)
        return rc;
    each_error(&s, show_error, &env->log);
    if (v->profile && !v->json) {
        show_times(&env->out, "file", &profile.files.times);
        show_times(&env->out, "expression", &profile.expressions.times);
    }
    if (v->json)
        write_json(&env->out, &s, v->profile ? &profile : NULL);
    else
        bz_out_print(&env->out,
                     "%zu recipes: %zu from the snapshot, %zu parsed, %zu skipped, "
                     "%zu masked, %zu error%s\n",
                     s.files, s.cached, s.parsed, s.skipped, s.masked, s.errors,
                     s.errors == 1 ? "" : "s");
    return s.errors > 0 ? BZ_CMD_EXIT_USAGE : BZ_CMD_EXIT_SUCCESS;
}

static const struct bz_cmd_term examples[] = {
    {"bitzel parse",           "Check all recipes, as before a commit"},
    {"bitzel parse --profile", "See what makes parsing slow"          },
    {NULL,                     NULL                                   },
};

const struct bz_cmd bz_cmd_parse = {
    .name = "parse",
    .summary = "Parse all recipes and report what is wrong",
    .detail = "Evaluates every recipe of the project with its appends and variants, "
              "shows every error with its place, and says how many there were. "
              "Recipes that did not change since the last time are not parsed again. "
              "The exit status is 2 if a recipe is wrong.",
    .opts = opts,
    .args = args,
    .examples = examples,
    .size = sizeof(struct parse_values),
    .run = run,
};
