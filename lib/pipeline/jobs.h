/* jobs.h - the tasks of a goal as jobs to run.
 *
 * Evaluates recipes as their tasks come up, and moves them to where sandboxes see them:
 * wherever a script has the path of the build directory it gets BZ_JOB_ROOT, and for a
 * layer's its place below BZ_JOB_LAYERS. So the same text is run on every machine. On
 * bare ground (exec/ground.h) the work has another place, and layers are where they
 * are. One thread.
 */
#ifndef BZ_PIPELINE_JOBS_H
#define BZ_PIPELINE_JOBS_H

#include "exec/job.h"
#include "fetch/fetch.h"
#include "pipeline/evaluate.h"
#include "pipeline/signing.h"
#include "pipeline/view.h"

struct bz_jobs_place {
    struct bz_str host, inside;
};

/* How many recipes stay evaluated, for their next task; each takes 100 KB and more. */
#define BZ_JOBS_KEPT 64

struct bz_jobs {
    int64_t timeout; /* of tasks, in seconds; -1: as they say. To be set when it is
                        open */
    bool offline;    /* sources come from this machine alone; likewise */
    const struct bz_signing *signing; /* likewise: what tasks must have been made from
                                         to be kept, and what they are shown of layers;
                                         NULL: anything, and nothing */
    struct bz_pipeline *p;
    const struct bz_goal *goal;
    const struct bz_ground *ground; /* the pipeline's */
    struct bz_arena arena;
    struct bz_jobs_places BZ_VEC(struct bz_jobs_place) places; /* longest host first */
    struct bz_view_list layers;     /* where tasks see them if they do */
    struct bz_evaluated *recipes;   /* [recipes of the graph] */
    uint32_t kept[BZ_JOBS_KEPT];    /* those that are evaluated, a ring */
    size_t nkept;                   /* that ever were */
    struct bz_str *names;           /* [tasks of the graph] */
    struct bz_fetch_client *client; /* NULL until it is needed */
};

/* The goal is open; both outlive *j, which is released in any case. */
int bz_jobs_open(struct bz_jobs *j, struct bz_pipeline *p, const struct bz_goal *goal,
                 struct bz_err *err) BZ_MUST_CHECK;
void bz_jobs_release(struct bz_jobs *j);

/* The variables of a recipe of the graph, evaluated if they are not kept. They last
 * until others are asked for. */
int bz_jobs_vars(struct bz_jobs *j, uint32_t recipe, struct bz_vars **out,
                 struct bz_err *err) BZ_MUST_CHECK;

/* The text with the host's paths moved to where sandboxes see them. */
struct bz_str bz_jobs_inside(const struct bz_jobs *j, struct bz_arena *a,
                             struct bz_str text);

/* Of such a path, what comes after the root of the work and a slash. False if it is not
 * below the root. */
bool bz_jobs_cut_root(const struct bz_jobs *j, struct bz_str *path);

/* A bz_job_fn; ctx is a struct bz_jobs. */
int bz_jobs_make(void *ctx, uint32_t task, struct bz_arena *a, struct bz_job *out,
                 struct bz_err *err) BZ_MUST_CHECK;

/* For a shell in the sandbox of a task: a text that sets its environment, defines its
 * functions and goes to its directory. Texts are in the arena. */
int bz_jobs_setup(struct bz_jobs *j, uint32_t task, struct bz_arena *a,
                  struct bz_str *out, struct bz_err *err) BZ_MUST_CHECK;

/* Of struct bz_exec_opts; ctx is the same. */
bool bz_jobs_waits(void *ctx, uint32_t task);

#endif
