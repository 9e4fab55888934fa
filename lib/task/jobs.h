/* jobs.h - the tasks of a graph as jobs to run.
 *
 * A job is made when its task comes up, from the recipe's variables as the catalog has
 * them, with the paths that sandboxes see (sig/pathmap.h): the same text is run on
 * every machine. One thread.
 */
#ifndef BZ_TASK_JOBS_H
#define BZ_TASK_JOBS_H

#include "exec/ground.h"
#include "exec/job.h"
#include "fetch/fetch.h"
#include "sig/pathmap.h"
#include "sig/signing.h"
#include "survey/evaluate.h"

/* How many recipes stay evaluated, for their next task; each takes 100 KB and more. */
#define BZ_JOBS_KEPT 64

struct bz_jobs {
    int64_t timeout; /* of tasks, in seconds; -1: as they say. To be set when it is
                        open */
    bool offline;    /* sources come from this machine alone; likewise */
    const struct bz_signing *signing; /* likewise: what tasks are shown of layers; NULL:
                                         nothing */
    struct bz_catalog *p;
    const struct bz_goal *goal;
    const struct bz_ground *ground;
    struct bz_arena arena;
    struct bz_pathmap paths;
    struct bz_evaluated *recipes;   /* [recipes of the graph] */
    uint32_t kept[BZ_JOBS_KEPT];    /* those that are evaluated, a ring */
    size_t nkept;                   /* that ever were */
    struct bz_fetch_client *client; /* NULL until it is needed */
};

/* The goal is open; both outlive *j, which is released in any case. */
int bz_jobs_open(struct bz_jobs *j, struct bz_catalog *p, const struct bz_goal *goal,
                 const struct bz_ground *ground, struct bz_err *err) BZ_MUST_CHECK;
void bz_jobs_release(struct bz_jobs *j);

/* The variables of a recipe of the graph, evaluated if they are not kept. They last
 * until others are asked for. */
int bz_jobs_vars(struct bz_jobs *j, uint32_t recipe, struct bz_vars **out,
                 struct bz_err *err) BZ_MUST_CHECK;

/* A bz_job_fn; ctx is a struct bz_jobs. */
int bz_jobs_make(void *ctx, uint32_t task, struct bz_arena *a, struct bz_job *out,
                 struct bz_err *err) BZ_MUST_CHECK;

/* For a shell in the sandbox of a task: a text that sets its environment, defines its
 * functions and goes to its directory. Texts are in the arena. */
int bz_jobs_setup(struct bz_jobs *j, uint32_t task, struct bz_arena *a,
                  struct bz_str *out, struct bz_err *err) BZ_MUST_CHECK;

#endif
