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

/* Python functions that are not run, and of how many recipes. */
struct unrun {
    struct bz_pyfunc_set set;
    size_t recipes;
};

static void json_unrun(struct bz_jsonw *w, const struct unrun *u)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf what = {0};

    bz_jsonw_map(bz_jsonw_key(w, "python"));
    bz_jsonw_int(bz_jsonw_key(w, "recipes"), (int64_t)u->recipes);
    bz_jsonw_list(bz_jsonw_key(w, "functions"));
    for (size_t i = 0; i < u->set.list.len; i++) {
        const struct bz_pyfunc *f = &u->set.list.at[i];

        bz_buf_truncate(&what, 0);
        bz_pyfunc_describe(f, &what);
        bz_jsonw_map(w);
        bz_jsonw_str(bz_jsonw_key(w, "file"), f->file);
        bz_jsonw_int(bz_jsonw_key(w, "line"), f->line);
        bz_jsonw_str(bz_jsonw_key(w, "what"), bz_buf_str(&what));
        bz_jsonw_map_end(w);
    }
    bz_jsonw_list_end(w);
    bz_jsonw_map_end(w);
}

static void show_unrun(struct bz_out *log, const struct unrun *u)
{
    size_t n = u->set.list.len;

    if (n == 0)
        return;
    bz_out_paint(log, BZ_OUT_YELLOW, "warning:");
    bz_out_print(log, " %zu Python function%s not supported yet, in %zu recipe%s\n", n,
                 n == 1 ? " is" : "s are", u->recipes, u->recipes == 1 ? "" : "s");
}

static void write_json(struct bz_out *out, const struct bz_survey *s,
                       const struct unrun *u, const struct bz_profile *profile,
                       size_t evaluations)
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
    json_unrun(&w, u);
    if (profile) {
        bz_jsonw_int(bz_jsonw_key(&w, "evaluations"), (int64_t)evaluations);
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
    BZ_CLEANUP(bz_build_close) struct bz_build b = {0};
    const struct bz_survey *s = &b.catalog.survey;
    BZ_CLEANUP(bz_profile_release) struct bz_profile profile = {0};
    struct unrun unrun = {0};
    int rc;

    b.catalog.sweep.threads = (unsigned)v->threads;
    b.catalog.sweep.profile = v->profile ? &profile : NULL;
    b.catalog.forget = v->profile;
    rc = bz_cmd_open_build(env, &b, BZ_BUILD_CATALOG, err);
    if (rc < 0)
        return rc;
    unrun.recipes = bz_survey_python(s, true, &unrun.set);
    each_error(s, show_error, &env->log);
    if (!env->global.quiet)
        show_unrun(&env->log, &unrun);
    if (v->profile && !v->json) {
        show_times(&env->out, "file", &profile.files.times);
        show_times(&env->out, "expression", &profile.expressions.times);
        bz_out_print(&env->out, "%zu evaluations of %zu recipes\n",
                     bz_library_counted(b.catalog.library), s->files);
    }
    if (v->json)
        write_json(&env->out, s, &unrun, v->profile ? &profile : NULL,
                   bz_library_counted(b.catalog.library));
    else
        bz_out_print(&env->out,
                     "%zu recipes: %zu from the snapshot, %zu parsed, %zu skipped, "
                     "%zu masked, %zu error%s\n",
                     s->files, s->cached, s->parsed, s->skipped, s->masked, s->errors,
                     s->errors == 1 ? "" : "s");
    bz_pyfunc_release(&unrun.set);
    return s->errors > 0 ? BZ_CMD_EXIT_USAGE : BZ_CMD_EXIT_SUCCESS;
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
              "Python functions that are not run are counted. "
              "The exit status is 2 if a recipe is wrong.",
    .opts = opts,
    .args = args,
    .examples = examples,
    .size = sizeof(struct parse_values),
    .run = run,
};
