#include "pipeline/jobs.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/mem.h"
#include "os/path.h"
#include "pipeline/builtin.h"
#include "pipeline/evaluate.h"
#include "pipeline/parallel.h"
#include "pipeline/timelimit.h"
#include "recipe/runscript.h"
#include "recipe/script.h"
#include "sig/files.h"

static int longest_first(const void *a, const void *b)
{
    size_t x = ((const struct bz_jobs_place *)a)->host.n;
    size_t y = ((const struct bz_jobs_place *)b)->host.n;

    return x < y ? 1 : x > y ? -1 : 0;
}

static bool taken(const struct bz_jobs *j, struct bz_str inside)
{
    for (size_t i = 0; i < j->places.len; i++)
        if (bz_str_eq(j->places.at[i].inside, inside))
            return true;
    return false;
}

/* Where there are no namespaces, layers are seen where they are. */
static void add_as_is(struct bz_jobs *j, struct bz_str dir)
{
    struct bz_str plain = bz_arena_dup(&j->arena, dir);
    struct bz_err ignored;
    struct bz_path path;

    if (bz_path_normalise(dir, &path, &ignored) == 0)
        plain = bz_arena_dup(&j->arena, bz_path_str(&path));
    BZ_VEC_PUSH(&j->places,
                (struct bz_jobs_place){bz_arena_dup(&j->arena, dir), plain});
    BZ_VEC_PUSH(&j->places, (struct bz_jobs_place){plain, plain});
    BZ_VEC_PUSH(&j->layers, (struct bz_job_view){plain.p, plain.p});
}

/* Layers are seen under their directories' names, which say the same on every machine;
 * the second of two that have the same gets a number. */
static void add_layer(struct bz_jobs *j, struct bz_str dir, struct bz_str base)
{
    struct bz_str inside =
        bz_arena_printf(&j->arena, BZ_JOB_LAYERS "/%.*s", BZ_STR_ARG(base));
    struct bz_err ignored;
    struct bz_path plain;

    if (j->ground->bare) {
        add_as_is(j, dir);
        return;
    }
    for (unsigned n = 2; taken(j, inside); n++)
        inside =
            bz_arena_printf(&j->arena, BZ_JOB_LAYERS "/%.*s-%u", BZ_STR_ARG(base), n);
    dir = bz_arena_dup(&j->arena, dir);
    BZ_VEC_PUSH(&j->places, (struct bz_jobs_place){dir, inside});
    BZ_VEC_PUSH(&j->layers, (struct bz_job_view){inside.p, dir.p});
    /* Metadata has it as BBLAYERS says it, with ".." perhaps, but may tidy it up. */
    if (bz_path_normalise(dir, &plain, &ignored) == 0 &&
        !bz_str_eq(bz_path_str(&plain), dir))
        BZ_VEC_PUSH(&j->places,
                    (struct bz_jobs_place){bz_arena_dup(&j->arena, bz_path_str(&plain)),
                                           inside});
}

/* Where openembedded-core has its scripts: above its layer, and in no other. */
static void add_core(struct bz_jobs *j)
{
    struct bz_err ignored;
    struct bz_str dir = {0};

    if (bz_vars_get(j->p->mcs.at[0].config->vars, BZ_STR("COREBASE"), 0, &dir,
                    &ignored) < 0 ||
        !bz_path_is_absolute(dir))
        return;
    for (size_t i = 0; i < j->places.len; i++)
        if (bz_str_eq(j->places.at[i].host, dir))
            return;
    add_layer(j, dir, BZ_STR("corebase"));
}

int bz_jobs_open(struct bz_jobs *j, struct bz_pipeline *p, const struct bz_goal *goal,
                 struct bz_err *err)
{
    const struct bz_tgraph *g = &goal->graph;
    int rc = bz_pipeline_load(p, err);

    *j = (struct bz_jobs){
        .p = p, .goal = goal, .timeout = -1, .ground = bz_pipeline_ground(p)};
    j->recipes = bz_mem_array(g->nrecipes, sizeof(*j->recipes));
    j->names = bz_mem_array(g->dag.n, sizeof(*j->names));
    if (rc < 0)
        return rc;
    for (uint32_t t = 0; t < g->dag.n; t++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf name = {0};

        bz_goal_task_name(goal, t, &name);
        j->names[t] = bz_arena_dup(&j->arena, bz_buf_str(&name));
    }
    BZ_VEC_PUSH(&j->places, (struct bz_jobs_place){bz_str_from(p->build_dir),
                                                   bz_str_from(j->ground->root)});
    for (size_t i = 0; i < p->layers.all.len; i++)
        if (p->layers.all.at[i].dir.p)
            add_layer(j, p->layers.all.at[i].dir,
                      bz_path_basename(p->layers.all.at[i].dir));
    add_core(j);
    BZ_VEC_SORT(&j->places, longest_first);
    return 0;
}

void bz_jobs_release(struct bz_jobs *j)
{
    for (uint32_t r = 0; j->recipes && r < j->goal->graph.nrecipes; r++)
        bz_evaluate_release(&j->recipes[r]);
    bz_fetch_client_free(j->client);
    free(j->recipes);
    free(j->names);
    bz_vec_release(&j->places);
    bz_vec_release(&j->layers);
    bz_arena_release(&j->arena);
    *j = (struct bz_jobs){0};
}

/* Whether a name in a path would go on with it. */
static bool goes_on(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '+' || c == '.';
}

static const struct bz_jobs_place *place_at(const struct bz_jobs *j, struct bz_str rest)
{
    for (size_t i = 0; i < j->places.len; i++) {
        struct bz_str host = j->places.at[i].host;

        if (bz_str_starts(rest, host) && (rest.n == host.n || !goes_on(rest.p[host.n])))
            return &j->places.at[i];
    }
    return NULL;
}

struct bz_str bz_jobs_inside(const struct bz_jobs *j, struct bz_arena *a,
                             struct bz_str text)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};

    while (text.n > 0) {
        const struct bz_jobs_place *p = text.p[0] == '/' ? place_at(j, text) : NULL;
        size_t n = 1;

        if (p) {
            bz_buf_add_str(&out, p->inside);
            text = bz_str_drop(text, p->host.n);
            continue;
        }
        while (n < text.n && text.p[n] != '/')
            n++;
        bz_buf_add(&out, text.p, n);
        text = bz_str_drop(text, n);
    }
    return bz_arena_dup(a, bz_buf_str(&out));
}

bool bz_jobs_cut_root(const struct bz_jobs *j, struct bz_str *path)
{
    struct bz_str rest = *path;

    if (!bz_str_cut_prefix(&rest, bz_str_from(j->ground->root)) ||
        !bz_str_cut_prefix(&rest, BZ_STR("/")))
        return false;
    *path = rest;
    return true;
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
        rc = bz_evaluate_recipe(j->p, j->goal, recipe, r, err);
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
    out->temp = bz_jobs_inside(j, a, dir);
    inside = out->temp;
    if (!bz_jobs_cut_root(j, &inside) || !bz_path_is_safe(inside))
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
    int rc = bz_runscript_enter(v, task, bz_pipeline_path(j->p), err);

    if (rc == 0 && j->ground->bare && bz_vars_exists(v, BZ_STR("HOME")))
        rc = bz_vars_set(v, BZ_STR("HOME"), bz_str_from(j->ground->tmp), 0, &nowhere,
                         err);
    return rc;
}

bool bz_jobs_waits(void *ctx, uint32_t task)
{
    const struct bz_jobs *j = ctx;

    return bz_builtin_waits(j->goal->graph.tasks[task].facts->name);
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
        rc = bz_builtin_patch(j, task, &body, err);
        return rc < 0 ? rc
                      : bz_runscript_write(v, name, bz_buf_str(&body), &out->main, err);
    }
    rc = bz_builtin_fill(j, v, task, what, fill, err);
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
    BZ_CLEANUP(bz_vec_release) struct bz_view_list views = {0};
    struct bz_job_view *kept;
    struct bz_str path;

    while (bz_files_next_view(&list, &path)) {
        path = bz_arena_dup(a, path);
        BZ_VEC_PUSH(&views, (struct bz_job_view){bz_jobs_inside(j, a, path).p, path.p});
    }
    kept = BZ_ARENA_ARRAY(a, struct bz_job_view, views.len);
    for (size_t i = 0; i < views.len; i++)
        kept[i] = views.at[i];
    out->views = kept;
    out->nviews = views.len;
}

struct checked {
    const struct bz_jobs *jobs;
    uint32_t task;
};

/* Local sources are signed with do_fetch, and read by what comes after it too. */
static int check(void *ctx, struct bz_err *err)
{
    const struct checked *c = ctx;
    const struct bz_jobs *j = c->jobs;
    const struct bz_tgraph *g = &j->goal->graph;
    uint32_t fetch = BZ_NEED_NONE;
    int rc = bz_signing_recheck(j->signing, c->task, err);

    if (bz_str_eq(g->tasks[c->task].facts->name, BZ_STR("do_unpack")))
        fetch = bz_tgraph_find(g, g->tasks[c->task].recipe, BZ_STR("do_fetch"));
    if (rc == 0 && fetch != BZ_NEED_NONE)
        rc = bz_signing_recheck(j->signing, fetch, err);
    return rc;
}

static void set_check(const struct bz_jobs *j, uint32_t task, struct bz_arena *a,
                      struct bz_job *out)
{
    struct checked *c = BZ_ARENA_NEW(a, struct checked);

    *c = (struct checked){j, task};
    if (j->signing)
        out->check = (struct bz_job_check){check, c};
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
    out->before = bz_jobs_inside(j, a, bz_buf_str(&scripts.before));
    out->script = bz_jobs_inside(j, a, bz_buf_str(&scripts.main));
    out->workdir = bz_jobs_inside(j, a, workdir);
    share_makes(v, a, out);
    set_views(j, task, a, out);
    set_check(j, task, a, out);
    return 0;
}

int bz_jobs_setup(struct bz_jobs *j, uint32_t task, struct bz_arena *a,
                  struct bz_str *out, struct bz_err *err)
{
    const struct bz_tgraph *g = &j->goal->graph;
    struct bz_str name = g->tasks[task].facts->name, dirs = {0}, top = {0}, word;
    struct bz_str dir = bz_str_from(j->ground->root);
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
    *out = bz_jobs_inside(j, a, bz_buf_str(&text));
    return 0;
}
