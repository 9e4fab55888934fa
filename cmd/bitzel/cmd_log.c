#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "cache_view.h"
#include "cmd.h"
#include "log_follow.h"
#include "log_stored.h"
#include "os/clock.h"
#include "os/fs.h"
#include "past_build.h"

#define JSON_LOG_MAX ((size_t)16 << 20)
#define SLACK_S 2 /* a file's time may be rounded */

struct log_values {
    const char *task, *build;
    bool follow, path, json;
};

static const struct bz_opt opts[] = {
    BZ_OPT_TEXT(struct log_values, build, 0, "build", "BUILD",
                "Of this build: its id, the beginning of it, or 'last'"),
    BZ_OPT_FLAG(struct log_values, follow, 'f', "follow",
                "Show what comes until the task ends"),
    BZ_OPT_FLAG(struct log_values, path, 0, "path", "Print only where the log is"),
    BZ_OPT_FLAG(struct log_values, json, 0, "json", "Print one JSON object"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {
    BZ_OPT_MAYBE(struct log_values, task, "TASK",
                 "RECIPE:TASK, or a RECIPE; else the task that failed"),
    BZ_OPT_END,
};

/* How much somebody who names no task wants to see it. */
static unsigned interest(const struct bz_account_task *t, bool follow)
{
    if (t->log.n == 0)
        return 0;
    switch (t->state) {
    case BZ_ACCOUNT_UNFINISHED:
        return follow ? 4 : 2;
    case BZ_ACCOUNT_FAILED:
        return 3;
    case BZ_ACCOUNT_EXECUTED:
        return 1;
    default:
        return 0;
    }
}

/* The task that matters most, of a recipe if one is named; among equals the last that
 * started, but the first that failed. */
static const struct bz_account_task *pick(const struct bz_account *a,
                                          struct bz_str recipe, bool follow)
{
    const struct bz_account_task *best = NULL;
    unsigned most = 0;

    for (size_t i = 0; i < a->tasks.len; i++) {
        const struct bz_account_task *t = &a->tasks.at[i];
        unsigned n = interest(t, follow);

        if (n == 0 || (recipe.n > 0 && !bz_str_eq(t->recipe, recipe)))
            continue;
        if (n > most ||
            (n == most && (t->state == BZ_ACCOUNT_FAILED ? t->end < best->end
                                                         : t->start > best->start))) {
            best = t;
            most = n;
        }
    }
    return best;
}

static const struct bz_account_task *find_named(struct bz_past_build *b,
                                                const char *name, bool follow)
{
    struct bz_str text = bz_str_from(name);
    const struct bz_account_task *t = bz_account_find(&b->account, text);
    size_t colon = bz_str_rfind_byte(text, ':');

    if (!t && colon != BZ_STR_NONE)
        t = bz_account_find(&b->account,
                            bz_arena_printf(&b->arena, "%.*s:do_%s", (int)colon, name,
                                            name + colon + 1));
    return t ? t : pick(&b->account, text, follow);
}

/* NULL if there is none that has a log; then *err says why. */
static const struct bz_account_task *
find_task(struct bz_past_build *b, const struct log_values *v, struct bz_err *err)
{
    const struct bz_account_task *t =
        v->task ? find_named(b, v->task, v->follow)
                : pick(&b->account, (struct bz_str){0}, v->follow);

    if (t && t->log.n > 0 && (v->task || t->state != BZ_ACCOUNT_EXECUTED))
        return t;
    if (t && v->task && t->state == BZ_ACCOUNT_CACHED)
        return t;
    if (t && v->task)
        bz_fail(err, BZ_E_NOENT, "%.*s has no log in the build %.*s: %s",
                BZ_STR_ARG(t->name), BZ_STR_ARG(b->id),
                bz_account_state_name(t->state));
    else if (v->task)
        bz_fail(err, BZ_E_NOENT,
                "the build %.*s ran no task '%s'; 'bitzel report' tells what it ran",
                BZ_STR_ARG(b->id), v->task);
    else
        bz_fail(err, BZ_E_NOENT,
                "no task of the build %.*s failed; name one: 'bitzel log RECIPE:TASK'",
                BZ_STR_ARG(b->id));
    return NULL;
}

/* Whether the task has yet to come, in a build that runs. */
static bool may_start(struct bz_past_build *b, const struct log_values *v)
{
    const struct bz_account_task *t =
        v->task ? find_named(b, v->task, v->follow) : NULL;

    return v->follow && v->task && !b->account.ended &&
           (!t || t->state == BZ_ACCOUNT_UNNEEDED) && bz_past_build_runs(b->events);
}

static int wait_for_start(struct bz_cmd_env *env, struct bz_past_build *b,
                          const struct log_values *v, struct bz_err *err)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct bz_str id = bz_arena_dup(&arena, b->id);
    int rc;

    if (!env->global.quiet) {
        bz_out_print(&env->log, "waiting for ");
        bz_out_plain(&env->log, v->task, strlen(v->task));
        bz_out_print(&env->log, " to start\n");
        bz_out_flush(&env->log);
    }
    rc = bz_log_follow_await(b->events, bz_str_from(v->task), err);
    if (rc < 0)
        return rc;
    bz_past_build_close(b);
    *b = (struct bz_past_build){0};
    return bz_past_build_open(env, id.p, BZ_BUILDS_EVENTS, b, err);
}

/* A log has one place, whichever build writes it. */
static void note_newer(struct bz_cmd_env *env, const struct bz_past_build *b,
                       const struct bz_account_task *t)
{
    struct stat st;

    if (stat(t->log.p, &st) == 0 && b->account.ended && b->account.wall > 0 &&
        st.st_mtim.tv_sec > b->account.wall + b->account.took / BZ_CLOCK_S + SLACK_S)
        bz_out_print(&env->log,
                     "note: the log was written after the build %.*s: the task has "
                     "run again since\n",
                     BZ_STR_ARG(b->id));
}

/* `path` may be NULL. */
static void write_json(struct bz_out *out, const struct bz_past_build *b,
                       const struct bz_account_task *t, struct bz_str log,
                       const char *path)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_jsonw w = bz_jsonw_to(&text, 2);

    bz_jsonw_map(&w);
    bz_jsonw_str(bz_jsonw_key(&w, "build"), b->id);
    bz_jsonw_str(bz_jsonw_key(&w, "task"), t->name);
    bz_jsonw_cstr(bz_jsonw_key(&w, "state"), bz_account_state_name(t->state));
    bz_cache_view_json_seconds(&w, "took", t->took);
    if (t->exit_code >= 0)
        bz_jsonw_int(bz_jsonw_key(&w, "exit_code"), t->exit_code);
    if (t->signal > 0)
        bz_jsonw_int(bz_jsonw_key(&w, "signal"), t->signal);
    if (path)
        bz_jsonw_cstr(bz_jsonw_key(&w, "path"), path);
    bz_jsonw_str(bz_jsonw_key(&w, "text"), log);
    bz_jsonw_map_end(&w);
    bz_out_print(out, "%s\n", bz_buf_text(&text));
}

static int read_json(struct bz_out *out, const struct bz_past_build *b,
                     const struct bz_account_task *t, struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) char *log = NULL;
    size_t n;
    int rc = bz_fs_read(AT_FDCWD, t->log.p, JSON_LOG_MAX, &log, &n, err);

    if (rc == 0)
        write_json(out, b, t, bz_str_of(log, n), t->log.p);
    return rc;
}

static void tell_which(struct bz_cmd_env *env, const struct bz_account_task *t,
                       const char *path)
{
    if (env->global.quiet)
        return;
    bz_out_plain(&env->log, t->name.p, t->name.n);
    bz_out_print(&env->log, " (%s), ", bz_account_state_name(t->state));
    bz_out_plain(&env->log, path, strlen(path));
    bz_out_print(&env->log, "\n");
    bz_out_flush(&env->log);
}

/* Of a task that came from the cache: what it printed when it ran, wherever it did. */
static int show_stored(struct bz_cmd_env *env, struct bz_past_build *b,
                       const struct bz_account_task *t, const struct log_values *v,
                       struct bz_err *err)
{
    struct bz_log_stored log;
    int rc = bz_log_stored_read(env, t->key, &b->arena, &log, err);

    if (rc < 0)
        return bz_err_wrap(err, "%.*s came from the cache", BZ_STR_ARG(t->name));
    if (v->path && !log.path)
        return bz_fail(
            err, BZ_E_NOENT, "%.*s came from the cache, and %s: there is no file",
            BZ_STR_ARG(t->name),
            log.text.n > 0 ? "its log is a part of the result" : "it printed nothing");
    if (v->path) {
        bz_out_print(&env->out, "%s\n", log.path);
        return BZ_CMD_EXIT_SUCCESS;
    }
    if (v->json) {
        write_json(&env->out, b, t, log.text, log.path);
        return BZ_CMD_EXIT_SUCCESS;
    }
    tell_which(env, t,
               log.path         ? log.path
               : log.text.n > 0 ? "from the cache"
                                : "from the cache: it printed nothing");
    if (log.text.n > 0)
        bz_log_follow_show(&env->out, log.text.p, log.text.n);
    return BZ_CMD_EXIT_SUCCESS;
}

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct log_values *v = values;
    BZ_CLEANUP(bz_past_build_close) struct bz_past_build b = {0};
    const struct bz_account_task *t;
    int64_t from = 0;
    int rc;

    if (v->json + v->path + v->follow > 1)
        return bz_fail(err, BZ_E_INVAL, "only one of --follow, --path and --json");
    /* Where nothing ran there are no logs; one that is named is told so. */
    rc = bz_past_build_open(env, v->build, v->build ? BZ_BUILDS_ANY : BZ_BUILDS_EVENTS,
                            &b, err);
    if (rc < 0)
        return rc;
    t = find_task(&b, v, err);
    if (!t && may_start(&b, v)) {
        rc = wait_for_start(env, &b, v, err);
        if (rc < 0)
            return rc;
        t = find_task(&b, v, err);
    }
    if (!t)
        return err->code;
    if (t->log.n == 0)
        return show_stored(env, &b, t, v, err);
    note_newer(env, &b, t);
    if (v->path) {
        bz_out_print(&env->out, "%s\n", t->log.p);
        return BZ_CMD_EXIT_SUCCESS;
    }
    if (v->json)
        return read_json(&env->out, &b, t, err);
    tell_which(env, t, t->log.p);
    if (v->follow && t->state == BZ_ACCOUNT_UNFINISHED && !b.account.ended)
        return bz_log_follow_run(
            &(struct bz_log_follow){t->log.p, b.events, t->name, &env->out}, err);
    return bz_log_follow_copy(&env->out, t->log.p, &from, err);
}

static const struct bz_cmd_term examples[] = {
    {"bitzel log",                       "See why the last build failed"},
    {"bitzel log -f busybox:do_compile", "Watch a task that runs"       },
    {NULL,                               NULL                           },
};

const struct bz_cmd bz_cmd_log = {
    .name = "log",
    .summary = "Show the log of a task",
    .detail = "Shows what a task of the last build printed: the one that failed "
              "first unless another is named, or the last that ran of a recipe. "
              "A log is kept where the task wrote it, so an older build's may have "
              "been replaced since; then a note says so. Of a task that came from the "
              "cache it is what the task printed when it ran, or the end of that. With "
              "--follow the log of a task that runs is shown as it grows, and one that "
              "has yet to start is waited for.",
    .opts = opts,
    .args = args,
    .examples = examples,
    .size = sizeof(struct log_values),
    .run = run,
};
