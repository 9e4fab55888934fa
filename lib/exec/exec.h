/* exec.h - brings a signed graph of tasks to its end.
 *
 * What runs is planned (plan/plan.h). Tasks run in sandboxes, each as soon as what it
 * waits for is done, and their results are stored. Tasks that are noexec are done as
 * soon as what they wait for is. A task that is nostamp, and all that wait for it, run
 * every time.
 *
 * A result is also filed under a key made of the task's own part and of the trees that
 * it sees: where a task ran again but came out the same, what waits for it does not
 * run.
 *
 * After a failure no task is started any more; with `keep_going` all are that do not
 * wait for one that failed. Crash-only: whatever is there after a kill is either whole
 * or not looked at.
 */
#ifndef BZ_EXEC_EXEC_H
#define BZ_EXEC_EXEC_H

#include "base/bitset.h"
#include "cache/cache.h"
#include "exec/admission.h"
#include "exec/event.h"
#include "exec/ground.h"
#include "exec/job.h"
#include "plan/plan.h"
#include "sig/signing.h"

/* Where the output of a target is to be seen: what lies below the work directory of its
 * recipe, and the rest; each a directory like BZ_JOB_ROOT, or NULL if there is nothing.
 */
struct bz_exec_output {
    uint32_t task;
    const char *own, *shared;
};
struct bz_exec_outputs {
    /* To be set before, [targets of the graph]: which part of the rest is to be seen, a
     * path below BZ_JOB_ROOT, of which there may be nothing; empty: none. The rest has
     * the outputs of all dependencies, too, and users get copies. NULL: all of it. */
    const struct bz_str *parts;
    struct bz_arena arena; /* of the paths */
    struct bz_exec_output_list BZ_VEC(struct bz_exec_output) list;
};
void bz_exec_outputs_release(struct bz_exec_outputs *o);

struct bz_exec_opts {
    struct bz_plan_in plan; /* what to plan; `enter`: a target whose job has `enter` */
    struct bz_cache *cache;
    const char *store;              /* the directory of the cache */
    struct bz_pool *pool;           /* to hash and to link with */
    const struct bz_ground *ground; /* as jobs and keys have been made for; NULL: the
                                       usual one */
    unsigned jobs;                  /* tasks at a time; at least 1 */
    bool keep_going;
    bool dry;   /* tell what would run, in an order that is possible; run nothing */
    bool waves; /* start nothing before all that can run earlier has ended */
    bz_job_fn job;
    void *job_ctx;
    bz_admission_fn memory; /* NULL: the system's */
    void *memory_ctx;
    const struct bz_bitset *waits; /* tasks that mostly wait, for the network say: they
                                      do not count as jobs. May be NULL */
    const struct bz_signing *signing; /* what tasks must have been made from to be kept;
                                         NULL: anything */
    bz_event_fn event;
    void *event_ctx;
    int64_t tick;                    /* ns: how often to tell BZ_EVENT_TICK; 0: never */
    const bool *hold;                /* while it says so no task starts; may be NULL */
    struct bz_exec_outputs *outputs; /* filled at a good end; NULL: not wanted */
    /* When `interrupt_fd` is readable `interrupt` is called, which has to take what is
     * there: the first time tasks are asked to end, the second time they are killed. */
    int interrupt_fd; /* or -1 */
    void (*interrupt)(void *ctx);
    void *interrupt_ctx;
};

/* 0, BZ_E_TASK if a task failed, BZ_E_CANCELED if interrupted, BZ_E_NOSUP if there can
 * be no sandbox. */
int bz_exec_run(const struct bz_exec_opts *opts, struct bz_event_counts *counts,
                struct bz_err *err) BZ_MUST_CHECK;

#endif
