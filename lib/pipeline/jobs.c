#include "pipeline/jobs.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/mem.h"
#include "os/path.h"
#include "pipeline/evaluate.h"
#include "recipe/runscript.h"

struct bz_jobs_recipe {
    struct bz_finalize *finalize; /* NULL: not evaluated yet */
    struct bz_vars *vars;
};

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

/* Layers are seen under their directories' names, which say the same on every machine;
 * the second of two that have the same gets a number. */
static void add_layer(struct bz_jobs *j, struct bz_str dir)
{
    struct bz_str base = bz_path_basename(dir);
    struct bz_str inside =
        bz_arena_printf(&j->arena, BZ_JOB_LAYERS "/%.*s", BZ_STR_ARG(base));
    struct bz_err ignored;
    struct bz_path plain;

    for (unsigned n = 2; taken(j, inside); n++)
        inside =
            bz_arena_printf(&j->arena, BZ_JOB_LAYERS "/%.*s-%u", BZ_STR_ARG(base), n);
    dir = bz_arena_dup(&j->arena, dir);
    BZ_VEC_PUSH(&j->places, (struct bz_jobs_place){dir, inside});
    BZ_VEC_PUSH(&j->views, (struct bz_job_view){inside.p, dir.p});
    /* Metadata has it as BBLAYERS says it, with ".." perhaps, but may tidy it up. */
    if (bz_path_normalise(dir, &plain, &ignored) == 0 &&
        !bz_str_eq(bz_path_str(&plain), dir))
        BZ_VEC_PUSH(&j->places,
                    (struct bz_jobs_place){bz_arena_dup(&j->arena, bz_path_str(&plain)),
                                           inside});
}

int bz_jobs_open(struct bz_jobs *j, struct bz_pipeline *p, const struct bz_goal *goal,
                 struct bz_err *err)
{
    const struct bz_tgraph *g = &goal->graph;
    int rc = bz_pipeline_load(p, err);

    *j = (struct bz_jobs){.p = p, .goal = goal};
    j->recipes = bz_mem_array(g->nrecipes, sizeof(*j->recipes));
    j->names = bz_mem_array(g->dag.n, sizeof(*j->names));
    if (rc < 0)
        return rc;
    for (uint32_t t = 0; t < g->dag.n; t++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf name = {0};

        bz_goal_task_name(goal, t, &name);
        j->names[t] = bz_arena_dup(&j->arena, bz_buf_str(&name));
    }
    BZ_VEC_PUSH(&j->places,
                (struct bz_jobs_place){bz_str_from(p->build_dir), BZ_STR(BZ_JOB_ROOT)});
    for (size_t i = 0; i < p->layers.all.len; i++)
        if (p->layers.all.at[i].dir.p)
            add_layer(j, p->layers.all.at[i].dir);
    BZ_VEC_SORT(&j->places, longest_first);
    return 0;
}

void bz_jobs_release(struct bz_jobs *j)
{
    for (uint32_t r = 0; j->recipes && r < j->goal->graph.nrecipes; r++)
        bz_finalize_free(j->recipes[r].finalize);
    free(j->recipes);
    free(j->names);
    bz_vec_release(&j->places);
    bz_vec_release(&j->views);
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

int bz_jobs_vars(struct bz_jobs *j, uint32_t recipe, struct bz_vars **out,
                 struct bz_err *err)
{
    struct bz_jobs_recipe *r = &j->recipes[recipe];
    int rc = 0;

    if (!r->finalize)
        rc = bz_evaluate_recipe(j->p, j->goal, recipe, &r->finalize, &r->vars, err);
    *out = r->vars;
    return rc;
}

/* Files of a task lie where BitBake leaves them: in the recipe's T, on the host. */
static int set_files(struct bz_vars *v, struct bz_str task, struct bz_arena *a,
                     struct bz_job *out, struct bz_err *err)
{
    struct bz_str dir;
    int rc = bz_vars_get(v, BZ_STR("T"), 0, &dir, err);

    if (rc == 0 && !bz_path_is_absolute(dir))
        return bz_fail(err, BZ_E_INVAL, "T, where logs go, is '%.*s': set it to a path",
                       BZ_STR_ARG(dir));
    if (rc < 0)
        return rc;
    out->run = bz_arena_printf(a, "%.*s/run.%.*s", BZ_STR_ARG(dir), BZ_STR_ARG(task)).p;
    out->log = bz_arena_printf(a, "%.*s/log.%.*s", BZ_STR_ARG(dir), BZ_STR_ARG(task)).p;
    return 0;
}

static struct bz_str host_path(const struct bz_pipeline *p)
{
    static const char name[] = "PATH=";

    for (const char *const *e = p->opts.env; e && *e; e++)
        if (strncmp(*e, name, sizeof(name) - 1) == 0)
            return bz_str_from(*e + sizeof(name) - 1);
    return BZ_STR("");
}

int bz_jobs_make(void *ctx, uint32_t task, struct bz_arena *a, struct bz_job *out,
                 struct bz_err *err)
{
    struct bz_jobs *j = ctx;
    const struct bz_tgraph *g = &j->goal->graph;
    struct bz_str name = g->tasks[task].facts->name, workdir = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf script = {0};
    BZ_CLEANUP(bz_vars_freep) struct bz_vars *v = NULL;
    struct bz_vars *recipe;
    int rc = bz_jobs_vars(j, g->tasks[task].recipe, &recipe, err);

    *out = (struct bz_job){.root = g->tasks[task].facts->fakeroot};
    if (rc < 0)
        return rc;
    v = bz_vars_new(recipe);
    rc = bz_runscript_enter(v, name, host_path(j->p), err);
    if (rc == 0)
        rc = bz_runscript_write(v, name, &script, err);
    if (rc == 0)
        rc = bz_vars_get(v, BZ_STR("WORKDIR"), 0, &workdir, err);
    if (rc == 0)
        rc = set_files(v, name, a, out, err);
    if (rc == 0)
        rc = bz_vars_flag_true(v, name, BZ_STR("network"), &out->network, err);
    if (rc < 0)
        return rc;
    out->script = bz_jobs_inside(j, a, bz_buf_str(&script));
    out->workdir = bz_jobs_inside(j, a, workdir);
    return 0;
}
