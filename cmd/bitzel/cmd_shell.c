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
#include "sig/signing.h"
#include "task/jobs.h"

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

struct visit {
    struct bz_cmd_env *env;
    const struct shell_values *v;
    struct bz_build b;
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
    bz_build_close(&s->b);
    bz_build_view_release(&s->view);
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
    int rc = bz_jobs_make(&s->b.jobs, task, a, out, err);

    if (task != s->task)
        return rc;
    /* What cannot be run can be looked at. */
    if (rc == BZ_E_NOSUP)
        rc = 0;
    if (rc == 0)
        rc = bz_jobs_setup(&s->b.jobs, task, a, &s->enter.setup, err);
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
        bool failed = bz_failed_find(s->b.opts.cache.root, s->b.names[s->task], e->key,
                                     &s->b.arena, &upper, &tmp);

        bz_out_plain(&s->env->log, s->b.names[s->task].p, s->b.names[s->task].n);
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

static int sign(struct visit *s, struct bz_err *err)
{
    static const int signals[] = {SIGINT, SIGTERM};
    struct bz_build *b = &s->b;
    struct bz_str failed;
    int rc = bz_signal_open(&s->sig, signals, BZ_COUNTOF(signals), err);

    if (rc < 0)
        return rc;
    failed = bz_failed_last(b->opts.cache.root, bz_str_from(s->v->target), &b->arena);
    b->opts.targets = (struct bz_goal_opts){
        .targets = &s->v->target, .n = 1, .task = failed.n ? failed.p : "compile"};
    b->opts.timeout = -1;
    b->opts.runs = true;
    rc = bz_cmd_open_build(s->env, b, BZ_BUILD_KEYS, err);
    if (rc < 0)
        return rc;
    if (b->goal.graph.targets.len != 1)
        return bz_fail(err, BZ_E_INVAL, "'%s' is more than one task", s->v->target);
    s->task = b->goal.graph.targets.at[0];
    if (b->goal.graph.tasks[s->task].facts->noexec)
        return bz_fail(err, BZ_E_INVAL, "%.*s has nothing to run: name another task",
                       BZ_STR_ARG(b->names[s->task]));
    return 0;
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
    static const struct bz_cmd_open_cache_without all = {false, false};
    BZ_CLEANUP(bz_cmd_open_cache_forget)
    struct bz_trust_signer signer = {{{0}}, {{0}}};
    BZ_CLEANUP(visit_close) struct visit s = {.env = env, .v = values};
    int rc = bz_cmd_open_cache_verify(env, s.v->verify, err);

    if (rc == 0)
        rc = bz_cmd_open_cache_build(env, &s.b.arena, &all, &s.b.opts.cache, &signer,
                                     err);
    if (rc == 0)
        rc = sign(&s, err);
    if (rc == 0 && s.b.ground.bare) { /* nobody is let in without a sandbox */
        *err = s.b.ground.why;
        rc = BZ_E_NOSUP;
        env->status = BZ_CMD_EXIT_SANDBOX;
    }
    if (rc < 0)
        return rc;
    s.view = (struct bz_build_view){.log = &env->log,
                                    .names = s.b.names,
                                    .build = &s.b,
                                    .quiet = env->global.quiet};
    bz_build_failure_open(&s.view.failure);
    s.b.exec = (struct bz_exec_opts){.plan.enter = s.task + 1,
                                     .jobs = bz_cpu_count(),
                                     .job = make_job,
                                     .job_ctx = &s,
                                     .event = hear,
                                     .event_ctx = &s,
                                     .interrupt_fd = s.sig.fd,
                                     .interrupt = take_signal,
                                     .interrupt_ctx = &s};
    rc = bz_cmd_open_build(env, &s.b, BZ_BUILD_RESULTS, err);
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
