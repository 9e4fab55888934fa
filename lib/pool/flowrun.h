/* flowrun.h - runs a flow on a pool, driven by completions.
 *
 * A node starts as soon as what it waits for has run. The worker that finishes a node
 * goes on with a dependent that became ready, without a queue in between, and leaves
 * the others to be stolen. When a node fails, everything downstream of it is skipped
 * and everything else goes on.
 *
 * A bz_flowrun holds the state and afterwards the results of one run at a time; it may
 * be used again, which saves allocating. Bodies run on the pool's workers, each node
 * at most once. What a node did is visible to the nodes that waited for it.
 */
#ifndef BZ_POOL_FLOWRUN_H
#define BZ_POOL_FLOWRUN_H

#include "base/bitset.h"
#include "base/buf.h"
#include "pool/cancel.h"
#include "pool/flow.h"
#include "pool/pool.h"

struct bz_flowrun;

/* What a body gets and leaves behind. */
struct bz_flowrun_step {
    uint32_t node;
    void *arg;
    struct bz_worker *worker;
    struct bz_cancel *cancel; /* for bodies that take long; may be NULL */
    struct bz_err err;        /* to be filled when the body fails */
    struct bz_buf output;     /* kept with the failure; dropped on success */
};

/* Returns 0 or a negative enum bz_code with step->err filled. */
typedef int (*bz_flowrun_fn)(struct bz_flowrun_step *step);

enum bz_flowrun_state {
    BZ_FLOWRUN_CLEAN,    /* not in the dirty set: counts as done */
    BZ_FLOWRUN_WAITING,  /* during a run only */
    BZ_FLOWRUN_RAN,      /* the body returned 0 */
    BZ_FLOWRUN_FAILED,   /* it did not; see bz_flowrun_failure */
    BZ_FLOWRUN_SKIPPED,  /* something it needs failed; see bz_flowrun_cause */
    BZ_FLOWRUN_CANCELED, /* the token was canceled before it started */
    BZ_FLOWRUN_STATES,
};

enum bz_flowrun_mode {
    BZ_FLOWRUN_READY, /* a node starts when what it waits for is done */
    BZ_FLOWRUN_WAVES, /* a node starts when the whole level before it is done */
};

struct bz_flowrun_opts {
    bz_flowrun_fn body;
    void *arg;
    const struct bz_bitset *dirty; /* the nodes to run; NULL: all */
    struct bz_cancel *cancel;      /* or NULL */
    enum bz_flowrun_mode mode;
};

struct bz_flowrun_failure {
    uint32_t node;
    struct bz_err err;
    struct bz_buf output;
};

/* The flow must be closed and outlive the run. */
struct bz_flowrun *bz_flowrun_new(const struct bz_flow *flow) BZ_MUST_CHECK;
void bz_flowrun_free(struct bz_flowrun *r); /* NULL is allowed */
void bz_flowrun_freep(struct bz_flowrun **r);

/* Runs it and returns when every node has an end state: 0 if all that were to run
 * did, BZ_E_TASK if some failed, BZ_E_CANCELED or BZ_E_TIMEOUT if the token stopped
 * it; *err then says how many, and names the first failure. Not for workers. */
int bz_flowrun_go(struct bz_flowrun *r, struct bz_pool *pool,
                  const struct bz_flowrun_opts *opts, struct bz_err *err) BZ_MUST_CHECK;

/* The results of the last run. */
enum bz_flowrun_state bz_flowrun_state(const struct bz_flowrun *r, uint32_t node);
uint32_t bz_flowrun_count(const struct bz_flowrun *r, enum bz_flowrun_state state);

/* Why a node was skipped: the failed node, of several the one with the smallest
 * number; BZ_FLOW_NONE if it was not skipped. */
uint32_t bz_flowrun_cause(const struct bz_flowrun *r, uint32_t node);

/* The failures in the order of their nodes; NULL past the last. Borrowed. */
const struct bz_flowrun_failure *bz_flowrun_failure(const struct bz_flowrun *r,
                                                    size_t i);

#endif
