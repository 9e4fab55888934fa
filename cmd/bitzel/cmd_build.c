#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "build_events.h"
#include "build_via.h"
#include "build_view.h"
#include "cmd.h"
#include "cmd_open.h"
#include "cmd_open_cache.h"
#include "cmd_settings.h"
#include "exec/exec.h"
#include "os/clock.h"
#include "os/cpu.h"
#include "os/fs.h"
#include "os/signal.h"
#include "task/timelimit.h"

struct build_values {
    struct bz_opt_list targets;
    const char *task, *clear, *jobs, *events, *quality, *sandbox, *via;
    bool keep_going, force, dry, local, offline, refresh, no_cache, brief, json;
    int schedule, console, verify;
    int64_t timeout;
};

enum { MAX_JOBS = 1024 };
enum { COMPLETION, WAVES };
static const char *const schedules[] = {"completion", "waves", NULL};
static const char *const consoles[] = {
    [BZ_BUILD_SCREEN_AUTO] = "auto",
    [BZ_BUILD_SCREEN_LIVE] = "live",
    [BZ_BUILD_SCREEN_PLAIN] = "plain",
    NULL,
};

static const struct bz_opt opts[] = {
    BZ_OPT_TEXT(struct build_values, task, 'c', "task", "TASK",
                "The task of targets that name none"),
    BZ_OPT_TEXT(struct build_values, jobs, 'j', "jobs", "N",
                "How many tasks run at a time; else as the setting 'jobs' says"),
    BZ_OPT_FLAG(struct build_values, keep_going, 'k', "continue",
                "After a failure go on with all that does not depend on it"),
    BZ_OPT_FLAG(struct build_values, force, 'f', "force",
                "Run the tasks of the targets, although their results are stored"),
    BZ_OPT_TEXT(struct build_values, clear, 'C', "clear-stamp", "TASK",
                "Force TASK of each target's recipe, then build the target"),
    BZ_OPT_FLAG(struct build_values, dry, 'n', "dry-run",
                "Print what would run, and run nothing"),
    BZ_OPT_FLAG(struct build_values, local, 0, "force-local",
                "Neither ask the tiers of the cache nor fill them"),
    BZ_OPT_FLAG(struct build_values, offline, 0, "offline",
                "Ask no server, neither for sources nor for results"),
    BZ_OPT_FLAG(struct build_values, refresh, 0, "refresh",
                "Resolve tags, branches and ${AUTOREV} of sources anew"),
    BZ_OPT_NUMBER(struct build_values, timeout, 0, "timeout", "SECONDS", 0,
                  BZ_TIMELIMIT_MAX, -1,
                  "Stop tasks that run longer, unless they say how long they may"),
    BZ_OPT_TEXT(struct build_values, sandbox, 0, "sandbox", "HOW",
                "auto, or required: an error where there are no user namespaces"),
    BZ_OPT_CHOICE(struct build_values, verify, 0, "verify", "WHEN",
                  bz_cmd_open_cache_verifies, -1,
                  "When stored bytes are checked before they are used; else as the "
                  "setting 'cache.verify' says"),
    BZ_OPT_FLAG(struct build_values, no_cache, 0, "no-cache",
                "Run all tasks, whatever results are stored"),
    BZ_OPT_CHOICE(struct build_values, schedule, 0, "schedule", "HOW", schedules,
                  COMPLETION,
                  "Start a task when what it needs is done, or wave after wave"),
    BZ_OPT_CHOICE(struct build_values, console, 0, "console", "HOW", consoles,
                  BZ_BUILD_SCREEN_AUTO,
                  "Show what runs as it does, or print a line for each task that ends"),
    BZ_OPT_FLAG(struct build_values, brief, 0, "brief",
                "Print no lines for results that are stored, nor while nothing ends"),
    BZ_OPT_TEXT(struct build_values, via, 0, "via", "SOCKET",
                "Have the 'bitzel serve' at SOCKET build; auto is where one is by "
                "default; else as the setting 'via' says"),
    BZ_OPT_TEXT(struct build_values, events, 0, "events", "FILE",
                "Write what happens to it, one JSON object a line; -: to stdout"),
    BZ_OPT_TEXT(struct build_values, quality, 0, "code-quality", "FILE",
                "Write what failed to it, as a Code Quality report for GitLab"),
    BZ_OPT_FLAG(struct build_values, json, 0, "json",
                "Print one JSON object when it is done"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {
    BZ_OPT_ANY(struct build_values, targets, "TARGET",
               "A recipe, RECIPE:TASK, mc:CONFIGURATION:RECIPE, world; else what the "
               "kas file names"),
    BZ_OPT_END,
};

/* What the option says, or else the settings, or else a task for each processor. */
static int find_jobs(struct bz_cmd_env *env, const char *text, unsigned *out,
                     struct bz_err *err)
{
    struct bz_settings *settings;
    uint64_t n = 0;
    int rc = text ? bz_str_parse_u64(bz_str_from(text), 10, MAX_JOBS, &n, err) : 0;

    if (text && (rc < 0 || n == 0))
        return bz_fail(err, BZ_E_INVAL, "--jobs: '%s' is not a number from 1 on", text);
    if (!text) {
        rc = bz_cmd_settings_get(env, &settings, err);
        if (rc < 0)
            return rc;
        n = (uint64_t)bz_settings_get(settings, BZ_SETTING_JOBS)->number;
    }
    if (n == 0)
        n = bz_cpu_count();
    *out = n < MAX_JOBS ? (unsigned)n : MAX_JOBS;
    return 0;
}

/* As the settings of these names would. */
static int set_options(struct bz_cmd_env *env, const struct build_values *v,
                       struct bz_err *err)
{
    struct bz_settings *s;
    int rc = bz_cmd_settings_get(env, &s, err);

    if (rc == 0 && v->sandbox)
        rc = bz_settings_set(s, BZ_SETTING_SANDBOX, v->sandbox, "--sandbox", err);
    return rc < 0 ? rc : bz_cmd_open_cache_verify(env, v->verify, err);
}

/* Whoever turned uploads off knows; that a project's store has this effect need not be
 * known. */
static void tell_kept(const struct bz_settings *settings,
                      const struct bz_cache_opts *store)
{
    const char *why = bz_cmd_open_cache_keeps(settings);
    bool wanted = bz_settings_get(settings, BZ_SETTING_CACHE_SIGN)->text.n > 0;

    for (size_t i = 0; i < store->tiers.n; i++)
        wanted = wanted || store->tiers.specs[i].write;
    if (why && wanted && bz_settings_get(settings, BZ_SETTING_CACHE_UPLOAD)->number)
        bz_log_warn("cache", "nothing is uploaded or signed: %s", why);
}

static void open_events(struct bz_build_events *e, const struct bz_build *b,
                        const struct build_values *v)
{
    e->build_dir = b->catalog.build_dir;
    e->dry = v->dry;
    bz_build_events_open(e, &(struct bz_eventlog_opts){.graph = &b->goal.graph,
                                                       .names = b->names,
                                                       .need = &b->goal.need,
                                                       .targets = v->targets.word,
                                                       .ntargets = v->targets.n,
                                                       .jobs = b->exec.jobs});
}

/* What ends it, taken from the kernel so that it does not end it at once. */
struct interrupt {
    struct bz_signal sig;
    struct bz_build_screen *screen;
    int last; /* 0: none came */
};

static void take_signal(void *ctx)
{
    struct interrupt *i = ctx;
    struct bz_err ignored;
    bool first = i->last == 0;

    if (bz_signal_next(&i->sig, bz_clock_in(0), &i->last, &ignored) < 0 || !first)
        return;
    bz_out_print(i->screen->log,
                 "Stopping the tasks that run; once more to kill them\n");
    bz_build_screen_show(i->screen);
}

static void interrupt_close(struct interrupt *i)
{
    /* After one has come the process is about to end: another must not change how, and
     * stays blocked. */
    if (i->last == 0)
        bz_signal_close(&i->sig);
}

/* What was stored is on its way to the tiers: it is waited for as long as the settings
 * say, or until somebody has enough of it. */
static void await_uploads(struct bz_build *b, struct interrupt *i, struct bz_out *log)
{
    int64_t end = bz_clock_in(b->opts.cache.flush), say = bz_clock_in(BZ_CLOCK_S);
    struct bz_err ignored;
    int ended = 0;

    while (!bz_cache_flush(b->cache, bz_clock_in(100 * BZ_CLOCK_MS))) {
        if (bz_clock_now() >= end ||
            bz_signal_next(&i->sig, bz_clock_in(0), &ended, &ignored) == 0)
            break;
        if (say != 0 && bz_clock_now() >= say) {
            bz_out_print(log, "Sending results to shared caches; Ctrl-C leaves the "
                              "rest out\n");
            bz_out_flush(log);
            say = 0;
        }
    }
    bz_cache_hurry(b->cache);
}

/* Of tasks only their names are at hand, not what they wait for. */
static void tell_idle_events(struct bz_cmd_env *env, const struct build_values *v,
                             const struct bz_build *b, int64_t began)
{
    const struct bz_idle *idle = &b->idle;
    BZ_CLEANUP(bz_vec_release) struct BZ_VEC(struct bz_str) names = {0};
    struct bz_build_events e = {.build_dir = b->catalog.build_dir,
                                .file = v->events,
                                .wall = bz_clock_wall() - (bz_clock_now() - began)};
    struct bz_event event = {
        .kind = BZ_EVENT_PLANNED, .counts = idle->counts, .saved = idle->spared};
    struct bz_err err;
    unsigned jobs = 0;

    if (find_jobs(env, v->jobs, &jobs, &err) < 0)
        jobs = 0; /* it was found before */
    for (size_t i = 0; i < idle->results.len; i++)
        BZ_VEC_PUSH(&names, idle->results.at[i].task);
    bz_build_events_open(&e, &(struct bz_eventlog_opts){.names = names.at,
                                                        .targets = v->targets.word,
                                                        .ntargets = v->targets.n,
                                                        .jobs = jobs});
    for (uint32_t i = 0; i < idle->results.len; i++)
        bz_build_events_hear(&e, &(struct bz_event){.kind = BZ_EVENT_CACHED,
                                                    .task = i,
                                                    .saved = idle->results.at[i].saved,
                                                    .key = &idle->results.at[i].key});
    bz_build_events_hear(&e, &event);
    event.kind = BZ_EVENT_ENDED;
    bz_build_events_hear(&e, &event);
    bz_build_events_finish(&e, NULL, bz_library_counted(b->catalog.library));
    bz_build_events_close(&e, &env->log);
}

static void write_quality(struct bz_build_view *view)
{
    struct bz_err err;

    if (bz_build_quality_write(&view->failure.quality, &err) < 0)
        bz_out_print(view->log, "warning: --code-quality: %s\n", err.msg);
}

/* What an idle build says is what a build says that finds out by itself. */
static int tell_idle(struct bz_cmd_env *env, const struct build_values *v,
                     const struct bz_build *b, struct bz_build_view *view,
                     int64_t began)
{
    const struct bz_idle *idle = &b->idle;

    for (size_t i = 0; i < idle->results.len; i++) {
        view->names = &idle->results.at[i].task;
        bz_build_view_event(view, &(struct bz_event){.kind = BZ_EVENT_CACHED,
                                                     .key = &idle->results.at[i].key});
    }
    tell_idle_events(env, v, b, began);
    write_quality(view);
    if (v->json)
        bz_build_view_json(&env->out, view, &idle->counts, bz_clock_now() - began, 0);
    else
        bz_build_view_end(&env->out, view, &idle->counts, bz_clock_now() - began, 0);
    bz_build_view_release(view);
    return BZ_CMD_EXIT_SUCCESS;
}

/* All tasks of the graph are done. That is not enough if others were left out, or if
 * bitzel-out still shows something else. */
static int conclude(const struct bz_build *b, struct bz_err *err)
{
    if (b->goal.functions > 0)
        return bz_goal_fail_pruned(&b->goal, err);
    if (b->is_hidden) {
        *err = b->hidden;
        return bz_err_wrap(err, "all is built and stored, but cannot be shown");
    }
    return 0;
}

/* Where nothing is to be seen, or something else is written there, no lines stay. */
static enum bz_build_screen_how screen_of(const struct bz_cmd_env *env,
                                          const struct build_values *v)
{
    bool mixed = v->events && strcmp(v->events, "-") == 0 && isatty(STDOUT_FILENO);

    if (env->global.quiet || v->dry)
        return BZ_BUILD_SCREEN_PLAIN;
    return v->console == BZ_BUILD_SCREEN_AUTO && mixed
               ? BZ_BUILD_SCREEN_PLAIN
               : (enum bz_build_screen_how)v->console;
}

/* What options say, or else the settings; *beat: ns of silence after which a build
 * tells what it does. */
static int find_settings(struct bz_cmd_env *env, const struct build_values *v,
                         unsigned *jobs, int64_t *beat, struct bz_err *err)
{
    struct bz_settings *settings;
    int rc = find_jobs(env, v->jobs, jobs, err);

    if (rc == 0)
        rc = set_options(env, v, err);
    if (rc == 0)
        rc = bz_cmd_settings_get(env, &settings, err);
    if (rc == 0 && !v->brief && !env->global.quiet)
        *beat = bz_settings_get(settings, BZ_SETTING_HEARTBEAT)->number;
    return rc;
}

/* What the stages are to do. */
static int set_build(struct bz_cmd_env *env, const struct build_values *v,
                     struct bz_trust_signer *signer, struct bz_build *b,
                     struct bz_err *err)
{
    const struct bz_cmd_open_cache_without near = {v->offline, v->local};

    b->opts.targets = (struct bz_goal_opts){
        v->targets.word, v->targets.n, v->task, false,
        v->keep_going ? BZ_GOAL_PRUNE_PYTHON : BZ_GOAL_REFUSE_PYTHON};
    b->opts.refresh = v->refresh;
    b->opts.resolve = !v->offline && !v->dry;
    b->opts.runs = true;
    b->opts.force = v->force;
    b->opts.clear = v->clear;
    b->opts.shortcut = !v->force && !v->clear && !v->no_cache && !v->refresh;
    b->opts.timeout = v->timeout;
    b->opts.offline = v->offline;
    b->exec.plan.no_cache = v->no_cache;
    b->exec.keep_going = v->keep_going;
    b->exec.dry = v->dry;
    b->exec.waves = v->schedule == WAVES;
    return bz_cmd_open_cache_build(env, &b->arena, &near, &b->opts.cache, signer, err);
}

/* Runs the tasks, with somebody who watches and may interrupt. */
static int run_watched(struct bz_cmd_env *env, const struct build_values *v,
                       struct bz_build *b, struct bz_build_events *events,
                       struct interrupt *stop, struct bz_err *err)
{
    static const int signals[] = {SIGINT, SIGTERM};
    /* Until now a signal ends it at once, as nothing is lost. */
    int rc = bz_signal_open(&stop->sig, signals, BZ_COUNTOF(signals), err);

    if (rc == 0)
        rc = bz_build_screen_open(stop->screen, screen_of(env, v), err);
    if (rc < 0)
        return rc;
    tell_kept(&env->settings, &b->opts.cache);
    b->exec.event = bz_build_events_hear;
    b->exec.event_ctx = events;
    b->exec.interrupt_fd = stop->sig.fd;
    b->exec.interrupt = take_signal;
    b->exec.interrupt_ctx = stop;
    b->exec.tick = env->global.quiet ? 0 : BZ_BUILD_SCREEN_TICK;
    b->exec.hold = &stop->screen->console.hold;
    /* The store is open before a line stays on the screen. */
    rc = bz_cmd_open_build(env, b, BZ_BUILD_STORE, err);
    if (rc < 0)
        return rc;
    open_events(events, b, v);
    bz_build_screen_begin(stop->screen, b->names, b->exec.jobs);
    rc = bz_cmd_open_build(env, b, BZ_BUILD_RESULTS, err);
    bz_build_screen_close(stop->screen);
    return rc;
}

/* What is left to do when it is over. */
static int finish(struct bz_cmd_env *env, struct bz_build *b,
                  struct bz_build_events *events, struct interrupt *stop, int rc,
                  struct bz_err *err)
{
    struct bz_err ignored;

    if (bz_cmd_open_build(env, b, BZ_BUILD_RECORD, &ignored) < 0)
        bz_out_print(&env->log, "warning: %s\n", ignored.msg);
    await_uploads(b, stop, &env->log);
    bz_build_events_finish(events, b->cache, bz_library_counted(b->catalog.library));
    bz_build_events_close(events, &env->log);
    return rc < 0 ? rc : conclude(b, err);
}

/* Builds here. */
static int run_here(struct bz_cmd_env *env, const struct build_values *v,
                    struct bz_err *err)
{
    BZ_CLEANUP(bz_cmd_open_cache_forget)
    struct bz_trust_signer signer = {{{0}}, {{0}}};
    BZ_CLEANUP(bz_build_screen_close)
    struct bz_build_screen screen = {.log = &env->log, .brief = v->brief};
    BZ_CLEANUP(bz_build_close) struct bz_build b = {0};
    BZ_CLEANUP(interrupt_close) struct interrupt stop = {.screen = &screen};
    struct bz_build_view view = {.log = &env->log,
                                 .out = v->json ? NULL : &env->out,
                                 .build = &b,
                                 .quiet = env->global.quiet,
                                 .verbose = env->global.verbose,
                                 .screen = &screen,
                                 .failure.quality.file = v->quality};
    struct bz_build_events events = {
        .file = v->events, .view = bz_build_view_event, .view_ctx = &view};
    int64_t began = bz_clock_now();
    int rc = find_settings(env, v, &b.exec.jobs, &screen.beat, err);

    events.wall = b.wall = bz_clock_wall();
    if (rc == 0)
        rc = set_build(env, v, &signer, &b, err);
    if (rc == 0)
        rc = bz_cmd_open_build(env, &b, BZ_BUILD_KEYS, err);
    if (rc == BZ_BUILD_IDLE)
        return tell_idle(env, v, &b, &view, began);
    if (rc < 0)
        return rc;
    view.names = b.names;
    view.failure.store = b.opts.cache.root;
    view.failure.bare = b.ground.bare;
    bz_build_failure_open(&view.failure);
    rc = run_watched(env, v, &b, &events, &stop, err);
    if (b.stage < BZ_BUILD_RESULTS)
        return rc;
    rc = finish(env, &b, &events, &stop, rc, err);
    bz_build_failure_repeat(&view.failure, &env->log);
    write_quality(&view);
    if (v->json)
        bz_build_view_json(&env->out, &view, &b.counts, bz_clock_now() - began, rc);
    else if (v->dry)
        bz_build_view_dry(&env->out, &b.counts);
    else
        bz_build_view_end(&env->out, &view, &b.counts, bz_clock_now() - began, rc);
    bz_build_view_release(&view);
    if (rc == BZ_E_NOSUP)
        env->status = BZ_CMD_EXIT_SANDBOX;
    if (rc == BZ_E_CANCELED && stop.last)
        return 128 + stop.last;
    return rc < 0 ? rc : BZ_CMD_EXIT_SUCCESS;
}

/* The option, or else the setting; "" and NULL: here. */
static int find_via(struct bz_cmd_env *env, const struct build_values *v,
                    const char **out, struct bz_err *err)
{
    struct bz_settings *settings;
    int rc = 0;

    *out = v->via;
    if (!v->via && (rc = bz_cmd_settings_get(env, &settings, err)) == 0)
        *out = bz_settings_get(settings, BZ_SETTING_VIA)->text.p;
    return rc;
}

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct build_values v = *(const struct build_values *)values;
    const char *via = NULL;
    int rc = bz_cmd_open_defaults(env, &arena, &v.targets, &v.task, err);

    if (rc == 0)
        rc = find_via(env, &v, &via, err);
    if (rc == 0 && v.offline && v.refresh)
        rc = bz_fail(err, BZ_E_INVAL, "--offline and --refresh contradict each other");
    if (rc < 0)
        return rc;
    if (!via || !via[0])
        return run_here(env, &v, err);
    return bz_build_via_run(env,
                            &(struct bz_build_via_opts){.socket = via,
                                                        .rows = opts,
                                                        .values = &v,
                                                        .targets = &v.targets,
                                                        .events = v.events,
                                                        .json = v.json,
                                                        .dry = v.dry,
                                                        .console = screen_of(env, &v)},
                            err);
}

static const struct bz_cmd_term examples[] = {
    {"bitzel build core-image-minimal",              "Build an image and all it needs"},
    {"bitzel build -k busybox zlib:do_compile",
     "Build a recipe and one task of another, and go on after a failure"              },
    {"bitzel plan world && bitzel build -j 8 world",
     "See what there is to do, then do it, eight tasks at a time"                     },
    {NULL,                                           NULL                             },
};

const struct bz_cmd bz_cmd_build = {
    .name = "build",
    .summary = "Build targets, from stored results where there are any",
    .detail =
        "Runs the tasks that targets need, each in a sandbox, but for those whose "
        "results are stored under their signature. The exit status is 1 if a task "
        "failed, 3 if there is no such target, 5 if there can be no sandbox. Where "
        "there "
        "are no user namespaces, tasks run one at a time under Landlock instead, "
        "unless "
        "sandboxes are required. On a terminal what runs is shown below what has "
        "ended; the key ? lists the others: l shows the log of a task, p starts no "
        "more, + and - change how many lines there are. Ctrl-C asks the tasks that run "
        "to end, and kills them the second time.",
    .opts = opts,
    .args = args,
    .examples = examples,
    .size = sizeof(struct build_values),
    .run = run,
};
