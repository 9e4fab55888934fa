/* plan.h - what would be done: restored, run, or left alone.
 *
 * A node whose result is at hand is restored, and nobody asks for what it waits for on
 * its account. What is left serves only such nodes and is not needed. A node that does
 * nothing by itself only stands for what it waits for.
 *
 * Nothing is executed. Takes time in proportion to the nodes and edges that are needed,
 * but for what the functions below take.
 */
#ifndef BZ_GRAPH_PLAN_H
#define BZ_GRAPH_PLAN_H

#include "graph/ready.h"

enum bz_plan_state {
    BZ_PLAN_UNNEEDED,
    BZ_PLAN_RESTORE,
    BZ_PLAN_RUN,
    BZ_PLAN_EMPTY, /* needed, but does nothing */
    BZ_PLAN_STATES,
};

#define BZ_PLAN_UNKNOWN (-1)

struct bz_plan_in {
    const struct bz_dag *dag;
    const struct bz_dag_ids *order, *targets;
    void *ctx;
    bool (*empty)(void *ctx, uint32_t node);
    bool (*at_hand)(void *ctx, uint32_t node); /* asked once, if it is needed */
    /* How long it takes to run, in nanoseconds, or BZ_PLAN_UNKNOWN. */
    int64_t (*cost)(void *ctx, uint32_t node);
};

struct bz_plan {
    uint32_t n;
    uint8_t *state; /* [n]: enum bz_plan_state */
    uint32_t count[BZ_PLAN_STATES];
    struct bz_ready_waves waves; /* of what is run */
    int64_t *cost;               /* [n]: of what is run */
    int64_t work;                /* of all that is run and known */
    uint32_t unknown;            /* how many are not */
    int64_t critical;            /* the longest chain, as far as it is known */
    struct bz_dag_ids path;      /* that chain, first things first */
};

/* Release *plan. */
void bz_plan_make(struct bz_plan *plan, const struct bz_plan_in *in);
void bz_plan_release(struct bz_plan *plan);

#endif
