#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "cmd.h"
#include "cmd_open.h"
#include "cmd_open_cache.h"
#include "codec/jsonw.h"
#include "exec/exec.h"
#include "os/clock.h"
#include "os/cpu.h"
#include "os/fs.h"
#include "os/signal.h"
#include "pipeline/builds.h"
#include "pipeline/outdir.h"
#include "pipeline/recording.h"

#define TAIL_LINES 20
#define LOG_LIMIT ((size_t)64 << 20)
#define KEY_DIGITS 8

struct build_values {
    struct bz_opt_list targets;
    const char *task, *jobs;
    bool keep_going, no_cache, json;
};

static const struct bz_opt opts[] = {
    BZ_OPT_TEXT(struct build_values, task, 'c', "task", "TASK",
                "The task of targets that name none"),
    BZ_OPT_TEXT(struct build_values, jobs, 'j', "jobs", "N",
                "How many tasks run at a time; else as many as there are CPUs"),
    BZ_OPT_FLAG(struct build_values, keep_going, 'k', "continue",
                "After a failure go on with all that does not depend on it"),
    BZ_OPT_FLAG(struct build_values, no_cache, 0, "no-cache",
                "Run all tasks, whatever results are stored"),
    BZ_OPT_FLAG(struct build_values, json, 0, "json",
                "Print one JSON object when it is done"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {
    BZ_OPT_SOME(struct build_values, targets, "TARGET",
                "A recipe, RECIPE:do_TASK, mc:CONFIGURATION:RECIPE, world"),
    BZ_OPT_END,
};

struct console {
    struct bz_out *log;
    const struct bz_str *names;
    struct bz_jobs *jobs;
    bool quiet;
    struct bz_buf failures; /* names, one a line, to be said again at the end */
};

static void say_task(struct console *c, enum bz_out_style style, const char *what,
                     const struct bz_event *e)
{
    char hex[BZ_DIGEST_HEX_LEN + 1];

    bz_digest_hex(e->key, hex);
    bz_out_paint(c->log, style, what);
    bz_out_print(c->log, " ");
    bz_out_plain(c->log, c->names[e->task].p, c->names[e->task].n);
    bz_out_print(c->log, " (%.*s)", KEY_DIGITS, hex);
}

/* The last lines of a log. */
static void show_tail(struct bz_out *out, const char *path)
{
    BZ_CLEANUP(bz_mem_freep) char *text = NULL;
    struct bz_err ignored;
    size_t n, from;
    unsigned lines = 0;

    if (bz_fs_read(AT_FDCWD, path, LOG_LIMIT, &text, &n, &ignored) < 0)
        return;
    for (from = n; from > 0; from--)
        if (text[from - 1] == '\n' && from < n && ++lines == TAIL_LINES)
            break;
    while (from < n) {
        size_t end = from;

        while (end < n && text[end] != '\n')
            end++;
        bz_out_print(out, "  | ");
        bz_out_plain(out, text + from, end - from);
        bz_out_print(out, "\n");
        from = end + 1;
    }
}

static void say_failure(struct console *c, const struct bz_event *e)
{
    say_task(c, BZ_OUT_RED, "Failed", e);
    if (e->error)
        bz_out_print(c->log, ": %s\n", e->error);
    else if (e->signal)
        bz_out_print(c->log, ": killed by signal %d (%s)\n", e->signal,
                     strsignal(e->signal));
    else
        bz_out_print(c->log, ": exit status %d\n", e->exit_code);
    if (!e->log || e->error)
        return;
    show_tail(c->log, e->log);
    bz_out_print(c->log, "  log: %s\n", e->log);
}

static void show_event(void *ctx, const struct bz_event *e)
{
    struct console *c = ctx;

    switch (e->kind) {
    case BZ_EVENT_CACHED:
        if (!c->quiet) {
            say_task(c, BZ_OUT_GREEN, "Cached", e);
            bz_out_print(c->log,
                         e->same ? ", as what it needs came out the same\n" : "\n");
        }
        break;
    case BZ_EVENT_DONE:
        if (!c->quiet) {
            say_task(c, BZ_OUT_BOLD, "Executed", e);
            bz_out_print(c->log, " in %.1fs\n", (double)e->ns / 1e9);
        }
        break;
    case BZ_EVENT_FAILED:
        say_failure(c, e);
        bz_buf_addf(&c->failures, "  %.*s\n", BZ_STR_ARG(c->names[e->task]));
        break;
    default:
        return;
    }
    bz_out_flush(c->log);
}

/* A target whose links cannot be made is built all the same. */
static void show_target(void *ctx, uint32_t task, const char *own, const char *shared)
{
    struct console *c = ctx;
    struct bz_err err;

    if (bz_outdir_link(c->jobs, task, own, shared, &err) < 0)
        bz_out_print(c->log, "warning: %s\n", err.msg);
}

static void show_end(struct bz_out *out, const struct bz_event_counts *n, int64_t ns,
                     int rc)
{
    bz_out_print(out, "Build %s in %.1fs (%u task%s executed, %u from cache",
                 rc == 0               ? "completed"
                 : rc == BZ_E_CANCELED ? "interrupted"
                                       : "failed",
                 (double)ns / 1e9, n->executed, n->executed == 1 ? "" : "s", n->cached);
    if (n->failed > 0)
        bz_out_print(out, ", %u failed", n->failed);
    if (n->blocked > 0)
        bz_out_print(out, ", %u not started", n->blocked);
    bz_out_print(out, ")\n");
}

static void write_json(struct bz_out *out, const struct bz_event_counts *n, int64_t ns,
                       int rc)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_jsonw w = bz_jsonw_to(&text, 2);

    bz_jsonw_map(&w);
    bz_jsonw_bool(bz_jsonw_key(&w, "success"), rc == 0);
    bz_jsonw_int(bz_jsonw_key(&w, "tasks"), n->tasks);
    bz_jsonw_int(bz_jsonw_key(&w, "executed"), n->executed);
    bz_jsonw_int(bz_jsonw_key(&w, "cached"), n->cached);
    bz_jsonw_int(bz_jsonw_key(&w, "not_needed"), n->unneeded);
    bz_jsonw_int(bz_jsonw_key(&w, "noexec"), n->noexec);
    bz_jsonw_int(bz_jsonw_key(&w, "failed"), n->failed);
    bz_jsonw_int(bz_jsonw_key(&w, "not_started"), n->blocked);
    bz_jsonw_int(bz_jsonw_key(&w, "milliseconds"), ns / BZ_CLOCK_MS);
    bz_jsonw_map_end(&w);
    bz_out_print(out, "%s\n", bz_buf_text(&text));
}

static int parse_jobs(const char *text, unsigned *out, struct bz_err *err)
{
    uint64_t n = bz_cpu_count();
    int rc = text ? bz_str_parse_u64(bz_str_from(text), 10, 1024, &n, err) : 0;

    if (text && (rc < 0 || n == 0))
        return bz_fail(err, BZ_E_INVAL, "--jobs: '%s' is no number of tasks", text);
    *out = (unsigned)n;
    return 0;
}

/* All that was opened, in the order it has to be closed in. */
struct shop {
    struct bz_pipeline p;
    struct bz_goal goal;
    struct bz_signing s;
    struct bz_jobs jobs;
    struct bz_pool *pool;
    struct bz_cache *cache;
    struct bz_arena arena;
};

static void shop_close(struct shop *s)
{
    bz_cache_close(s->cache);
    bz_pool_free(s->pool);
    if (s->jobs.p)
        bz_jobs_release(&s->jobs);
    bz_signing_release(&s->s);
    bz_goal_close(&s->goal);
    bz_pipeline_close(&s->p);
    bz_arena_release(&s->arena);
}

static int open_goal(struct bz_cmd_env *env, const struct build_values *v,
                     struct shop *s, struct bz_err *err)
{
    struct bz_goal_opts o = {v->targets.word, v->targets.n, v->task, false};
    int rc = bz_cmd_open_goal(env, &o, &s->p, &s->goal, err);

    if (rc == 0)
        rc = bz_signing_run(&s->s, &s->p, &s->goal, NULL, NULL, err);
    bz_cmd_open_diags(env, &s->p);
    return rc;
}

/* For `why` to compare with; that nothing ran changes nothing. */
static void keep_record(struct bz_cmd_env *env, struct shop *s, int64_t wall)
{
    BZ_CLEANUP(bz_record_release) struct bz_record r = {0};
    BZ_CLEANUP(bz_signing_release) struct bz_signing again = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_err err;
    int rc = bz_recording_run(&r, &again, &s->p, &s->goal, &err);

    if (rc == 0) {
        bz_record_write(&r, &text);
        rc = bz_builds_keep(s->p.build_dir, wall, bz_buf_str(&text), &err);
    }
    if (rc < 0)
        bz_out_print(&env->log, "warning: the build is not recorded: %s\n", err.msg);
}

/* What ends it, taken from the kernel so that it does not end it at once. */
struct interrupt {
    struct bz_signal sig;
    struct bz_out *log;
    int last; /* 0: none came */
};

static void take_signal(void *ctx)
{
    struct interrupt *i = ctx;
    struct bz_err ignored;
    bool first = i->last == 0;

    if (bz_signal_next(&i->sig, bz_clock_in(0), &i->last, &ignored) < 0 || !first)
        return;
    bz_out_print(i->log, "Stopping; once more to kill the tasks that run\n");
    bz_out_flush(i->log);
}

static void interrupt_close(struct interrupt *i)
{
    bz_signal_close(&i->sig);
}

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    static const int signals[] = {SIGINT, SIGTERM};
    const struct build_values *v = values;
    BZ_CLEANUP(shop_close) struct shop s = {0};
    BZ_CLEANUP(interrupt_close) struct interrupt stop = {.log = &env->log};
    struct console c = {.log = &env->log, .quiet = env->global.quiet};
    struct bz_event_counts counts = {0};
    struct bz_cache_opts store = {0};
    struct bz_exec_opts o = {0};
    int64_t began = bz_clock_now(), wall = bz_clock_wall();
    int rc = parse_jobs(v->jobs, &o.jobs, err);

    if (rc == 0)
        rc = bz_signal_open(&stop.sig, signals, BZ_COUNTOF(signals), err);
    if (rc == 0)
        rc = open_goal(env, v, &s, err);
    if (rc == 0)
        rc = bz_jobs_open(&s.jobs, &s.p, &s.goal, err);
    if (rc == 0)
        rc = bz_pool_new(&(struct bz_pool_opts){0}, &s.pool, err);
    if (rc == 0)
        rc = bz_cmd_open_cache_opts(env, &s.arena, &store, err);
    if (rc == 0)
        rc = bz_cmd_open_cache(env, BZ_SHELF_WRITE, s.pool, &s.cache, err);
    if (rc < 0)
        return rc;
    c.names = s.jobs.names;
    c.jobs = &s.jobs;
    o.graph = &s.goal.graph;
    o.keys = s.s.keys;
    o.bases = s.s.base;
    o.names = s.jobs.names;
    o.cache = s.cache;
    o.store = store.root;
    o.pool = s.pool;
    o.keep_going = v->keep_going;
    o.no_cache = v->no_cache;
    o.views = s.jobs.views.at;
    o.nviews = s.jobs.views.len;
    o.job = bz_jobs_make;
    o.job_ctx = &s.jobs;
    o.event = show_event;
    o.event_ctx = &c;
    o.target = show_target;
    o.target_ctx = &c;
    o.interrupt_fd = stop.sig.fd;
    o.interrupt = take_signal;
    o.interrupt_ctx = &stop;
    rc = bz_exec_run(&o, &counts, err);
    if (rc == 0 && counts.executed > 0)
        keep_record(env, &s, wall);
    if (counts.failed > 1)
        bz_out_print(&env->log, "These failed:\n%s", bz_buf_text(&c.failures));
    bz_buf_release(&c.failures);
    if (v->json)
        write_json(&env->out, &counts, bz_clock_now() - began, rc);
    else
        show_end(&env->out, &counts, bz_clock_now() - began, rc);
    if (rc == BZ_E_CANCELED && stop.last)
        return 128 + stop.last;
    return rc < 0 ? rc : BZ_CMD_EXIT_SUCCESS;
}

const struct bz_cmd bz_cmd_build = {
    .name = "build",
    .summary = "Build targets, from stored results where there are any",
    .detail =
        "Runs the tasks that targets need, each in a sandbox, but for those whose "
        "results are stored under their signature. The exit status is 1 if a task "
        "failed, 3 if there is no such target, 5 if there can be no sandbox.",
    .opts = opts,
    .args = args,
    .size = sizeof(struct build_values),
    .run = run,
};
