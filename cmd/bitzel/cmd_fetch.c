#include <stdio.h>
#include <unistd.h>

#include "cmd.h"
#include "cmd_open.h"
#include "codec/jsonw.h"
#include "os/clock.h"
#include "sig/sourcing.h"

struct fetch_values {
    struct bz_opt_list targets;
    bool only, offline, refresh, json;
};

static const struct bz_opt opts[] = {
    BZ_OPT_FLAG(struct fetch_values, only, 0, "only",
                "Only of the targets, not of what they need"),
    BZ_OPT_FLAG(struct fetch_values, offline, 0, "offline",
                "Ask no server: tell what is here, and what is not"),
    BZ_OPT_FLAG(struct fetch_values, refresh, 0, "refresh",
                "Resolve tags, branches and ${AUTOREV} anew"),
    BZ_OPT_FLAG(struct fetch_values, json, 0, "json", "Print one JSON object"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {
    BZ_OPT_SOME(struct fetch_values, targets, "TARGET",
                "A recipe, RECIPE:do_TASK, mc:CONFIGURATION:RECIPE, world"),
    BZ_OPT_END,
};

/* One call of the command. */
struct call {
    struct bz_cmd_env *env;
    const struct fetch_values *v;
    struct bz_catalog *p;
    const struct bz_goal *goal;
    struct bz_fetch_opts opts;
    struct bz_jsonw w;
    const char *what; /* the source at hand, for progress */
    int64_t since, next;
    uint64_t first;
    bool shown;            /* a line of progress stands on the terminal */
    unsigned wrong;        /* recipes that are */
    unsigned failed, told; /* sources */
};

static void clear_line(struct call *c)
{
    if (c->shown)
        bz_out_put(&c->env->log, "\r\033[K", 4);
    c->shown = false;
}

static void show_note(void *ctx, const char *text)
{
    struct call *c = ctx;
    struct bz_out *log = &c->env->log;
    struct bz_str rest = bz_str_from(text), line;

    clear_line(c);
    bz_out_paint(log, BZ_OUT_YELLOW, "warning:");
    bz_out_print(log, " ");
    while (rest.p && bz_str_next_part(&rest, '\n', &line)) {
        bz_out_plain(log, line.p, line.n);
        bz_out_print(log, "\n");
    }
    bz_out_flush(log);
}

/* A line that is written over and over. */
static void show_progress(void *ctx, const char *shown, uint64_t n, uint64_t total)
{
    struct call *c = ctx;
    int64_t now = bz_clock_now();
    double mib = 1024.0 * 1024.0, seconds;

    if (c->what != shown) {
        c->what = shown;
        c->since = now;
        c->next = now + 200 * BZ_CLOCK_MS;
        c->first = n;
    }
    if (now < c->next)
        return;
    c->next = now + 200 * BZ_CLOCK_MS;
    seconds = (double)(now - c->since) / (double)BZ_CLOCK_S;
    clear_line(c);
    bz_out_plain(&c->env->log, shown, strnlen(shown, 60));
    bz_out_print(&c->env->log, "  %.1f", (double)n / mib);
    if (total > 0)
        bz_out_print(&c->env->log, " of %.1f", (double)total / mib);
    bz_out_print(&c->env->log, " MiB, %.1f MiB/s",
                 (double)(n - c->first) / mib / seconds);
    bz_out_flush(&c->env->log);
    c->shown = true;
}

static void report(struct call *c, struct bz_str recipe, const struct bz_source *s,
                   const char *state, const char *why)
{
    struct bz_out *out = &c->env->out;

    c->told++;
    if (!c->v->json) {
        bz_out_cell(out, recipe, 16);
        bz_out_cell(out, bz_str_from(state), 10);
        bz_out_plain(out, bz_fetch_shown(s), strlen(bz_fetch_shown(s)));
        bz_out_print(out, "\n");
        return;
    }
    bz_jsonw_map(&c->w);
    bz_jsonw_str(bz_jsonw_key(&c->w, "recipe"), recipe);
    bz_jsonw_cstr(bz_jsonw_key(&c->w, "uri"), bz_fetch_shown(s));
    bz_jsonw_cstr(bz_jsonw_key(&c->w, "state"), state);
    bz_jsonw_cstr(bz_jsonw_key(&c->w, "path"), bz_fetch_path(s));
    if (bz_fetch_commit(s).n > 0)
        bz_jsonw_str(bz_jsonw_key(&c->w, "commit"), bz_fetch_commit(s));
    if (why)
        bz_jsonw_cstr(bz_jsonw_key(&c->w, "error"), why);
    bz_jsonw_map_end(&c->w);
}

/* A failure is told at once, and the others go on. */
static void fail(struct call *c, struct bz_str recipe, int rc, const struct bz_err *err)
{
    struct bz_out *log = &c->env->log;
    struct bz_str rest = bz_str_from(err->msg), line;

    clear_line(c);
    c->failed++;
    c->wrong += rc == BZ_E_INVAL || rc == BZ_E_LIMIT;
    bz_out_paint(log, BZ_OUT_RED, "error:");
    bz_out_print(log, " %.*s: ", BZ_STR_ARG(recipe));
    while (rest.p && bz_str_next_part(&rest, '\n', &line)) {
        bz_out_plain(log, line.p, line.n);
        bz_out_print(log, "\n");
    }
    bz_out_flush(log);
}

static void fetch_recipe(struct call *c, uint32_t recipe)
{
    BZ_CLEANUP(bz_sourcing_close) struct bz_sourcing s = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf name = {0};
    struct bz_err err;
    int rc;

    bz_goal_name(c->goal, recipe, &name);
    rc = bz_sourcing_open(&s, c->p, c->goal, recipe, "do_fetch", &c->opts, &err);
    if (rc < 0) {
        fail(c, bz_buf_str(&name), rc, &err);
        return;
    }
    for (size_t i = 0; i < bz_fetch_count(s.fetch); i++) {
        const struct bz_source *source = bz_fetch_source(s.fetch, i);
        enum bz_fetch_how how = BZ_FETCH_PRESENT;

        rc = bz_fetch_resolve_one(s.fetch, i, &err);
        if (rc == 0)
            rc = bz_fetch_get(s.fetch, i, &how, &err);
        c->what = NULL;
        clear_line(c);
        if (rc < 0)
            fail(c, bz_buf_str(&name), rc, &err);
        report(c, bz_buf_str(&name), source,
               rc < 0                       ? "failed"
               : bz_fetch_is_local(source)  ? "local"
               : how == BZ_FETCH_DOWNLOADED ? "fetched"
                                            : "present",
               rc < 0 ? err.msg : NULL);
    }
}

static int fetch_all(struct call *c, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct bz_dag_ids recipes = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_fetch_client *client;
    int rc = bz_fetch_client_new(&client, err);

    if (rc < 0)
        return rc;
    c->opts.client = client;
    c->opts.offline = c->v->offline;
    c->opts.watch.note = show_note;
    c->opts.watch.ctx = c;
    if (isatty(STDERR_FILENO) && !c->env->global.quiet)
        c->opts.watch.progress = show_progress;
    c->w = bz_jsonw_to(&text, 2);
    bz_jsonw_map(&c->w);
    bz_jsonw_list(bz_jsonw_key(&c->w, "sources"));
    bz_sourcing_list(c->goal, c->v->only, &recipes);
    for (size_t i = 0; i < recipes.len; i++)
        fetch_recipe(c, recipes.at[i]);
    bz_jsonw_list_end(&c->w);
    bz_jsonw_int(bz_jsonw_key(&c->w, "failed"), c->failed);
    bz_jsonw_map_end(&c->w);
    if (c->v->json)
        bz_out_print(&c->env->out, "%s\n", bz_buf_text(&text));
    else if (c->told == 0 && c->failed == 0 && !c->env->global.quiet)
        bz_out_print(&c->env->log, "note: there are no sources to fetch\n");
    bz_fetch_client_free(client);
    if (c->wrong > 0)
        return BZ_CMD_EXIT_USAGE;
    return c->failed > 0 ? BZ_CMD_EXIT_TASK : BZ_CMD_EXIT_SUCCESS;
}

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct fetch_values *v = values;
    BZ_CLEANUP(bz_build_close) struct bz_build b = {0};
    struct call c = {.env = env, .v = v, .p = &b.catalog, .goal = &b.goal};
    int rc;

    if (v->offline && v->refresh)
        return bz_fail(err, BZ_E_INVAL,
                       "--offline and --refresh contradict each other");
    b.opts.targets =
        (struct bz_goal_opts){.targets = v->targets.word, .n = v->targets.n};
    b.opts.refresh = v->refresh;
    rc = bz_cmd_open_build(env, &b, BZ_BUILD_GRAPH, err);
    if (rc == 0)
        rc = fetch_all(&c, err);
    bz_cmd_open_diags(env, &b.catalog);
    return rc;
}

static const struct bz_cmd_term examples[] = {
    {"bitzel fetch core-image-minimal", "Fetch all that a build of it needs" },
    {"bitzel fetch --only busybox",     "Fetch the sources of one recipe"    },
    {"bitzel fetch --refresh busybox",  "Follow tags and branches that moved"},
    {NULL,                              NULL                                 },
};

const struct bz_cmd bz_cmd_fetch = {
    .name = "fetch",
    .summary = "Fetch the sources that targets need",
    .detail =
        "Brings the sources of the targets, and of all recipes they need, into "
        "DL_DIR, verified against the checksums that the recipes give. What is "
        "there already is checked and not fetched again. A tag, a branch or "
        "${AUTOREV} is resolved to a commit once and remembered in the build "
        "directory; --refresh asks the server again. A source that cannot be "
        "had does not keep the others from being fetched; the exit status is 1 "
        "then, 2 if a recipe is wrong (it gives no checksum, say), and 3 if there "
        "is no such target.",
    .opts = opts,
    .args = args,
    .examples = examples,
    .size = sizeof(struct fetch_values),
    .run = run,
};
