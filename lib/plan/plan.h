/* plan.h - the fate of each task of a signed graph: restore, run, or neither.
 *
 * One function decides, for `plan`, for a dry run and for a build. It asks from the
 * targets down: a task whose result is stored under its key is restored, and nothing is
 * asked about its dependencies. Then from the bottom up: a task whose dependencies all
 * have known results has a known content key, and is restored if a result is stored
 * under that one. Each level is one question about many keys, so that remote caches are
 * asked in batches, and a build with nothing to do asks about its targets alone.
 *
 * Nothing is executed and nothing is written.
 */
#ifndef BZ_PLAN_PLAN_H
#define BZ_PLAN_PLAN_H

#include "base/bitset.h"
#include "base/map.h"
#include "graph/tgraph.h"
#include "plan/output.h"
#include "pool/pool.h"

enum bz_plan_fate {
    BZ_PLAN_UNNEEDED, /* only restored tasks depend on it */
    BZ_PLAN_RESTORE,
    BZ_PLAN_RUN, /* in any case */
    /* A dependency runs. If its output is unchanged, the task is restored by its
     * content key, otherwise it runs: only the build can tell. */
    BZ_PLAN_UNLESS,
    BZ_PLAN_EMPTY, /* needed, but noexec: hands on the output of its dependencies */
    BZ_PLAN_FATES,
};

/* A result that is looked up. */
struct bz_plan_ask {
    uint32_t task;
    struct bz_digest key;
    bool near;                     /* remote caches are not asked */
    bool found;                    /* written */
    struct bz_reapi_result result; /* likewise, if found */
};

/* Where results are looked up. What is found stays valid as long as the plan. */
struct bz_plan_store {
    void (*ask)(void *ctx, struct bz_plan_ask *at, size_t n);
    void *ctx;
    bool empty;               /* nothing is stored anywhere: nobody is asked */
    struct bz_cancel *cancel; /* ends the planning, which is then of no use; or NULL */
};

struct bz_plan_in {
    const struct bz_tgraph *graph;
    const struct bz_digest *keys;  /* [tasks]: signatures */
    const struct bz_digest *bases; /* [tasks]: without the dependencies */
    const struct bz_str *names;    /* [tasks] */
    /* For what tasks took before (cost.h): the project, and the machine of each part of
     * the graph; or NULL. */
    struct bz_str project;
    const struct bz_str *machines;
    /* Tasks whose results are never used again, as if they were nostamp: they are made
     * from the time, say; or NULL. */
    const struct bz_bitset *unused;
    const struct bz_bitset *forced; /* tasks that have just been tainted; or NULL */
    bool no_cache;                  /* no result is used */
    uint32_t enter; /* 1 + a task that runs in any case and has no result; 0: none */
    /* Of a build that is planned anew; NULL the first time. */
    const struct bz_bitset *ran; /* tasks that it has run: `no_cache` does not count */
    const struct bz_map *lost;   /* digests of trees that could not be read */
};

struct bz_plan_task {
    enum bz_plan_fate fate;
    bool fleeting; /* its result is never used again, nor stored */
    bool same;     /* restored by its content key */
    bool known;    /* its output is */
    uint32_t rank; /* its place in the graph's order */
    /* The length of the longest chain of dependencies below it, and itself. Other
     * targets give tasks other ranks; this and its name are the task's own. */
    uint32_t level;
    struct bz_output output; /* if it is known; whoever runs the task fills it in */
    /* Of a stored result: */
    int64_t saved;                     /* ns that the task took; 0: not known */
    struct bz_reapi_time began, ended; /* when it ran */
    struct bz_str printed;             /* what it printed, or */
    struct bz_reapi_digest log;        /* where that is */
};

struct bz_plan {
    struct bz_plan_in in;
    uint32_t n;
    struct bz_plan_task *tasks; /* [n] */
    uint32_t count[BZ_PLAN_FATES];
    bool linked;              /* the next two are there */
    struct bz_map ids;        /* name -> number, from 1 */
    struct bz_dag dependents; /* of each task */
    struct bz_digest_hasher *hasher;
};

/* Decides nothing yet: all tasks are BZ_PLAN_UNNEEDED. What *in points to outlives the
 * plan. Release *plan in any case. */
int bz_plan_open(struct bz_plan *plan, const struct bz_plan_in *in,
                 struct bz_err *err) BZ_MUST_CHECK;
void bz_plan_release(struct bz_plan *plan);

/* Fills `ids` and `dependents`, for whoever hands outputs on. A plan in which all is
 * restored does without. */
void bz_plan_link(struct bz_plan *plan);

/* Decides, or decides anew. */
void bz_plan_make(struct bz_plan *plan, const struct bz_plan_store *store);

/* While a build runs: looks a task up by its content key, now that all its dependencies
 * are done. If there is a result, the task is restored. One that was to run in any case
 * is looked up too, in the local store: another build may have run it meanwhile. */
bool bz_plan_find_same(struct bz_plan *plan, const struct bz_plan_store *store,
                       uint32_t task, const struct bz_output *handed,
                       const struct bz_digest *content);

static inline bool bz_plan_is_noexec(const struct bz_plan *plan, uint32_t task)
{
    return plan->in.graph->tasks[task].facts->noexec;
}

/* Whether it is going to run, perhaps. */
static inline bool bz_plan_may_run(const struct bz_plan *plan, uint32_t task)
{
    enum bz_plan_fate fate = plan->tasks[task].fate;

    return fate == BZ_PLAN_RUN || fate == BZ_PLAN_UNLESS;
}

#endif
