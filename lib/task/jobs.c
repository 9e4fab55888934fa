#include "task/jobs.h"

#include <stdlib.h>

#include "base/mem.h"
#include "os/path.h"
#include "recipe/runscript.h"
#include "recipe/script.h"
#include "sig/files.h"
#include "survey/evaluate.h"
#include "task/builtin_step.h"
#include "task/parallel.h"
#include "task/timelimit.h"

int bz_jobs_open(struct bz_jobs *j, struct bz_catalog *p, const struct bz_goal *goal,
                 const struct bz_ground *ground, struct bz_err *err)
{
    const struct bz_tgraph *g = &goal->graph;
    int rc = bz_catalog_load(p, err);

    *j = (struct bz_jobs){.p = p, .goal = goal, .timeout = -1, .ground = ground};
    j->recipes = bz_mem_array(g->nrecipes, sizeof(*j->recipes));
    if (rc < 0)
        return rc;
    bz_pathmap_open(&j->paths, p, ground->root, ground->bare);
    return 0;
}

void bz_jobs_release(struct bz_jobs *j)
{
    for (uint32_t r = 0; j->recipes && r < j->goal->graph.nrecipes; r++)
        bz_evaluate_release(&j->recipes[r]);
    bz_fetch_client_free(j->client);
    free(j->recipes);
    bz_pathmap_release(&j->paths);
    bz_arena_release(&j->arena);
    *j = (struct bz_jobs){0};
}

/* In place of the one that was evaluated first. */
static void keep_recipe(struct bz_jobs *j, uint32_t recipe)
{
    uint32_t *slot = &j->kept[j->nkept % BZ_JOBS_KEPT];

    if (j->nkept++ >= BZ_JOBS_KEPT) {
        bz_evaluate_release(&j->recipes[*slot]);
    }
    *slot = recipe;
}

int bz_jobs_vars(struct bz_jobs *j, uint32_t recipe, struct bz_vars **out,
                 struct bz_err *err)
{
    struct bz_evaluated *r = &j->recipes[recipe];
    int rc = 0;

    if (!r->vars) {
        const struct bz_tgraph_recipe *of = &j->goal->graph.recipes[recipe];

        rc = j->signing ? bz_signing_recipe(j->signing, j->p, j->goal, recipe, r, err)
                        : bz_evaluate_recipe(j->p, of->part, of->facts, r, err);
        if (rc == 0)
            keep_recipe(j, recipe);
        else
            bz_evaluate_release(r);
    }
    *out = r->vars;
    return rc;
}

/* Files of a task lie where BitBake leaves them: in the recipe's T, on the host. */
static int set_files(const struct bz_jobs *j, struct bz_vars *v, struct bz_str task,
                     struct bz_arena *a, struct bz_job *out, struct bz_err *err)
{
    struct bz_str dir, inside;
    int rc = bz_vars_get(v, BZ_STR("T"), 0, &dir, err);

    if (rc == 0 && !bz_path_is_absolute(dir))
        return bz_fail(err, BZ_E_INVAL, "T, where logs go, is '%.*s': set it to a path",
                       BZ_STR_ARG(dir));
    if (rc < 0)
        return rc;
    out->temp = bz_pathmap_inside(&j->paths, a, dir);
    inside = out->temp;
    if (!bz_pathmap_cut_root(&j->paths, &inside) || !bz_path_is_safe(inside))
        return bz_fail(err, BZ_E_INVAL,
                       "T, where logs go, is '%.*s': it has to be below %s",
                       BZ_STR_ARG(dir), j->p->build_dir);
    out->run = bz_arena_printf(a, "%.*s/run.%.*s", BZ_STR_ARG(dir), BZ_STR_ARG(task)).p;
    out->log = bz_arena_printf(a, "%.*s/log.%.*s", BZ_STR_ARG(dir), BZ_STR_ARG(task)).p;
    return 0;
}

struct locks BZ_VEC(const char *);

/* Files that only one function at a time may have locked. */
static int add_locks(struct bz_vars *v, struct bz_str name, struct bz_arena *a,
                     struct locks *out, struct bz_err *err)
{
    struct bz_str words = {0}, word, top = {0};
    int rc = bz_vars_get_flag(v, name, BZ_STR("lockfiles"), 0, &words, err);

    if (rc == 0 && words.n > 0)
        rc = bz_vars_get(v, BZ_STR("TOPDIR"), 0, &top, err);
    while (rc == 0 && bz_runscript_next_dir(&words, top, &word)) {
        if (!bz_path_is_absolute(word)) {
            (void)bz_fail(err, BZ_E_INVAL,
                          "%.*s[lockfiles] has '%.*s': give a whole path",
                          BZ_STR_ARG(name), BZ_STR_ARG(word));
            return bz_runscript_blame(v, name, "lockfiles", err);
        }
        BZ_VEC_PUSH(out, bz_arena_dup(a, word).p);
    }
    return rc;
}

/* A task has its own locks and those of the functions around it, as long as it runs. */
static int set_locks(struct bz_vars *v, struct bz_str task, struct bz_arena *a,
                     struct bz_job *out, struct bz_err *err)
{
    static const struct bz_str around[] = {
        {"prefuncs",  8},
        {"postfuncs", 9}
    };
    BZ_CLEANUP(bz_vec_release) struct locks all = {0};
    const char **list;
    int rc = add_locks(v, task, a, &all, err);

    for (size_t i = 0; i < BZ_COUNTOF(around) && rc == 0; i++) {
        struct bz_str words = {0}, word;

        rc = bz_vars_get_flag(v, task, around[i], 0, &words, err);
        while (rc == 0 && bz_str_next_word(&words, &word))
            rc = add_locks(v, word, a, &all, err);
    }
    if (rc < 0 || all.len == 0)
        return rc;
    list = BZ_ARENA_ARRAY(a, const char *, all.len);
    memcpy(list, all.at, all.len * sizeof(*list));
    out->locks = list;
    out->nlocks = all.len;
    return 0;
}

/* What is different while the task runs. */
static int enter_task(const struct bz_jobs *j, struct bz_vars *v, struct bz_str task,
                      struct bz_err *err)
{
    static const struct bz_vars_at nowhere = {0};
    int rc = bz_runscript_enter(v, task, bz_catalog_path(j->p), err);

    if (rc == 0 && j->ground->bare && bz_vars_exists(v, BZ_STR("HOME")))
        rc = bz_vars_set(v, BZ_STR("HOME"), bz_str_from(j->ground->tmp), 0, &nowhere,
                         err);
    return rc;
}

struct scripts {
    struct bz_buf before, main;
};

static void scripts_release(struct scripts *s)
{
    bz_buf_release(&s->before);
    bz_buf_release(&s->main);
}

/* The scripts of a task, and what bitzel does of it by itself between them. */
static int write_scripts(struct bz_jobs *j, struct bz_vars *v, uint32_t task,
                         struct scripts *out, struct bz_job_fill *fill,
                         struct bz_err *err)
{
    struct bz_str name = j->goal->graph.tasks[task].facts->name;
    BZ_CLEANUP(bz_buf_release) struct bz_buf body = {0};
    enum bz_builtin what;
    int rc = bz_builtin_of(v, name, &what, err);

    if (rc < 0)
        return rc;
    if (what == BZ_BUILTIN_NONE)
        return bz_runscript_write(v, name, bz_str_of(NULL, 0), &out->main, err);
    if (what == BZ_BUILTIN_PATCH) {
        rc = bz_builtin_step_patch(j, task, &body, err);
        return rc < 0 ? rc
                      : bz_runscript_write(v, name, bz_buf_str(&body), &out->main, err);
    }
    rc = bz_builtin_step_fill(j, v, task, what, fill, err);
    if (rc == 0)
        rc = bz_runscript_before(v, name, &out->before, err);
    return rc < 0 ? rc : bz_runscript_after(v, name, &out->main, err);
}

/* Its makes, if they may run several commands at a time, do so with all others'. */
static void share_makes(struct bz_vars *v, struct bz_arena *a, struct bz_job *out)
{
    static const struct bz_str names[] = {
        {"PARALLEL_MAKE",     13},
        {"PARALLEL_MAKEINST", 17}
    };
    struct bz_str *const scripts[] = {&out->before, &out->script};
    struct bz_err ignored;
    struct bz_str value;

    for (size_t i = 0; i < BZ_COUNTOF(names); i++)
        if (bz_vars_get(v, names[i], 0, &value, &ignored) == 0 && value.n > 0)
            for (size_t k = 0; k < BZ_COUNTOF(scripts); k++)
                out->makes = bz_parallel_share(scripts[k], value, a) || out->makes;
}

/* What was signed is shown, and nothing else. */
static void set_views(const struct bz_jobs *j, uint32_t task, struct bz_arena *a,
                      struct bz_job *out)
{
    struct bz_str list = j->signing ? bz_signing_list(j->signing, task) : BZ_STR("");
    BZ_CLEANUP(bz_vec_release) struct BZ_VEC(struct bz_job_view) views = {0};
    struct bz_job_view *kept;
    struct bz_str path;

    while (bz_files_next_view(&list, &path)) {
        path = bz_arena_dup(a, path);
        BZ_VEC_PUSH(&views, (struct bz_job_view){
                                bz_pathmap_inside(&j->paths, a, path).p, path.p});
    }
    kept = BZ_ARENA_ARRAY(a, struct bz_job_view, views.len);
    for (size_t i = 0; i < views.len; i++)
        kept[i] = views.at[i];
    out->views = kept;
    out->nviews = views.len;
}

int bz_jobs_make(void *ctx, uint32_t task, struct bz_arena *a, struct bz_job *out,
                 struct bz_err *err)
{
    struct bz_jobs *j = ctx;
    const struct bz_tgraph *g = &j->goal->graph;
    struct bz_str name = g->tasks[task].facts->name, workdir = {0};
    BZ_CLEANUP(scripts_release) struct scripts scripts = {0};
    BZ_CLEANUP(bz_vars_freep) struct bz_vars *v = NULL;
    struct bz_vars *recipe;
    int rc = bz_jobs_vars(j, g->tasks[task].recipe, &recipe, err);

    *out = (struct bz_job){.root = g->tasks[task].facts->fakeroot,
                           .network = g->tasks[task].facts->network};
    if (rc < 0)
        return rc;
    v = bz_vars_new(recipe);
    rc = enter_task(j, v, name, err);
    if (rc == 0)
        rc = write_scripts(j, v, task, &scripts, &out->fill, err);
    if (rc == 0)
        rc = bz_vars_get(v, BZ_STR("WORKDIR"), 0, &workdir, err);
    if (rc == 0)
        rc = set_files(j, v, name, a, out, err);
    if (rc == 0)
        rc = set_locks(v, name, a, out, err);
    if (rc == 0)
        rc = bz_timelimit_get(v, name, j->timeout, &out->timeout, err);
    if (rc < 0)
        return rc;
    out->before = bz_pathmap_inside(&j->paths, a, bz_buf_str(&scripts.before));
    out->script = bz_pathmap_inside(&j->paths, a, bz_buf_str(&scripts.main));
    out->workdir = bz_pathmap_inside(&j->paths, a, workdir);
    share_makes(v, a, out);
    set_views(j, task, a, out);
    return 0;
}

int bz_jobs_setup(struct bz_jobs *j, uint32_t task, struct bz_arena *a,
                  struct bz_str *out, struct bz_err *err)
{
    const struct bz_tgraph *g = &j->goal->graph;
    struct bz_str name = g->tasks[task].facts->name, dirs = {0}, top = {0}, word;
    struct bz_str dir = j->paths.root;
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    BZ_CLEANUP(bz_vars_freep) struct bz_vars *v = NULL;
    struct bz_vars *recipe;
    struct bz_err ignored;
    int rc = bz_jobs_vars(j, g->tasks[task].recipe, &recipe, err);

    if (rc < 0)
        return rc;
    v = bz_vars_new(recipe);
    rc = enter_task(j, v, name, err);
    if (rc == 0)
        rc = bz_vars_get_flag(v, name, BZ_STR("dirs"), 0, &dirs, err);
    if (rc == 0)
        rc = bz_vars_get(v, BZ_STR("TOPDIR"), 0, &top, err);
    if (rc < 0)
        return rc;
    /* Of a task that is no shell function the environment is there all the same. */
    if (bz_script_func(v, name, &text, &ignored) < 0)
        bz_buf_add_char(&text, '\n');
    while (bz_runscript_next_dir(&dirs, top, &word))
        dir = word;
    bz_buf_addf(&text, "mkdir -p ");
    bz_buf_add_quoted(&text, dir);
    bz_buf_addf(&text, "\ncd ");
    bz_buf_add_quoted(&text, dir);
    bz_buf_add_char(&text, '\n');
    *out = bz_pathmap_inside(&j->paths, a, bz_buf_str(&text));
    return 0;
}
