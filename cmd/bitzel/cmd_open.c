#include "cmd_open.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/vec.h"
#include "cmd_settings.h"
#include "os/clock.h"
#include "recipe/runscript.h"

void bz_cmd_open_diags(struct bz_cmd_env *env, struct bz_catalog *p)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};

    if (!p->library)
        return;
    bz_library_diags(p->library, &text);
    bz_out_put(&env->log, bz_buf_text(&text), text.len);
}

static void tell_assumed(struct bz_cmd_env *env, const struct bz_build *b)
{
    if (b->assumed && !env->global.quiet)
        bz_out_print(&env->log, "note: no build has found out whether sandboxes work "
                                "here; assuming that they do\n");
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

static const char *const *keep_names(struct bz_arena *a, const struct names *names)
{
    const char **kept = BZ_ARENA_ARRAY(a, const char *, names->len);

    for (size_t i = 0; i < names->len; i++)
        kept[i] = names->at[i];
    return kept;
}

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

static void tell_sample(struct bz_cmd_env *env, const struct bz_catalog *p)
{
    if (env->global.quiet || p->found.by != BZ_LOCATE_SAMPLE || !p->build_dir)
        return;
    bz_out_print(&env->log,
                 "note: there is no project here; this is the sample layer, built in ");
    bz_out_plain(&env->log, p->build_dir, strlen(p->build_dir));
    bz_out_print(&env->log, "\n");
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

/* What the stages need that is the same for every command. */
static int prepare(struct bz_cmd_env *env, struct bz_build *b, struct bz_err *err)
{
    struct bz_catalog_opts *o = &b->opts.project;
    struct names first = {0}, last = {0};
    struct bz_sample *sample = BZ_ARENA_NEW(&b->arena, struct bz_sample);
    char cwd[PATH_MAX];

    if (!getcwd(cwd, sizeof(cwd)))
        return bz_fail_sys(err, "find the working directory");
    list_files(&first, &env->global.read, "BBPRECONF");
    list_files(&last, &env->global.postread, "BBPOSTCONF");
    o->cwd = bz_arena_dup(&b->arena, bz_str_from(cwd)).p;
    o->env = (const char *const *)environ;
    o->project = env->global.project;
    o->first = keep_names(&b->arena, &first);
    o->nfirst = first.len;
    o->last = keep_names(&b->arena, &last);
    o->nlast = last.len;
    bz_vec_release(&first);
    bz_vec_release(&last);
    if (find_sample(env, &b->arena, sample))
        o->sample = sample;
    if (env->settings_rc == 0) {
        b->opts.required =
            bz_settings_get(&env->settings, BZ_SETTING_SANDBOX)->number ==
            BZ_SETTING_SANDBOX_REQUIRED;
        if (!b->opts.cache.root)
            b->opts.cache.root =
                bz_settings_get(&env->settings, BZ_SETTING_CACHE_DIR)->text.p;
        if (b->catalog.sweep.threads == 0)
            b->catalog.sweep.threads =
                (unsigned)bz_settings_get(&env->settings, BZ_SETTING_JOBS)->number;
    }
    return 0;
}

void bz_cmd_open_ended(void *ctx, struct bz_build *b, int rc)
{
    struct bz_cmd_env *env = ctx;

    if (b->stage == BZ_BUILD_PROJECT && b->opts.project.notes)
        tell_sample(env, &b->catalog);
    if (b->stage == BZ_BUILD_CATALOG) {
        struct progress *progress = b->catalog.sweep.ctx;

        if (progress && progress->shown)
            bz_out_put(&env->log, "\r\033[K", 4);
        b->catalog.sweep.progress = NULL;
    }
    bz_cmd_open_diags(env, &b->catalog);
    if (b->stage == BZ_BUILD_CATALOG) {
        struct bz_buf *notes = &b->catalog.survey.notes;

        bz_out_put(&env->log, bz_buf_text(notes), notes->len);
        if (rc < 0)
            bz_cmd_open_advise(env, b->catalog.kas);
    }
    if (b->stage == BZ_BUILD_KEYS)
        tell_assumed(env, b);
    bz_out_put(&env->log, bz_buf_text(&b->notes), b->notes.len);
    bz_out_put(&env->log, bz_buf_text(&b->why), b->why.len);
}

int bz_cmd_open_build(struct bz_cmd_env *env, struct bz_build *b,
                      enum bz_build_stage last, struct bz_err *err)
{
    struct bz_kas_notes notes = {.fn = show_note, .ctx = &env->log};
    struct progress progress = {.next = bz_clock_in(500 * BZ_CLOCK_MS)};
    struct bz_settings *settings;
    int rc = 0;

    if (last >= BZ_BUILD_CATALOG)
        rc = bz_cmd_settings_get(env, &settings, err);
    if (rc == 0 && b->stage == BZ_BUILD_NOTHING) {
        b->opts.project.notes = &notes;
        rc = prepare(env, b, err);
    }
    if (rc < 0)
        return rc;
    if (isatty(STDERR_FILENO) && !env->global.quiet) {
        b->catalog.sweep.progress = show_progress;
        b->catalog.sweep.ctx = &progress;
    }
    if (!b->opts.ended)
        b->opts.ended = bz_cmd_open_ended;
    b->opts.ended_ctx = env;
    rc = bz_build_to(b, last, err);
    b->opts.project.notes = NULL;
    b->catalog.sweep.progress = NULL;
    b->catalog.sweep.ctx = NULL;
    /* A project that is not there is no query that found nothing. */
    if (rc == BZ_E_NOENT && b->stage <= BZ_BUILD_CATALOG)
        err->code = rc = BZ_E_INVAL;
    return rc;
}

int bz_cmd_open_project(struct bz_cmd_env *env, struct bz_build *b, struct bz_err *err)
{
    int rc = bz_cmd_open_build(env, b, BZ_BUILD_PROJECT, err);

    if (rc == 0)
        rc = bz_catalog_load(&b->catalog, err);
    bz_cmd_open_diags(env, &b->catalog);
    if (rc < 0)
        bz_cmd_open_advise(env, b->catalog.kas);
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
    BZ_CLEANUP(bz_build_close) struct bz_build b = {0};
    const struct bz_kas *kas;
    int rc;

    if (targets->n > 0)
        return 0;
    rc = prepare(env, &b, err); /* what there is to say is said by who builds them */
    if (rc == 0)
        rc = bz_build_to(&b, BZ_BUILD_PROJECT, err);
    if (rc == BZ_E_NOENT)
        err->code = rc = BZ_E_INVAL;
    if (rc < 0)
        return rc;
    kas = b.catalog.kas;
    if (!kas)
        return bz_fail(err, BZ_E_INVAL,
                       "no target is given, and only a kas file could name one: "
                       "'bitzel recipes' lists what there is, 'world' is all of it");
    targets->word = BZ_ARENA_ARRAY(a, const char *, kas->ntargets);
    for (size_t i = 0; i < kas->ntargets; i++)
        targets->word[targets->n++] = bz_arena_dup(a, kas->targets[i].text).p;
    if (!*task)
        *task = bz_arena_dup(a, kas->task.text).p;
    return 0;
}
