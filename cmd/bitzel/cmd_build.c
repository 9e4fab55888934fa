#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "build_events.h"
#include "build_force.h"
#include "build_record.h"
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
#include "pipeline/idle.h"
#include "pipeline/timelimit.h"

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

/* All that was opened, in the order it has to be closed in. */
struct shop {
    struct bz_pipeline p;
    struct bz_goal goal;
    struct bz_signing s;
    struct bz_jobs jobs;
    struct bz_taint taint;
    struct bz_pool *pool;
    struct bz_cache_opts store;
    struct bz_cache *cache;
    struct bz_idle idle;
    struct bz_idle_found found;
    bool said; /* something about the targets, which is to be said again */
    struct bz_bitset forced; /* tasks that this command has tainted */
    struct bz_bitset made;   /* tasks with a result that was not there before */
    struct bz_arena arena;
};

static void shop_close(struct shop *s)
{
    bz_bitset_release(&s->forced);
    bz_bitset_release(&s->made);
    bz_cache_close(s->cache);
    bz_pool_free(s->pool);
    if (s->jobs.p)
        bz_jobs_release(&s->jobs);
    bz_signing_release(&s->s);
    bz_taint_release(&s->taint);
    bz_vec_release(&s->found.used);
    bz_idle_release(&s->idle);
    bz_goal_close(&s->goal);
    bz_pipeline_close(&s->p);
    bz_arena_release(&s->arena);
}

/* Whether a build that has nothing to do may say so without looking at all of it. */
static bool may_be_idle(const struct build_values *v, const struct shop *s)
{
    return !v->force && !v->clear && !v->dry && !v->no_cache && !v->refresh &&
           s->taint.values.len == 0 && !s->said;
}

static struct bz_idle_about about_idle(struct shop *s, const struct bz_goal_opts *o)
{
    return (struct bz_idle_about){.survey = &s->goal.survey,
                                  .catalog = bz_pipeline_catalog(&s->p),
                                  .build_dir = s->p.build_dir,
                                  .store = s->store.root,
                                  .goal = o};
}

static struct bz_goal_opts goal_opts(const struct build_values *v)
{
    return (struct bz_goal_opts){v->targets.word, v->targets.n, v->task, false,
                                 v->keep_going ? BZ_GOAL_PRUNE_PYTHON
                                               : BZ_GOAL_REFUSE_PYTHON};
}

static int open_goal(struct bz_cmd_env *env, const struct build_values *v,
                     struct shop *s, struct bz_err *err)
{
    struct bz_goal_opts o = goal_opts(v);
    int rc = bz_cmd_open_targets(env, &o, &s->goal, &s->said, err);

    if (rc == 0) {
        s->s.taint = &s->taint;
        rc = bz_build_force_mark(
            &(struct bz_build_force){&s->taint, &s->goal, &s->forced, &env->log},
            v->force, v->clear, err);
    }
    if (rc == 0 && (v->force || v->clear) && !v->dry)
        rc = bz_taint_save(&s->taint, err);
    if (rc == 0)
        rc = bz_signing_run(&s->s, &s->p, &s->goal, NULL, NULL, err);
    bz_cmd_open_diags(env, &s->p);
    return rc;
}

/* Whoever turned uploads off knows; that a project's store has this effect need not be
 * known. */
static void tell_kept(const struct bz_settings *settings, const struct shop *s)
{
    const char *why = bz_cmd_open_cache_keeps(settings);
    bool wanted = bz_settings_get(settings, BZ_SETTING_CACHE_SIGN)->text.n > 0;

    for (size_t i = 0; i < s->store.tiers.n; i++)
        wanted = wanted || s->store.tiers.specs[i].write;
    if (why && wanted && bz_settings_get(settings, BZ_SETTING_CACHE_UPLOAD)->number)
        bz_log_warn("cache", "nothing is uploaded or signed: %s", why);
}

/* The store, with the tiers that the settings name, or without. */
static int open_cache(struct bz_cmd_env *env, const struct build_values *v,
                      struct shop *s, struct bz_err *err)
{
    int rc = bz_pool_new(&(struct bz_pool_opts){0}, &s->pool, err);

    if (rc < 0)
        return rc;
    tell_kept(&env->settings, s);
    if (!v->local && !v->offline)
        return bz_cmd_open_cache(env, BZ_SHELF_WRITE, s->pool, &s->cache, err);
    bz_cmd_open_cache_near(&s->store, &s->arena, v->local);
    s->store.pool = s->pool;
    s->store.store.access = BZ_SHELF_WRITE;
    return bz_cmd_open_cache_as(&s->store, &s->arena, &s->cache, err);
}

static void open_events(struct bz_build_events *e, const struct shop *s,
                        const struct build_values *v, const struct bz_exec_opts *o)
{
    e->build_dir = s->p.build_dir;
    e->dry = v->dry;
    bz_build_events_open(e, &(struct bz_eventlog_opts){.graph = o->plan.graph,
                                                       .names = o->plan.names,
                                                       .need = &s->goal.need,
                                                       .targets = v->targets.word,
                                                       .ntargets = v->targets.n,
                                                       .jobs = o->jobs});
}

/* Notes what is made and found, and tells whoever shows it. */
struct hearing {
    struct bz_bitset *made;
    struct bz_idle_found *found;
    struct bz_build_events *events;
};

static void hear(void *ctx, const struct bz_event *e)
{
    struct hearing *h = ctx;

    if (e->kind == BZ_EVENT_DONE || (e->kind == BZ_EVENT_CACHED && e->same))
        bz_bitset_set(h->made, e->task);
    if (e->kind == BZ_EVENT_CACHED)
        BZ_VEC_PUSH(&h->found->used, (struct bz_idle_use){e->task, e->saved});
    if (e->kind == BZ_EVENT_PLANNED)
        h->found->spared = e->saved;
    bz_build_events_hear(h->events, e);
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
static void await_uploads(struct shop *s, struct interrupt *i, struct bz_out *log)
{
    int64_t end = bz_clock_in(s->store.flush), say = bz_clock_in(BZ_CLOCK_S);
    struct bz_err ignored;
    int ended = 0;

    while (!bz_cache_flush(s->cache, bz_clock_in(100 * BZ_CLOCK_MS))) {
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
    bz_cache_hurry(s->cache);
}

static void fill_opts(const struct build_values *v, struct shop *s,
                      struct bz_exec_opts *o)
{
    s->jobs.timeout = v->timeout;
    s->jobs.offline = v->offline;
    s->jobs.signing = &s->s;
    o->plan = (struct bz_plan_in){.graph = &s->goal.graph,
                                  .keys = s->s.keys,
                                  .bases = s->s.base,
                                  .names = s->jobs.names,
                                  .project = bz_str_from(s->p.build_dir),
                                  .machines = bz_goal_machines(&s->goal),
                                  .unused = &s->s.unused,
                                  .forced = &s->forced,
                                  .no_cache = v->no_cache};
    o->cache = s->cache;
    o->store = s->store.root;
    o->pool = s->pool;
    o->ground = s->jobs.ground;
    o->keep_going = v->keep_going;
    o->dry = v->dry;
    o->waves = v->schedule == WAVES;
    o->job = bz_jobs_make;
    o->job_ctx = &s->jobs;
    o->waits = bz_jobs_waits;
    o->waits_ctx = &s->jobs;
}

/* What is left to do when it is over. */
static void finish(struct bz_cmd_env *env, const struct build_values *v, struct shop *s,
                   const struct bz_event_counts *counts, int rc, int64_t wall)
{
    struct bz_err err;

    if (counts->executed + counts->failed > 0 && (rc == 0 || rc == BZ_E_TASK))
        bz_build_record_keep(&(struct bz_build_record){.p = &s->p,
                                                       .goal = &s->goal,
                                                       .names = s->jobs.names,
                                                       .made = &s->made,
                                                       .store = &s->store,
                                                       .cache = s->cache,
                                                       .wall = wall,
                                                       .whole = rc == 0},
                             &env->log);
    if (rc == 0 && s->s.pure &&
        bz_build_force_settle(&s->taint, &s->goal, &s->s, s->cache,
                              v->force || v->clear ? &env->log : NULL, &err) < 0)
        bz_out_print(&env->log, "warning: %s\n", err.msg);
}

/* Of tasks only their names are at hand, not what they wait for. */
static void tell_idle_events(struct bz_cmd_env *env, const struct build_values *v,
                             const struct shop *s, int64_t began)
{
    const struct bz_idle *idle = &s->idle;
    BZ_CLEANUP(bz_vec_release) struct BZ_VEC(struct bz_str) names = {0};
    struct bz_build_events e = {.build_dir = s->p.build_dir,
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
    bz_build_events_finish(&e, NULL, bz_library_counted(s->p.library));
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
                     const struct shop *s, struct bz_build_view *view, int64_t began)
{
    const struct bz_idle *idle = &s->idle;

    for (size_t i = 0; i < idle->results.len; i++) {
        view->names = &idle->results.at[i].task;
        bz_build_view_event(view, &(struct bz_event){.kind = BZ_EVENT_CACHED,
                                                     .key = &idle->results.at[i].key});
    }
    tell_idle_events(env, v, s, began);
    write_quality(view);
    if (v->json)
        bz_build_view_json(&env->out, view, &idle->counts, bz_clock_now() - began, 0);
    else
        bz_build_view_end(&env->out, view, &idle->counts, bz_clock_now() - began, 0);
    bz_build_view_release(view);
    return BZ_CMD_EXIT_SUCCESS;
}

/* For the next one, which may have nothing to do either. */
static void keep_idle(const struct build_values *v, struct shop *s,
                      const struct bz_event_counts *counts)
{
    struct bz_goal_opts o = goal_opts(v);
    struct bz_idle_about about = about_idle(s, &o);
    struct bz_err err;

    /* What is made without sandboxes counts only as long as there are none. */
    if (s->p.ground.bare)
        return;
    s->found.counts = *counts;
    if (counts->executed == 0 && may_be_idle(v, s) &&
        bz_idle_keep(&about, &s->goal, &s->s, &s->found, &err) < 0)
        bz_log_debug("build", "%s", err.msg);
}

/* All tasks of the graph are done. That is not enough if others were left out, or if
 * bitzel-out still shows something else. */
static int conclude(const struct build_values *v, struct shop *s,
                    const struct bz_build_view *view,
                    const struct bz_event_counts *counts, struct bz_err *err)
{
    if (s->goal.functions > 0)
        return bz_goal_fail_pruned(&s->goal, err);
    if (view->hidden) {
        *err = view->why;
        return bz_err_wrap(err, "all is built and stored, but cannot be shown");
    }
    keep_idle(v, s, counts);
    return 0;
}

/* The survey and the place of the store; *idle: there is nothing to do. */
static int open_survey(struct bz_cmd_env *env, const struct build_values *v,
                       struct shop *s, bool *idle, struct bz_err *err)
{
    struct bz_goal_opts o = goal_opts(v);
    struct bz_idle_about about;
    int rc = bz_cmd_open_survey(env, &s->p, &s->goal.survey, err);

    if (rc == 0)
        rc = bz_cmd_open_cache_opts(env, &s->arena, &s->store, err);
    if (rc < 0)
        return rc;
    s->p.refresh = v->refresh;
    s->p.resolve = !v->offline && !v->dry;
    bz_taint_open(&s->taint, s->p.build_dir);
    about = about_idle(s, &o);
    *idle = may_be_idle(v, s) && bz_idle_find(&s->idle, &about);
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

/* Builds here. */
static int run_here(struct bz_cmd_env *env, const struct build_values *v,
                    struct bz_err *err)
{
    static const int signals[] = {SIGINT, SIGTERM};
    BZ_CLEANUP(bz_build_screen_close)
    struct bz_build_screen screen = {.log = &env->log, .brief = v->brief};
    BZ_CLEANUP(shop_close) struct shop s = {0};
    BZ_CLEANUP(interrupt_close) struct interrupt stop = {.screen = &screen};
    struct bz_build_view view = {.log = &env->log,
                                 .out = v->json ? NULL : &env->out,
                                 .quiet = env->global.quiet,
                                 .verbose = env->global.verbose,
                                 .screen = &screen,
                                 .failure.quality.file = v->quality};
    struct bz_build_events events = {
        .file = v->events, .view = bz_build_view_event, .view_ctx = &view};
    struct hearing hearing = {&s.made, &s.found, &events};
    struct bz_event_counts counts = {0};
    struct bz_exec_opts o = {0};
    int64_t began = bz_clock_now(), wall = bz_clock_wall();
    bool idle = false;
    int rc = find_settings(env, v, &o.jobs, &screen.beat, err);

    if (rc == 0)
        rc = open_survey(env, v, &s, &idle, err);
    if (rc == 0 && idle)
        return tell_idle(env, v, &s, &view, began);
    if (rc == 0)
        rc = open_goal(env, v, &s, err);
    if (rc == 0)
        rc = bz_jobs_open(&s.jobs, &s.p, &s.goal, err);
    /* Until now a signal ends it at once, as nothing is lost. */
    if (rc == 0)
        rc = bz_signal_open(&stop.sig, signals, BZ_COUNTOF(signals), err);
    if (rc == 0)
        rc = bz_build_screen_open(&screen, screen_of(env, v), err);
    if (rc == 0)
        rc = open_cache(env, v, &s, err);
    if (rc < 0)
        return rc;
    events.wall = wall;
    view.names = s.jobs.names;
    view.jobs = &s.jobs;
    view.failure.store = s.store.root;
    view.failure.bare = s.p.ground.bare;
    bz_build_failure_open(&view.failure);
    fill_opts(v, &s, &o);
    o.event = hear;
    o.event_ctx = &hearing;
    o.target = bz_build_view_target;
    o.target_ctx = &view;
    o.interrupt_fd = stop.sig.fd;
    o.interrupt = take_signal;
    o.interrupt_ctx = &stop;
    o.tick = env->global.quiet ? 0 : BZ_BUILD_SCREEN_TICK;
    o.hold = &screen.console.hold;
    open_events(&events, &s, v, &o);
    bz_build_screen_begin(&screen, s.jobs.names, o.jobs);
    rc = bz_exec_run(&o, &counts, err);
    bz_build_screen_close(&screen);
    if (!v->dry)
        finish(env, v, &s, &counts, rc, wall);
    await_uploads(&s, &stop, &env->log);
    bz_build_events_finish(&events, s.cache, bz_library_counted(s.p.library));
    bz_build_events_close(&events, &env->log);
    if (rc == 0)
        rc = conclude(v, &s, &view, &counts, err);
    bz_build_failure_repeat(&view.failure, &env->log);
    write_quality(&view);
    if (v->json)
        bz_build_view_json(&env->out, &view, &counts, bz_clock_now() - began, rc);
    else if (v->dry)
        bz_build_view_dry(&env->out, &counts);
    else
        bz_build_view_end(&env->out, &view, &counts, bz_clock_now() - began, rc);
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
