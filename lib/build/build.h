/* build.h - the stages of a build, in order, and the objects that they hand on.
 *
 *   project   the kas files or the build directory
 *   catalog   its configurations, layers and recipes, each recipe evaluated once
 *   graph     the tasks that the targets need
 *   keys      the signature of each task
 *   store     where results are looked up and kept, and the remote caches
 *   plan      the fate of each task: restore, run, not needed
 *   results   tasks restored and run, outputs linked
 *   record    what the results were made from, for `why`
 *
 * Every command opens a build and goes as far as it has to: nothing is evaluated,
 * signed or planned in any other place. Data goes to later stages only. One thread, but
 * for the pool.
 */
#ifndef BZ_BUILD_BUILD_H
#define BZ_BUILD_BUILD_H

#include "build/idle.h"
#include "cache/cache.h"
#include "exec/exec.h"
#include "graph/goal.h"
#include "plan/lookup.h"
#include "sig/signing.h"
#include "survey/catalog.h"
#include "task/jobs.h"

enum bz_build_stage {
    BZ_BUILD_NOTHING,
    BZ_BUILD_PROJECT,
    BZ_BUILD_CATALOG,
    BZ_BUILD_GRAPH,
    BZ_BUILD_KEYS,
    BZ_BUILD_STORE,
    BZ_BUILD_PLAN,
    BZ_BUILD_RESULTS,
    BZ_BUILD_RECORD,
};

struct bz_build;

struct bz_build_opts {
    struct bz_catalog_opts project;
    struct bz_goal_opts targets;
    bool tolerant; /* leave out what cannot be had of world and universe */
    bool refresh;  /* names of revisions are resolved anew */
    bool resolve;  /* those that are not may be resolved, over the network */

    bool runs;         /* tasks are to run: whether there are sandboxes is tried */
    bool required;     /* tasks need sandboxes, whether there are any or not */
    bool force;        /* the targets run, whatever is stored */
    const char *clear; /* and so does this task of their recipes; or NULL */

    struct bz_cache_opts cache; /* its pool is the build's own */
    bool shortcut;   /* a build with nothing to do may be told from the last one */
    int64_t timeout; /* of tasks, in seconds; -1: as they say */
    bool offline;    /* sources come from this machine alone */

    /* Told when a stage has ended, with its outcome: to show what there is to say. */
    void (*ended)(void *ctx, struct bz_build *b, int rc);
    void *ended_ctx;
};

struct bz_build {
    struct bz_build_opts opts; /* to be set before the stage that needs them */
    enum bz_build_stage stage; /* that was reached */
    enum bz_build_stage goes_to;
    struct bz_arena arena;

    struct bz_catalog catalog;

    struct bz_goal goal;
    struct bz_str *names; /* [tasks of the graph] */
    struct bz_buf notes;  /* of the stage that has ended: choices between providers */
    struct bz_buf why;    /* and what is wrong */
    bool said;            /* there was something to say about the targets */

    struct bz_ground ground; /* where tasks work on this machine */
    bool assumed; /* sandboxes are taken for granted: no build has tried them */
    struct bz_signing_policy policy;
    struct bz_taint taint;
    struct bz_bitset forced; /* tasks that this build has tainted */
    struct bz_signing keys;

    struct bz_pool *pool;
    struct bz_cache *cache;
    bool alone; /* there was no result before, here or in a remote cache */
    struct bz_lookup lookup;
    struct bz_plan
        plan; /* made if a command goes no further: the executor makes its own */

    struct bz_exec_opts exec; /* how to run: the event sink, the user's wishes */
    struct bz_jobs jobs;
    struct bz_bitset waits; /* tasks that mostly wait for the network */
    struct bz_event_counts counts;
    struct bz_exec_outputs outputs;
    struct bz_idle idle;        /* if it was found to have nothing to do */
    struct bz_idle_found found; /* what it has used */
    struct bz_bitset made;      /* tasks with a result that was not there before */
    int64_t wall;               /* when it began to run */
    int ran;                    /* what running came to */
    uint32_t linked, last;      /* targets whose links are new, and the last of them */
    struct bz_err hidden;       /* why a target's links could not be made */
    bool is_hidden;
};

/* What bz_build_to() returns if there is nothing to do: b->idle has what was found. */
#define BZ_BUILD_IDLE 1

/* Runs the stages that have not been run, up to and with `last`. Close *b, which is
 * zero at first but for its options, in any case. Results that could not be had do not
 * keep the build from being recorded: the stage has then been reached. */
int bz_build_to(struct bz_build *b, enum bz_build_stage last,
                struct bz_err *err) BZ_MUST_CHECK;
void bz_build_close(struct bz_build *b);

#endif
