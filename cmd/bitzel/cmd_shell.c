#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "build_view.h"
#include "cmd.h"
#include "cmd_open.h"
#include "cmd_open_cache.h"
#include "exec/exec.h"
#include "exec/failed.h"
#include "os/clock.h"
#include "os/cpu.h"
#include "os/signal.h"
#include "pipeline/jobs.h"
#include "pipeline/signing.h"

struct shell_values {
    const char *target;
    const char *command;
    int verify;
};

static const struct bz_opt opts[] = {
    BZ_OPT_TEXT(struct shell_values, command, 'c', "command", "COMMAND",
                "Run COMMAND instead of an interactive shell"),
    BZ_OPT_CHOICE(struct shell_values, verify, 0, "verify", "WHEN",
                  bz_cmd_open_cache_verifies, -1,
                  "When stored bytes are checked before they are used; else as the "
                  "setting 'cache.verify' says"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {
    BZ_OPT_ONE(struct shell_values, target, "TARGET",
               "A task, as RECIPE:TASK; of a recipe alone, what failed last, or "
               "do_compile"),
    BZ_OPT_END,
};

/* All that was opened, in the order it has to be closed in. */
struct visit {
    struct bz_cmd_env *env;
    const struct shell_values *v;
    struct bz_pipeline p;
    struct bz_goal goal;
    struct bz_signing s;
    struct bz_jobs jobs;
    struct bz_pool *pool;
    struct bz_cache_opts store;
    struct bz_cache *cache;
    struct bz_arena arena;
    struct bz_signal sig;
    int last; /* a signal that came, or 0 */
    struct bz_build_view view;
    uint32_t task;
    struct bz_job_enter enter;
    const char *argv[8];
    bool entered;
    int status; /* of the shell */
};

static void visit_close(struct visit *s)
{
    bz_signal_close(&s->sig);
    bz_cache_close(s->cache);
    bz_pool_free(s->pool);
    if (s->jobs.p)
        bz_jobs_release(&s->jobs);
    bz_signing_release(&s->s);
    bz_goal_close(&s->goal);
    bz_pipeline_close(&s->p);
    bz_build_view_release(&s->view);
    bz_arena_release(&s->arena);
}

static void set_program(struct visit *s)
{
    static const char set_up_and_run[] = ". " BZ_JOB_SETUP "; eval \"$1\"";
    static const char from_env[] = "ENV=" BZ_JOB_SETUP;
    static const char *const run[] = {"/bin/sh", "-c", set_up_and_run, "sh", NULL};
    static const char *const bash[] = {"/bin/bash",  "--noprofile", "--rcfile",
                                       BZ_JOB_SETUP, "-i",          NULL};
    static const char *const sh[] = {"/usr/bin/env", from_env, "/bin/sh", "-i", NULL};
    const char *const *from = s->v->command                    ? run
                              : access("/bin/bash", X_OK) == 0 ? bash
                                                               : sh;
    size_t n = 0;

    while (from[n]) {
        s->argv[n] = from[n];
        n++;
    }
    s->argv[n] = s->v->command; /* or the end */
    s->enter.argv = s->argv;
}

static int make_job(void *ctx, uint32_t task, struct bz_arena *a, struct bz_job *out,
                    struct bz_err *err)
{
    struct visit *s = ctx;
    int rc = bz_jobs_make(&s->jobs, task, a, out, err);

    if (task != s->task)
        return rc;
    /* What cannot be run can be looked at. */
    if (rc == BZ_E_NOSUP)
        rc = 0;
    if (rc == 0)
        rc = bz_jobs_setup(&s->jobs, task, a, &s->enter.setup, err);
    set_program(s);
    out->enter = &s->enter;
    out->timeout = 0;
    out->nlocks = 0;
    return rc;
}

static void hear(void *ctx, const struct bz_event *e)
{
    struct visit *s = ctx;

    if (e->task != s->task || e->kind == BZ_EVENT_FAILED ||
        (e->kind != BZ_EVENT_STARTED && e->kind != BZ_EVENT_DONE)) {
        bz_build_view_event(&s->view, e);
        return;
    }
    if (e->kind == BZ_EVENT_STARTED && !s->v->command && !s->env->global.quiet) {
        const char *upper, *tmp;
        bool failed = bz_failed_find(s->store.root, s->jobs.names[s->task], e->key,
                                     &s->arena, &upper, &tmp);

        bz_out_plain(&s->env->log, s->jobs.names[s->task].p, s->jobs.names[s->task].n);
        bz_out_print(&s->env->log, "%s; " BZ_JOB_SCRIPT " is its script\n",
                     failed ? ", as it was when it failed" : ", before it runs");
        bz_out_flush(&s->env->log);
    }
    if (e->kind == BZ_EVENT_DONE) {
        s->entered = true;
        s->status = e->signal ? 128 + e->signal : e->exit_code;
    }
}

static void take_signal(void *ctx)
{
    struct visit *s = ctx;
    struct bz_err ignored;

    (void)!bz_signal_next(&s->sig, bz_clock_in(0), &s->last, &ignored);
}

static int open_all(struct visit *s, struct bz_err *err)
{
    static const int signals[] = {SIGINT, SIGTERM};
    int rc = bz_signal_open(&s->sig, signals, BZ_COUNTOF(signals), err);
    struct bz_str failed;

    if (rc == 0)
        rc = bz_cmd_open_cache_verify(s->env, s->v->verify, err);
    if (rc == 0)
        rc = bz_pool_new(&(struct bz_pool_opts){0}, &s->pool, err);
    if (rc == 0)
        rc = bz_cmd_open_cache_opts(s->env, &s->arena, &s->store, err);
    if (rc == 0) {
        failed = bz_failed_last(s->store.root, bz_str_from(s->v->target), &s->arena);
        rc = bz_cmd_open_goal(
            s->env,
            &(struct bz_goal_opts){.targets = &s->v->target,
                                   .n = 1,
                                   .task = failed.n ? failed.p : "compile"},
            &s->p, &s->goal, err);
    }
    if (rc == 0)
        rc = bz_signing_run(&s->s, &s->p, &s->goal, NULL, NULL, err);
    bz_cmd_open_diags(s->env, &s->p);
    if (rc == 0 && s->goal.graph.targets.len != 1)
        rc = bz_fail(err, BZ_E_INVAL, "'%s' is more than one task", s->v->target);
    if (rc == 0)
        rc = bz_jobs_open(&s->jobs, &s->p, &s->goal, err);
    return rc < 0 ? rc
                  : bz_cmd_open_cache(s->env, BZ_SHELF_WRITE, s->pool, &s->cache, err);
}

/* A shell takes the terminal for itself and does not give it back. */
static void take_terminal(void)
{
    if (tcgetpgrp(STDIN_FILENO) < 0)
        return;
    (void)signal(SIGTTOU, SIG_IGN);
    (void)!tcsetpgrp(STDIN_FILENO, getpgrp());
    (void)signal(SIGTTOU, SIG_DFL);
}

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    BZ_CLEANUP(visit_close) struct visit s = {.env = env, .v = values};
    struct bz_event_counts counts = {0};
    struct bz_exec_opts o = {.jobs = bz_cpu_count()};
    int rc = open_all(&s, err);

    if (rc < 0)
        return rc;
    s.task = s.goal.graph.targets.at[0];
    if (s.goal.graph.tasks[s.task].facts->noexec)
        return bz_fail(err, BZ_E_INVAL, "%.*s has nothing to run: name another task",
                       BZ_STR_ARG(s.jobs.names[s.task]));
    s.view = (struct bz_build_view){.log = &env->log,
                                    .names = s.jobs.names,
                                    .jobs = &s.jobs,
                                    .quiet = env->global.quiet};
    bz_build_failure_open(&s.view.failure);
    s.jobs.timeout = -1;
    s.jobs.signing = &s.s;
    o.plan = (struct bz_plan_in){.graph = &s.goal.graph,
                                 .keys = s.s.keys,
                                 .bases = s.s.base,
                                 .names = s.jobs.names,
                                 .project = bz_str_from(s.p.build_dir),
                                 .machines = bz_goal_machines(&s.goal),
                                 .unused = &s.s.unused,
                                 .enter = s.task + 1};
    o.cache = s.cache;
    o.store = s.store.root;
    o.pool = s.pool;
    o.job = make_job;
    o.job_ctx = &s;
    o.waits = bz_jobs_waits;
    o.waits_ctx = &s.jobs;
    o.event = hear;
    o.event_ctx = &s;
    o.interrupt_fd = s.sig.fd;
    o.interrupt = take_signal;
    o.interrupt_ctx = &s;
    rc = bz_exec_run(&o, &counts, err);
    take_terminal();
    if (rc == BZ_E_NOSUP)
        env->status = BZ_CMD_EXIT_SANDBOX;
    if (rc == BZ_E_CANCELED && s.last)
        return 128 + s.last;
    return rc < 0 ? rc : s.status;
}

static const struct bz_cmd_term examples[] = {
    {"bitzel shell busybox",                   "Look around where a task of it failed"},
    {"bitzel shell -c env busybox:do_compile", "See the environment of a task"        },
    {NULL,                                     NULL                                   },
};

const struct bz_cmd bz_cmd_shell = {
    .name = "shell",
    .summary = "Enter the sandbox of a task",
    .detail =
        "Starts a shell where the task would run: with the results of what it waits "
        "for, which are built first if need be, its environment, its functions and its "
        "directory. If the task has failed and nothing has changed since, all is as "
        "it left it; what is changed in there stays until the task is run again. "
        "Otherwise what is changed is gone with the shell. The exit status is the "
        "shell's.",
    .opts = opts,
    .args = args,
    .examples = examples,
    .size = sizeof(struct shell_values),
    .run = run,
};
