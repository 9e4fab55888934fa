#include "cmd_open.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/vec.h"
#include "cmd_settings.h"
#include "os/clock.h"
#include "recipe/runscript.h"

void bz_cmd_open_diags(struct bz_cmd_env *env, struct bz_pipeline *p)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};

    if (!p->library)
        return;
    bz_library_diags(p->library, &text);
    bz_out_put(&env->log, bz_buf_text(&text), text.len);
}

static void show_note(void *ctx, const char *text)
{
    struct bz_out *log = ctx;

    bz_out_paint(log, BZ_OUT_YELLOW, "warning:");
    bz_out_print(log, " ");
    bz_out_plain(log, text, strlen(text));
    bz_out_print(log, "\n");
}

struct names BZ_VEC(const char *);

/* The files of an option, and the one that an environment variable names. */
static void list_files(struct names *out, const struct bz_opt_list *option,
                       const char *variable)
{
    const char *more = getenv(variable);

    for (size_t i = 0; i < option->n; i++)
        BZ_VEC_PUSH(out, option->word[i]);
    if (more)
        BZ_VEC_PUSH(out, more);
}

void bz_cmd_open_advise(struct bz_cmd_env *env, const struct bz_kas *kas)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};

    for (size_t i = 0; kas && i < kas->nrepos; i++) {
        const struct bz_repo *repo = &kas->repos[i];
        struct bz_str url = bz_repo_shown_url(&arena, repo);
        struct bz_str branch = repo->branch.text;

        if (repo->present || !url.p)
            continue;
        bz_out_print(&env->log, "missing repository ");
        bz_out_plain(&env->log, repo->id.p, repo->id.n);
        bz_out_print(&env->log, ": run 'kas checkout', or 'git clone ");
        if (branch.n > 0) {
            bz_out_print(&env->log, "-b ");
            bz_out_plain(&env->log, branch.p, branch.n);
            bz_out_print(&env->log, " ");
        }
        bz_out_plain(&env->log, url.p, url.n);
        bz_out_print(&env->log, " ");
        bz_out_plain(&env->log, repo->path, strlen(repo->path));
        bz_out_print(&env->log, "'\n");
    }
}

/* The layer that comes with this program, unless BITZEL_NO_SAMPLE says not to. */
static bool find_sample(struct bz_cmd_env *env, struct bz_arena *arena,
                        struct bz_sample *out)
{
    const char *no = getenv("BITZEL_NO_SAMPLE");
    struct bz_str state = {0};
    char program[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);

    if (n < 0 || (no && no[0]))
        return false;
    program[n] = '\0';
    if (env->settings_rc == 0)
        state = bz_settings_get(&env->settings, BZ_SETTING_STATE_DIR)->text;
    return bz_sample_find(arena, program, state, out);
}

static void tell_sample(struct bz_cmd_env *env, const struct bz_pipeline *p)
{
    if (env->global.quiet || p->found.by != BZ_LOCATE_SAMPLE || !p->build_dir)
        return;
    bz_out_print(&env->log,
                 "note: there is no project here; this is the sample layer, built in ");
    bz_out_plain(&env->log, p->build_dir, strlen(p->build_dir));
    bz_out_print(&env->log, "\n");
}

typedef int (*open_fn)(struct bz_pipeline *p, const struct bz_pipeline_opts *opts,
                       struct bz_err *err);

struct open_how {
    open_fn open;
    bool ignore_locks;
    bool silent; /* notes come when it is opened again */
};

static int open_with(struct bz_cmd_env *env, const struct open_how *how,
                     struct bz_pipeline *p, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct names first = {0}, last = {0};
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct bz_sample sample;
    struct bz_kas_notes notes = {.fn = show_note, .ctx = &env->log};
    char cwd[PATH_MAX];
    struct bz_pipeline_opts opts = {.cwd = cwd,
                                    .env = (const char *const *)environ,
                                    .project = env->global.project,
                                    .ignore_locks = how->ignore_locks,
                                    .notes = how->silent ? NULL : &notes};
    int rc;

    if (!getcwd(cwd, sizeof(cwd)))
        return bz_fail_sys(err, "find the working directory");
    list_files(&first, &env->global.read, "BBPRECONF");
    list_files(&last, &env->global.postread, "BBPOSTCONF");
    opts.first = first.at;
    opts.nfirst = first.len;
    opts.last = last.at;
    opts.nlast = last.len;
    opts.required = env->settings_rc == 0 &&
                    bz_settings_get(&env->settings, BZ_SETTING_SANDBOX)->number ==
                        BZ_SETTING_SANDBOX_REQUIRED;
    if (env->settings_rc == 0)
        opts.store = bz_settings_get(&env->settings, BZ_SETTING_CACHE_DIR)->text.p;
    if (find_sample(env, &arena, &sample))
        opts.sample = &sample;
    rc = how->open(p, &opts, err);
    if (!how->silent)
        tell_sample(env, p);
    /* A project that is not there is no query that found nothing. */
    if (rc == BZ_E_NOENT)
        err->code = rc = BZ_E_INVAL;
    return rc;
}

int bz_cmd_open_project(struct bz_cmd_env *env, struct bz_pipeline *p,
                        struct bz_err *err)
{
    int rc = open_with(env, &(struct open_how){.open = bz_pipeline_open}, p, err);

    bz_cmd_open_diags(env, p);
    if (rc < 0)
        bz_cmd_open_advise(env, p->kas);
    return rc;
}

int bz_cmd_open_find(struct bz_cmd_env *env, bool ignore_locks, struct bz_pipeline *p,
                     struct bz_err *err)
{
    const struct open_how how = {.open = bz_pipeline_find,
                                 .ignore_locks = ignore_locks};

    return open_with(env, &how, p, err);
}

/* A line that is written over and over, after the first half second. */
struct progress {
    int64_t next; /* when to write it */
    bool shown;
};

static void show_progress(void *ctx, size_t done, size_t total)
{
    struct progress *p = ctx;
    int64_t now = bz_clock_now();

    if (now < p->next)
        return;
    p->next = now + 100 * BZ_CLOCK_MS;
    p->shown = true;
    dprintf(STDERR_FILENO, "\rparsing %zu of %zu recipes", done, total);
}

int bz_cmd_open_survey(struct bz_cmd_env *env, struct bz_pipeline *p,
                       struct bz_survey *s, struct bz_err *err)
{
    struct progress progress = {.next = bz_clock_in(500 * BZ_CLOCK_MS)};
    struct bz_settings *settings;
    int rc = bz_cmd_settings_get(env, &settings, err);

    if (rc == 0)
        rc = bz_cmd_open_find(env, false, p, err);
    if (rc < 0)
        return rc;
    if (p->sweep.threads == 0)
        p->sweep.threads = (unsigned)bz_settings_get(settings, BZ_SETTING_JOBS)->number;
    if (isatty(STDERR_FILENO) && !env->global.quiet) {
        p->sweep.progress = show_progress;
        p->sweep.ctx = &progress;
    }
    rc = bz_pipeline_survey(p, s, err);
    p->sweep.progress = NULL;
    if (progress.shown)
        bz_out_put(&env->log, "\r\033[K", 4);
    bz_cmd_open_diags(env, p);
    bz_out_put(&env->log, bz_buf_text(&s->notes), s->notes.len);
    if (rc < 0)
        bz_cmd_open_advise(env, p->kas);
    if (rc == BZ_E_NOENT)
        err->code = rc = BZ_E_INVAL;
    return rc;
}

void bz_cmd_open_warn_python(struct bz_cmd_env *env, size_t functions)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};

    if (functions == 0 || env->global.quiet)
        return;
    bz_buf_addf(&text, "%zu Python function%s not run: " BZ_RUNSCRIPT_PYTHON, functions,
                functions == 1 ? " was" : "s were");
    show_note(&env->log, bz_buf_text(&text));
}

int bz_cmd_open_warn_meta(struct bz_cmd_env *env, struct bz_meta *m, bool recipe,
                          struct bz_err *err)
{
    BZ_CLEANUP(bz_pyfunc_release) struct bz_pyfunc_set set = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf list = {0};
    int rc = recipe ? bz_pyfunc_of_recipe(m, &list, err)
                    : bz_pyfunc_of_config(m, &list, err);

    if (rc < 0)
        return rc;
    bz_pyfunc_add(&set, bz_buf_str(&list));
    bz_cmd_open_warn_python(env, set.list.len);
    return 0;
}

int bz_cmd_open_defaults(struct bz_cmd_env *env, struct bz_arena *a,
                         struct bz_opt_list *targets, const char **task,
                         struct bz_err *err)
{
    BZ_CLEANUP(bz_pipeline_close) struct bz_pipeline p = {0};
    const struct open_how how = {.open = bz_pipeline_find, .silent = true};
    int rc;

    if (targets->n > 0)
        return 0;
    rc = open_with(env, &how, &p, err);
    if (rc < 0)
        return rc;
    if (!p.kas)
        return bz_fail(err, BZ_E_INVAL,
                       "no target is given, and only a kas file could name one: "
                       "'bitzel recipes' lists what there is, 'world' is all of it");
    targets->word = BZ_ARENA_ARRAY(a, const char *, p.kas->ntargets);
    for (size_t i = 0; i < p.kas->ntargets; i++)
        targets->word[targets->n++] = bz_arena_dup(a, p.kas->targets[i].text).p;
    if (!*task)
        *task = bz_arena_dup(a, p.kas->task.text).p;
    return 0;
}

int bz_cmd_open_targets(struct bz_cmd_env *env, const struct bz_goal_opts *opts,
                        struct bz_goal *goal, bool *said, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf notes = {0}, why = {0};
    int rc = bz_goal_open(goal, opts, &notes, &why, err);

    bz_out_put(&env->log, bz_buf_text(&notes), notes.len);
    bz_out_put(&env->log, bz_buf_text(&why), why.len);
    if (said && notes.len + why.len > 0)
        *said = true;
    return rc;
}

int bz_cmd_open_goal(struct bz_cmd_env *env, const struct bz_goal_opts *opts,
                     struct bz_pipeline *p, struct bz_goal *goal, struct bz_err *err)
{
    int rc = bz_cmd_open_survey(env, p, &goal->survey, err);

    return rc < 0 ? rc : bz_cmd_open_targets(env, opts, goal, NULL, err);
}
