#include "cache_view.h"
#include "cmd.h"
#include "cmd_open.h"
#include "os/clock.h"
#include "past_build.h"
#include "table_view.h"

struct builds_values {
    bool json;
};

static const struct bz_opt opts[] = {
    BZ_OPT_FLAG(struct builds_values, json, 0, "json", "Print one JSON object"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {BZ_OPT_END};

static void write_build(struct bz_jsonw *w, const struct bz_account *a,
                        const struct bz_builds_found *b)
{
    bz_jsonw_map(w);
    bz_jsonw_str(bz_jsonw_key(w, "build"), b->id);
    bz_jsonw_str(bz_jsonw_key(w, "time"), a->time);
    bz_jsonw_list(bz_jsonw_key(w, "targets"));
    for (size_t i = 0; i < a->targets.len; i++)
        bz_jsonw_str(w, a->targets.at[i]);
    bz_jsonw_list_end(w);
    bz_jsonw_cstr(bz_jsonw_key(w, "result"), bz_past_build_result(a, b->path.p));
    bz_jsonw_int(bz_jsonw_key(w, "executed"), a->counts.executed);
    bz_jsonw_int(bz_jsonw_key(w, "cached"), a->counts.cached);
    bz_jsonw_int(bz_jsonw_key(w, "failed"), a->counts.failed);
    bz_cache_view_json_seconds(w, "took", a->took);
    bz_jsonw_map_end(w);
}

/* "failed" alone says less than how many tasks did. */
static void add_result(struct bz_table_view *t, const struct bz_account *a,
                       const struct bz_builds_found *b)
{
    struct bz_str result = bz_str_from(bz_past_build_result(a, b->path.p));

    if (a->counts.failed > 0 && bz_account_result(a) == BZ_ACCOUNT_FAILURE)
        result = bz_arena_printf(&t->arena, "%u failed", a->counts.failed);
    bz_table_view_text(t, result);
}

/* All that has a place in 80 columns: the id tells the day. */
static void add_row(struct bz_table_view *t, const struct bz_account *a,
                    const struct bz_builds_found *b)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf targets = {0};
    char age[BZ_CACHE_VIEW_TEXT];

    for (size_t i = 0; i < a->targets.len; i++) {
        if (i > 0)
            bz_buf_add_char(&targets, ' ');
        bz_buf_add_str(&targets, a->targets.at[i]);
    }
    bz_table_view_text(t, b->id);
    bz_cache_view_age(bz_clock_wall() - a->wall * BZ_CLOCK_S, age);
    bz_table_view_text(t, a->wall > 0 ? bz_str_from(age) : BZ_STR("-"));
    add_result(t, a, b);
    bz_table_view_number(t, a->counts.executed);
    bz_table_view_number(t, a->counts.cached);
    bz_table_view_span(t, a->took);
    bz_table_view_text(t, bz_buf_str(&targets));
}

static int show(struct bz_cmd_env *env, const struct bz_builds_list *list, bool json)
{
    static const struct bz_table_view_column columns[] = {
        {"BUILD",    false},
        {"AGE",      true },
        {"RESULT",   false},
        {"EXECUTED", true },
        {"CACHED",   true },
        {"TOOK",     true },
        {"TARGETS",  false},
    };
    BZ_CLEANUP(bz_table_view_release)
    struct bz_table_view t = {.columns = columns, .ncolumns = BZ_COUNTOF(columns)};
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_jsonw w = bz_jsonw_to(&text, 2);

    bz_jsonw_map(&w);
    bz_jsonw_list(bz_jsonw_key(&w, "builds"));
    for (size_t i = 0; i < list->len; i++) {
        BZ_CLEANUP(bz_account_release) struct bz_account a = {0};
        struct bz_err err;

        if (bz_account_read_file(&a, list->at[i].path.p, &err) < 0) {
            bz_out_paint(&env->log, BZ_OUT_YELLOW, "warning:");
            bz_out_print(&env->log, " ");
            bz_out_plain(&env->log, err.msg, strlen(err.msg));
            bz_out_print(&env->log, "\n");
        } else if (json) {
            write_build(&w, &a, &list->at[i]);
        } else {
            add_row(&t, &a, &list->at[i]);
        }
    }
    bz_jsonw_list_end(&w);
    bz_jsonw_map_end(&w);
    if (json)
        bz_out_print(&env->out, "%s\n", bz_buf_text(&text));
    else if (t.cells.len > 0)
        bz_table_view_print(&t, &env->out, BZ_TABLE_VIEW_TEXT);
    return BZ_CMD_EXIT_SUCCESS;
}

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct builds_values *v = values;
    BZ_CLEANUP(bz_build_close) struct bz_build b = {0};
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    BZ_CLEANUP(bz_vec_release) struct bz_builds_list list = {0};
    int rc = bz_cmd_open_build(env, &b, BZ_BUILD_PROJECT, err);

    if (rc == 0)
        rc = bz_builds_list(&arena, b.catalog.build_dir, BZ_BUILDS_ANY, &list, err);
    if (rc < 0)
        return rc;
    if (list.len == 0 && !v->json)
        bz_out_print(&env->log, "note: there was no build here yet\n");
    return show(env, &list, v->json);
}

static const struct bz_cmd_term examples[] = {
    {"bitzel builds", "See which builds there were, and how they ended"},
    {NULL,            NULL                                             },
};

const struct bz_cmd bz_cmd_builds = {
    .name = "builds",
    .summary = "List the builds that were made here",
    .detail = "Lists the last builds of this build directory, the oldest first, and "
              "of those that ran nothing only a few: how long ago each began (its id "
              "says when, in UTC), how it ended, how many "
              "tasks were executed and came from the cache, how long it took, and its "
              "targets. 'log', 'report', 'trace' and 'why --since' take a build by its "
              "id or the beginning of it.",
    .opts = opts,
    .args = args,
    .examples = examples,
    .size = sizeof(struct builds_values),
    .run = run,
};
