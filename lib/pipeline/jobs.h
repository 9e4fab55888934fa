/* jobs.h - the tasks of a goal as jobs to run.
 *
 * Evaluates recipes as their tasks come up, and moves them to where sandboxes see them:
 * wherever a script has the path of the build directory it gets BZ_JOB_ROOT, and for a
 * layer's its place below BZ_JOB_LAYERS. So the same text is run on every machine.
 * One thread.
 */
#ifndef BZ_PIPELINE_JOBS_H
#define BZ_PIPELINE_JOBS_H

#include "exec/job.h"
#include "pipeline/goal.h"

struct bz_jobs_place {
    struct bz_str host, inside;
};

struct bz_jobs_recipe;

struct bz_jobs {
    struct bz_pipeline *p;
    const struct bz_goal *goal;
    struct bz_arena arena;
    struct bz_jobs_places BZ_VEC(struct bz_jobs_place) places; /* longest host first */
    struct bz_jobs_views BZ_VEC(struct bz_job_view) views;
    struct bz_jobs_recipe *recipes; /* [recipes of the graph] */
    struct bz_str *names;           /* [tasks of the graph] */
};

/* The goal is open; both outlive *j, which is released in any case. */
int bz_jobs_open(struct bz_jobs *j, struct bz_pipeline *p, const struct bz_goal *goal,
                 struct bz_err *err) BZ_MUST_CHECK;
void bz_jobs_release(struct bz_jobs *j);

/* The variables of a recipe of the graph, evaluated when first asked for. */
int bz_jobs_vars(struct bz_jobs *j, uint32_t recipe, struct bz_vars **out,
                 struct bz_err *err) BZ_MUST_CHECK;

/* The text with the host's paths moved to where sandboxes see them. */
struct bz_str bz_jobs_inside(const struct bz_jobs *j, struct bz_arena *a,
                             struct bz_str text);

/* A bz_job_fn; ctx is a struct bz_jobs. */
int bz_jobs_make(void *ctx, uint32_t task, struct bz_arena *a, struct bz_job *out,
                 struct bz_err *err) BZ_MUST_CHECK;

#endif
