/* state.h - a build as it stands: what the files of the executor share.
 *
 * For the files of this module only. One thread.
 */
#ifndef BZ_EXEC_STATE_H
#define BZ_EXEC_STATE_H

#include "base/bitset.h"
#include "base/map.h"
#include "base/sync.h"
#include "exec/admission.h"
#include "exec/exec.h"
#include "exec/overlap.h"
#include "exec/queue.h"
#include "exec/starved.h"
#include "exec/step.h"
#include "graph/ready.h"
#include "os/proc_pump.h"
#include "plan/lookup.h"

enum bz_exec_state {
    BZ_EXEC_UNNEEDED, /* nothing that runs waits for it */
    BZ_EXEC_CACHED,   /* its output is known */
    BZ_EXEC_WAITING,  /* to run */
    BZ_EXEC_RUNNING,
    BZ_EXEC_DONE,   /* ran */
    BZ_EXEC_FAILED, /* or waits for one that did */
};

struct bz_exec_task {
    enum bz_exec_state state;
    uint32_t pending;
    uint32_t wave;             /* how many have to run before it, one after another */
    int64_t ahead;             /* ns until the last that waits for it is done */
    struct bz_index_cost cost; /* what it takes, as far as that is known */
    int64_t saved;             /* of one that is not needed: what it took; 0: unknown */
};

struct bz_exec_ids BZ_VEC(uint32_t);

/* Tasks that are ready, and how many of them run. */
struct bz_exec_queue {
    struct bz_queue ready;
    unsigned running, limit;
};

enum bz_exec_kind { BZ_EXEC_WORKS, BZ_EXEC_WAITS, BZ_EXEC_KINDS };

struct bz_filling;
struct bz_launch;
struct bz_running;

struct bz_exec {
    const struct bz_exec_opts *o;
    struct bz_event_counts *counts;
    struct bz_exec_task *tasks; /* [n] */
    uint32_t n;
    /* What to do about each task, and their outputs: known from the start or filled in
     * as they run. */
    struct bz_plan plan;
    struct bz_lookup lookup;
    struct bz_plan_store results; /* by way of `lookup` */
    struct bz_exec_queue queues[BZ_EXEC_KINDS];
    uint32_t wave; /* of those that run */
    struct bz_admission admission;
    struct bz_starved starved;
    struct bz_overlap overlap;
    bool stop;
    struct bz_step_shop shop;
    int lock; /* of bare ground; -1: none */
    struct bz_digest_hasher *hasher;
    struct bz_proc_pump *pump;
    struct bz_running *all;   /* tasks that run */
    struct bz_running *ended; /* of these: whose scripts have, but nothing is filed */
    struct bz_arena arena;    /* of outputs that were read */
    int64_t began;
    int64_t tick;   /* when the next one is due */
    int64_t look;   /* when to look next whether there is room in the store */
    int64_t work;   /* ns that are left to run, by what is known */
    int64_t spared; /* ns that tasks took that are not needed, likewise */
    bool guess;     /* which is little */
    bool interrupted;
    bool killed;           /* interrupted twice */
    bool failures;         /* something is kept of tasks that failed */
    struct bz_err nowhere; /* why there is no place to run anything; code 0: there is */

    struct bz_cancel cancel; /* for what runs on other threads */
    unsigned filling;        /* tasks that do */
    unsigned launching;      /* and whose sandboxes are being made there */
    struct bz_sync_mutex mutex;
    /* Under the mutex: */
    struct bz_filling *filled, *moved; /* ended there; with progress to be told */
    struct bz_launch *launched;        /* made there */
    int64_t move_next;                 /* when progress may wake the build again */

    /* Results whose trees turned out to be gone count as none: then all is planned
     * anew, and what has run since is in the store. */
    struct bz_map lost; /* digests of trees */
    struct bz_bitset ran;
    struct bz_bitset told; /* tasks of which it was told that they are cached */
    bool again;
};

static inline struct bz_exec_queue *bz_exec_queue_of(struct bz_exec *x, uint32_t t)
{
    return &x->queues[x->o->waits && bz_bitset_test(x->o->waits, t) ? BZ_EXEC_WAITS
                                                                    : BZ_EXEC_WORKS];
}

static inline unsigned bz_exec_running(const struct bz_exec *x)
{
    return x->queues[BZ_EXEC_WORKS].running + x->queues[BZ_EXEC_WAITS].running;
}

static inline bool bz_exec_is_noexec(const struct bz_exec *x, uint32_t t)
{
    return bz_plan_is_noexec(&x->plan, t);
}

static inline bool bz_exec_has_ready(const struct bz_exec *x)
{
    return x->queues[BZ_EXEC_WORKS].ready.len + x->queues[BZ_EXEC_WAITS].ready.len > 0;
}

static inline bool bz_exec_is_held(const struct bz_exec *x)
{
    return x->o->hold && *x->o->hold && !x->stop;
}

/* Tells whoever listens, with the key of the task and the counts. */
void bz_exec_tell(struct bz_exec *x, const struct bz_event *about);

/* Opens the plan. Before all. */
int bz_exec_open(struct bz_exec *x, struct bz_err *err) BZ_MUST_CHECK;
/* Plans, and begins what the plan says; fills x->queues. */
void bz_exec_begin(struct bz_exec *x);

/* The output of a task is known: a stored result is used. Counts it, and tells. */
void bz_exec_use(struct bz_exec *x, uint32_t t);

/* Notes a tree that cannot be had because of `why`: all is planned anew then. False if
 * there is none, if it was known, or if its bytes are not to blame: then another round
 * would not help. */
bool bz_exec_lose(struct bz_exec *x, const struct bz_digest *tree,
                  const struct bz_err *why);

#endif
