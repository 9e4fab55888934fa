#include "pool/flowrun.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sync.h"
#include "base/vec.h"
#include "pool/scope.h"
#include "pool/worker.h"

enum { PREFETCH = 8 }; /* dependents of a node; a processor fetches about ten lines */

/* `pending` decides who starts a node: the one decrement that reaches zero. `state` is
 * written by the thread that has the node in hand and by nobody else. Exactly one
 * cache line, since threads that finish different predecessors meet here. */
struct node {
    _Alignas(64) struct bz_work work;
    struct bz_flowrun *run;
    const uint32_t *succ;
    uint32_t nsucc;
    atomic_uint pending;     /* predecessors that have not ended */
    _Atomic(uint32_t) cause; /* a failed node upstream, or NONE */
    uint8_t lane, state;
};

/* Nodes that could start, highest priority first; only used when there are priorities.
 * Each entry is matched by one queued item or one worker about to take an entry, but
 * not by a certain one: whoever comes gets the best. */
struct heap {
    struct bz_sync_mutex mu;
    struct bz_heap_nodes BZ_VEC(uint32_t) nodes; /* mu */
};

struct bz_flowrun {
    const struct bz_flow *flow;
    struct node *node;
    struct bz_scope scope;
    struct heap heap[BZ_LANE_COUNT];
    atomic_uint *left; /* waves: nodes of each level that have not ended */
    struct bz_sync_mutex failed_mu;
    struct bz_flowrun_failures BZ_VEC(struct bz_flowrun_failure) failed; /* failed_mu */
    struct bz_flowrun_roots BZ_VEC(uint32_t) roots;
    uint32_t count[BZ_FLOWRUN_STATES];

    struct bz_pool *pool; /* of the run under way, as is opts */
    const struct bz_flowrun_opts *opts;
};

struct bz_flowrun *bz_flowrun_new(const struct bz_flow *flow)
{
    struct bz_flowrun *r = bz_mem_padded(sizeof(*r));

    r->flow = flow;
    r->node = bz_mem_padded(flow->count * sizeof(*r->node));
    r->left = bz_mem_array(flow->levels + (size_t)1, sizeof(*r->left));
    for (uint32_t i = 0; i < flow->count; i++) {
        struct node *n = &r->node[i];

        n->run = r;
        n->succ = &flow->succ[flow->succ_begin[i]];
        n->nsucc = flow->succ_begin[i + 1] - flow->succ_begin[i];
        n->lane = flow->lane[i];
    }
    return r;
}

static void drop_failures(struct bz_flowrun *r)
{
    for (size_t i = 0; i < r->failed.len; i++)
        bz_buf_release(&r->failed.at[i].output);
    BZ_VEC_CLEAR(&r->failed);
}

void bz_flowrun_free(struct bz_flowrun *r)
{
    if (!r)
        return;
    drop_failures(r);
    bz_vec_release(&r->failed);
    bz_vec_release(&r->roots);
    for (unsigned i = 0; i < BZ_LANE_COUNT; i++)
        bz_vec_release(&r->heap[i].nodes);
    free(r->left);
    free(r->node);
    free(r);
}

void bz_flowrun_freep(struct bz_flowrun **r)
{
    bz_flowrun_free(*r);
}

/* True if node a should start before node b. */
static bool before(const struct bz_flow *f, uint32_t a, uint32_t b)
{
    if (f->priority[a] != f->priority[b])
        return f->priority[a] > f->priority[b];
    return a < b;
}

static void heap_add(struct bz_flowrun *r, struct heap *h, uint32_t node)
{
    size_t i;

    bz_sync_lock(&h->mu);
    i = h->nodes.len;
    BZ_VEC_PUSH(&h->nodes, node);
    for (; i > 0 && before(r->flow, node, h->nodes.at[(i - 1) / 2]); i = (i - 1) / 2)
        h->nodes.at[i] = h->nodes.at[(i - 1) / 2];
    h->nodes.at[i] = node;
    bz_sync_unlock(&h->mu);
}

static uint32_t heap_take(struct bz_flowrun *r, struct heap *h)
{
    uint32_t best, last;
    size_t i = 0;

    bz_sync_lock(&h->mu);
    best = h->nodes.at[0];
    last = BZ_VEC_POP(&h->nodes);
    for (size_t kid = 1; kid < h->nodes.len; kid = 2 * i + 1) {
        const uint32_t *at = h->nodes.at;

        if (kid + 1 < h->nodes.len && before(r->flow, at[kid + 1], at[kid]))
            kid++;
        if (!before(r->flow, at[kid], last))
            break;
        h->nodes.at[i] = at[kid];
        i = kid;
    }
    if (h->nodes.len > 0)
        h->nodes.at[i] = last;
    bz_sync_unlock(&h->mu);
    return best;
}

static void run_node(struct bz_worker *w, struct bz_work *work);

/* The node can start: queues it. With priorities what is queued is only the right to
 * start the best node of the lane. */
static void schedule(struct bz_worker *w, struct node *n)
{
    struct bz_flowrun *r = n->run;
    struct bz_lane *lane = bz_pool_lane(r->pool, n->lane);

    if (r->flow->priority)
        heap_add(r, &r->heap[n->lane], (uint32_t)(n - r->node));
    n->work.run = run_node;
    bz_scope_take(&w->cache, &r->scope);
    if (w->lane == lane)
        bz_worker_push(w, &n->work);
    else
        bz_lane_inject(lane, &n->work);
}

/* Records that `n` cannot run because `cause` failed; the smallest number wins, so
 * that the report does not depend on timing. */
static void blame(struct node *n, uint32_t cause)
{
    uint32_t seen = atomic_load_explicit(&n->cause, memory_order_relaxed);

    /* relaxed: read only after the pending count has reached zero. */
    while (cause < seen &&
           !atomic_compare_exchange_weak_explicit(
               &n->cause, &seen, cause, memory_order_relaxed, memory_order_relaxed))
        ;
}

static void record_failure(struct bz_flowrun *r, struct bz_flowrun_step *step, int rc)
{
    struct bz_flowrun_failure f = {step->node, step->err, step->output};

    if (f.err.code == 0)
        bz_fail(&f.err, rc, "%s", bz_err_name(rc));
    step->output = (struct bz_buf){0}; /* the failure owns it now */
    bz_sync_lock(&r->failed_mu);
    BZ_VEC_PUSH(&r->failed, f);
    bz_sync_unlock(&r->failed_mu);
}

static void start_body(struct bz_worker *w, struct node *n)
{
    struct bz_flowrun *r = n->run;
    struct bz_flowrun_step step;
    int rc;

    step.node = (uint32_t)(n - r->node);
    step.arg = r->opts->arg;
    step.worker = w;
    step.cancel = r->opts->cancel;
    step.err.code = 0;
    step.output = (struct bz_buf){0};
    rc = r->opts->body(&step);
    n->state = rc < 0 ? BZ_FLOWRUN_FAILED : BZ_FLOWRUN_RAN;
    if (BZ_UNLIKELY(rc < 0))
        record_failure(r, &step, rc);
    if (BZ_UNLIKELY(step.output.data != NULL))
        bz_buf_release(&step.output);
}

/* Gives the node its end state. Returns what its dependents have to blame: a failed
 * node, or NONE. */
static uint32_t execute(struct bz_worker *w, struct node *n)
{
    struct bz_flowrun *r = n->run;
    uint32_t cause = atomic_load_explicit(&n->cause, memory_order_relaxed);

    BZ_ASSERT(n->state == BZ_FLOWRUN_WAITING); /* exactly once */
    n->state = BZ_FLOWRUN_STARTED;
    if (BZ_UNLIKELY(cause != BZ_FLOW_NONE))
        n->state = BZ_FLOWRUN_SKIPPED;
    else if (r->opts->cancel && bz_cancel_check(r->opts->cancel) < 0)
        n->state = BZ_FLOWRUN_CANCELED;
    else
        start_body(w, n);
    if (BZ_UNLIKELY(n->state == BZ_FLOWRUN_FAILED))
        return (uint32_t)(n - r->node);
    return cause;
}

/* Starts the first wave from `level` on that has something to do. */
static void open_wave(struct bz_worker *w, struct bz_flowrun *r, uint32_t level)
{
    const struct bz_flow *f = r->flow;

    while (level < f->levels &&
           atomic_load_explicit(&r->left[level], memory_order_relaxed) == 0)
        level++;
    if (level == f->levels)
        return;
    for (uint32_t i = f->wave[level]; i < f->wave[level + 1]; i++)
        if (r->node[f->order[i]].state == BZ_FLOWRUN_WAITING)
            schedule(w, &r->node[f->order[i]]);
}

/* One of the successors became ready: keeps the first that this worker may run and
 * queues the others. */
static struct node *keep_one(struct bz_worker *w, struct node *kept, struct node *n)
{
    if (kept || w->lane != bz_pool_lane(n->run->pool, n->lane)) {
        schedule(w, n);
        return kept;
    }
    return n;
}

/* Tells the dependents of a node that has ended; returns one to go on with. */
static struct node *release_dependents(struct bz_worker *w, struct node *n,
                                       uint32_t cause)
{
    struct bz_flowrun *r = n->run;
    struct node *kept = NULL;

    for (uint32_t i = 0; i < n->nsucc; i++) {
        struct node *s = &r->node[n->succ[i]];

        if (BZ_UNLIKELY(cause != BZ_FLOW_NONE))
            blame(s, cause);
        /* acq_rel: whoever reaches zero has seen what all predecessors did. A clean
         * node holds a count of its own and never gets there. */
        if (atomic_fetch_sub_explicit(&s->pending, 1, memory_order_acq_rel) == 1)
            kept = keep_one(w, kept, s);
    }
    if (r->opts->mode == BZ_FLOWRUN_WAVES) {
        uint32_t level = r->flow->level[n - r->node];

        if (atomic_fetch_sub_explicit(&r->left[level], 1, memory_order_acq_rel) == 1)
            open_wave(w, r, level + 1);
    }
    return kept;
}

/* Asks for the dependents' cache lines before they are needed. The decrements that
 * follow are full barriers: without this, each would wait for its line in turn. */
static void prefetch_dependents(const struct node *n)
{
    uint32_t most = n->nsucc < PREFETCH ? n->nsucc : PREFETCH;

    for (uint32_t i = 0; i < most; i++)
        __builtin_prefetch(&n->run->node[n->succ[i]], 1);
}

static void run_node(struct bz_worker *w, struct bz_work *work)
{
    struct node *n = BZ_CONTAINER(work, struct node, work);
    struct bz_flowrun *r = n->run;

    bz_scope_enter(&w->cache, &r->scope);
    if (r->flow->priority)
        n = &r->node[heap_take(r, &r->heap[n->lane])];
    while (n) {
        unsigned lane = n->lane;
        uint32_t cause;

        prefetch_dependents(n);
        cause = execute(w, n);
        n = release_dependents(w, n, cause);
        if (n && r->flow->priority) {
            /* It competes with what is ready already. */
            heap_add(r, &r->heap[lane], (uint32_t)(n - r->node));
            n = &r->node[heap_take(r, &r->heap[lane])];
        }
    }
    bz_scope_give(&w->cache, &r->scope);
}

/* A clean node counts as done: its dependents do not wait for it. */
static void forget_clean(struct bz_flowrun *r, const struct node *n)
{
    for (uint32_t i = 0; i < n->nsucc; i++)
        atomic_fetch_sub_explicit(&r->node[n->succ[i]].pending, 1,
                                  memory_order_relaxed);
}

/* Back to the start: states, counts and, for waves, levels. Clean nodes get a count
 * that no predecessor takes away. */
static void reset(struct bz_flowrun *r, const struct bz_flowrun_opts *opts)
{
    const struct bz_flow *f = r->flow;
    unsigned gate = opts->mode == BZ_FLOWRUN_WAVES ? 1 : 0;

    drop_failures(r);
    for (uint32_t l = 0; l < f->levels; l++)
        atomic_store_explicit(&r->left[l], 0, memory_order_relaxed);
    for (uint32_t i = 0; i < f->count; i++) {
        struct node *n = &r->node[i];
        bool dirty = !opts->dirty || bz_bitset_test(opts->dirty, i);

        n->state = dirty ? BZ_FLOWRUN_WAITING : BZ_FLOWRUN_CLEAN;
        atomic_store_explicit(&n->cause, BZ_FLOW_NONE, memory_order_relaxed);
        atomic_store_explicit(&n->pending, f->indegree[i] + (dirty ? gate : 1),
                              memory_order_relaxed);
        if (dirty && gate)
            atomic_fetch_add_explicit(&r->left[f->level[i]], 1, memory_order_relaxed);
    }
    for (uint32_t i = 0; opts->dirty && i < f->count; i++)
        if (r->node[i].state == BZ_FLOWRUN_CLEAN)
            forget_clean(r, &r->node[i]);
}

/* Queues what waits for nothing. The list is made before the first node starts, since
 * after that others drop to zero too. Pushed backwards, to be popped in order. */
static void run_all(struct bz_worker *w, void *arg)
{
    struct bz_flowrun *r = arg;

    bz_scope_begin(&r->scope, w, NULL);
    if (r->opts->mode == BZ_FLOWRUN_WAVES) {
        open_wave(w, r, 0);
    } else {
        for (uint32_t i = 0; i < r->flow->count; i++)
            if (atomic_load_explicit(&r->node[i].pending, memory_order_relaxed) == 0)
                BZ_VEC_PUSH(&r->roots, i);
        while (r->roots.len > 0)
            schedule(w, &r->node[BZ_VEC_POP(&r->roots)]);
    }
    bz_scope_end(&r->scope, w);
}

static int by_node(const void *a, const void *b)
{
    const struct bz_flowrun_failure *x = a, *y = b;

    return (x->node > y->node) - (x->node < y->node);
}

/* No worker touches the run any more: the results are put in order. */
static int sum_up(struct bz_flowrun *r, struct bz_err *err)
{
    uint32_t *count = r->count;

    memset(r->count, 0, sizeof(r->count));
    for (uint32_t i = 0; i < r->flow->count; i++)
        count[r->node[i].state]++;
    BZ_ASSERT(count[BZ_FLOWRUN_WAITING] == 0 && count[BZ_FLOWRUN_STARTED] == 0);
    BZ_VEC_SORT(&r->failed, by_node);
    if (r->failed.len > 0) {
        *err = r->failed.at[0].err;
        bz_err_wrap(err, "%u failed, %u skipped", count[BZ_FLOWRUN_FAILED],
                    count[BZ_FLOWRUN_SKIPPED]);
        return err->code = BZ_E_TASK;
    }
    if (count[BZ_FLOWRUN_CANCELED] > 0) {
        int rc = bz_cancel_check(r->opts->cancel);

        return bz_fail(err, rc, "%s with %u not started", bz_err_name(rc),
                       count[BZ_FLOWRUN_CANCELED]);
    }
    return 0;
}

int bz_flowrun_go(struct bz_flowrun *r, struct bz_pool *pool,
                  const struct bz_flowrun_opts *opts, struct bz_err *err)
{
    r->pool = pool;
    r->opts = opts;
    reset(r, opts);
    bz_pool_call(pool, run_all, r);
    return sum_up(r, err);
}

enum bz_flowrun_state bz_flowrun_state(const struct bz_flowrun *r, uint32_t node)
{
    BZ_ASSERT(node < r->flow->count);
    return r->node[node].state;
}

uint32_t bz_flowrun_count(const struct bz_flowrun *r, enum bz_flowrun_state state)
{
    BZ_ASSERT(state < BZ_FLOWRUN_STATES);
    return r->count[state];
}

uint32_t bz_flowrun_cause(const struct bz_flowrun *r, uint32_t node)
{
    BZ_ASSERT(node < r->flow->count);
    return atomic_load_explicit(&r->node[node].cause, memory_order_relaxed);
}

const struct bz_flowrun_failure *bz_flowrun_failure(const struct bz_flowrun *r,
                                                    size_t i)
{
    return i < r->failed.len ? &r->failed.at[i] : NULL;
}
