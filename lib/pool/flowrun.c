#include "pool/flowrun.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sync.h"
#include "base/vec.h"
#include "pool/scope.h"
#include "pool/worker.h"

enum { PREFETCH = 8 }; /* dependents of a node; a processor fetches about ten lines */

/* What threads that finish different predecessors meet at: no more than running the
 * node needs, so that two fit in a cache line. `pending` decides who starts it: the one
 * decrement that reaches zero. Whoever starts it sets `pending` for the next run at
 * once, while it has the line, which spares that run a pass over all nodes. */
struct node {
    _Alignas(32) struct bz_work work;
    struct bz_flowrun *run;
    atomic_uint pending; /* predecessors that have not ended */
    uint32_t first;      /* its successors: up to the next node's first */
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
    struct node *node; /* [count + 1], the last only for its `first` */
    uint8_t *state;    /* of each node; WAITING stands for RAN when the run is over */
    _Atomic(uint32_t) *cause; /* of each node: a failed one upstream, or NONE */
    struct bz_scope scope;
    struct heap heap[BZ_LANE_COUNT];
    atomic_uint *left; /* waves: nodes of each level that have not ended */
    struct bz_sync_mutex failed_mu;
    struct bz_flowrun_failures BZ_VEC(struct bz_flowrun_failure) failed; /* failed_mu */
    struct bz_flowrun_roots BZ_VEC(uint32_t) roots;
    atomic_uint ended[BZ_FLOWRUN_STATES]; /* but for those that ran */
    uint32_t dirty;                       /* nodes to run */
    bool armed; /* every node is as a run of all nodes, when ready, wants it */

    struct bz_lane *lane[BZ_LANE_COUNT]; /* of the run under way, as is opts */
    const struct bz_flowrun_opts *opts;
};

struct bz_flowrun *bz_flowrun_new(const struct bz_flow *flow)
{
    struct bz_flowrun *r = bz_mem_padded(sizeof(*r));

    r->flow = flow;
    r->node = bz_mem_padded((flow->count + (size_t)1) * sizeof(*r->node));
    r->state = bz_mem_array(flow->count, sizeof(*r->state));
    r->cause = bz_mem_array(flow->count, sizeof(*r->cause));
    r->left = bz_mem_array(flow->levels + (size_t)1, sizeof(*r->left));
    memset(r->state, BZ_FLOWRUN_WAITING, flow->count);
    for (uint32_t i = 0; i < flow->count; i++) {
        r->node[i].run = r;
        r->node[i].first = flow->succ_begin[i];
        atomic_init(&r->node[i].pending, flow->indegree[i]);
        atomic_init(&r->cause[i], BZ_FLOW_NONE);
    }
    r->node[flow->count].first = flow->succ_begin[flow->count];
    r->armed = true;
    return r;
}

static uint32_t index_of(const struct node *n)
{
    return (uint32_t)(n - n->run->node);
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
    free(r->cause);
    free(r->state);
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

static enum bz_lane_id lane_of(const struct node *n)
{
    return n->run->flow->lane[index_of(n)];
}

/* The node can start: queues it. With priorities what is queued is only the right to
 * start the best node of the lane. */
static void schedule(struct bz_worker *w, struct node *n)
{
    struct bz_flowrun *r = n->run;
    enum bz_lane_id lane = lane_of(n);

    if (r->flow->priority)
        heap_add(r, &r->heap[lane], index_of(n));
    n->work.run = run_node;
    /* By the time it runs, the list of its successors is there. */
    __builtin_prefetch(&r->flow->succ[n->first]);
    bz_scope_take(&w->cache, &r->scope);
    if (w->lane == r->lane[lane])
        bz_worker_push(w, &n->work);
    else
        bz_lane_inject(r->lane[lane], &n->work);
}

/* Records that node `i` cannot run because `cause` failed; the smallest number wins, so
 * that the report does not depend on timing. */
static void blame(struct bz_flowrun *r, uint32_t i, uint32_t cause)
{
    uint32_t seen = atomic_load_explicit(&r->cause[i], memory_order_relaxed);

    /* relaxed: read only after the pending count has reached zero. */
    while (cause < seen &&
           !atomic_compare_exchange_weak_explicit(
               &r->cause[i], &seen, cause, memory_order_relaxed, memory_order_relaxed))
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

static enum bz_flowrun_state start_body(struct bz_worker *w, struct node *n)
{
    struct bz_flowrun *r = n->run;
    struct bz_flowrun_step step;
    int rc;

    step.node = index_of(n);
    step.arg = r->opts->arg;
    step.worker = w;
    step.cancel = r->opts->cancel;
    step.err.code = 0;
    step.output = (struct bz_buf){0};
    rc = r->opts->body(&step);
    if (BZ_UNLIKELY(rc < 0))
        record_failure(r, &step, rc);
    if (BZ_UNLIKELY(step.output.data != NULL))
        bz_buf_release(&step.output);
    return rc < 0 ? BZ_FLOWRUN_FAILED : BZ_FLOWRUN_RAN;
}

/* Nobody is blamed before something has failed: the array is not even read. The count
 * that reached zero has made both visible. */
static uint32_t cause_of(struct bz_flowrun *r, uint32_t i)
{
    if (BZ_LIKELY(atomic_load_explicit(&r->ended[BZ_FLOWRUN_FAILED],
                                       memory_order_relaxed) == 0))
        return BZ_FLOW_NONE;
    return atomic_load_explicit(&r->cause[i], memory_order_relaxed);
}

/* Gives the node its end state. Returns what its dependents have to blame: a failed
 * node, or NONE. */
static uint32_t execute(struct bz_worker *w, struct node *n)
{
    struct bz_flowrun *r = n->run;
    uint32_t i = index_of(n), cause = cause_of(r, i);
    enum bz_flowrun_state state;

    /* Exactly once: a second start would find the count for the next run. */
    BZ_ASSERT(atomic_load_explicit(&n->pending, memory_order_relaxed) ==
              (r->opts->mode == BZ_FLOWRUN_WAVES));
    atomic_store_explicit(&n->pending, r->flow->indegree[i], memory_order_relaxed);
    if (BZ_UNLIKELY(cause != BZ_FLOW_NONE))
        state = BZ_FLOWRUN_SKIPPED;
    else if (r->opts->cancel && bz_cancel_check(r->opts->cancel) < 0)
        state = BZ_FLOWRUN_CANCELED;
    else
        state = start_body(w, n);
    if (BZ_LIKELY(state == BZ_FLOWRUN_RAN))
        return BZ_FLOW_NONE;
    r->state[i] = (uint8_t)state;
    atomic_fetch_add_explicit(&r->ended[state], 1, memory_order_relaxed);
    return state == BZ_FLOWRUN_FAILED ? i : cause;
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
        if (r->state[f->order[i]] == BZ_FLOWRUN_WAITING)
            schedule(w, &r->node[f->order[i]]);
}

/* One of the successors became ready: keeps the first that this worker may run and
 * queues the others. */
static struct node *keep_one(struct bz_worker *w, struct node *kept, struct node *n)
{
    if (kept || w->lane != n->run->lane[lane_of(n)]) {
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
    const struct bz_flow *f = r->flow;
    struct node *kept = NULL;

    for (uint32_t e = n[0].first; e < n[1].first; e++) {
        struct node *s = &r->node[f->succ[e]];

        if (BZ_UNLIKELY(cause != BZ_FLOW_NONE))
            blame(r, f->succ[e], cause);
        /* acq_rel: whoever reaches zero has seen what all predecessors did. A clean
         * node holds a count of its own and never gets there. */
        if (atomic_fetch_sub_explicit(&s->pending, 1, memory_order_acq_rel) == 1)
            kept = keep_one(w, kept, s);
    }
    if (r->opts->mode == BZ_FLOWRUN_WAVES) {
        uint32_t level = f->level[index_of(n)];

        if (atomic_fetch_sub_explicit(&r->left[level], 1, memory_order_acq_rel) == 1)
            open_wave(w, r, level + 1);
    }
    return kept;
}

/* Asks for the dependents' cache lines before they are needed. The decrements that
 * follow are full barriers: without this, each would wait for its line in turn. */
static void prefetch_dependents(const struct node *n)
{
    const uint32_t *succ = &n->run->flow->succ[n[0].first];
    uint32_t count = n[1].first - n[0].first;

    for (uint32_t e = 0; e < count && e < PREFETCH; e++)
        __builtin_prefetch(&n->run->node[succ[e]], 1);
}

static void run_node(struct bz_worker *w, struct bz_work *work)
{
    struct node *n = BZ_CONTAINER(work, struct node, work);
    struct bz_flowrun *r = n->run;
    struct heap *heap = r->flow->priority ? &r->heap[lane_of(n)] : NULL;

    bz_scope_enter(&w->cache, &r->scope);
    if (heap)
        n = &r->node[heap_take(r, heap)];
    while (n) {
        uint32_t cause;

        prefetch_dependents(n);
        cause = execute(w, n);
        n = release_dependents(w, n, cause);
        if (n && heap) {
            /* It competes with what is ready already. */
            heap_add(r, heap, index_of(n));
            n = &r->node[heap_take(r, heap)];
        }
    }
    bz_scope_give(&w->cache, &r->scope);
}

/* A clean node counts as done: its dependents do not wait for it. */
static void forget_clean(struct bz_flowrun *r, uint32_t i)
{
    const struct bz_flow *f = r->flow;

    for (uint32_t e = f->succ_begin[i]; e < f->succ_begin[i + 1]; e++)
        atomic_fetch_sub_explicit(&r->node[f->succ[e]].pending, 1,
                                  memory_order_relaxed);
}

/* Sets every node up. Clean nodes, and in waves all, get a count that no predecessor
 * takes away. */
static void arm(struct bz_flowrun *r, const struct bz_flowrun_opts *opts)
{
    const struct bz_flow *f = r->flow;
    bool waves = opts->mode == BZ_FLOWRUN_WAVES;

    r->dirty = 0;
    for (uint32_t l = 0; l < f->levels; l++)
        atomic_store_explicit(&r->left[l], 0, memory_order_relaxed);
    for (uint32_t i = 0; i < f->count; i++) {
        struct node *n = &r->node[i];
        bool dirty = !opts->dirty || bz_bitset_test(opts->dirty, i);

        r->state[i] = dirty ? BZ_FLOWRUN_WAITING : BZ_FLOWRUN_CLEAN;
        atomic_store_explicit(&r->cause[i], BZ_FLOW_NONE, memory_order_relaxed);
        atomic_store_explicit(&n->pending, f->indegree[i] + (waves || !dirty),
                              memory_order_relaxed);
        r->dirty += dirty;
        if (dirty && waves)
            atomic_fetch_add_explicit(&r->left[f->level[i]], 1, memory_order_relaxed);
    }
    for (uint32_t i = 0; opts->dirty && i < f->count; i++)
        if (r->state[i] == BZ_FLOWRUN_CLEAN)
            forget_clean(r, i);
}

/* A run of all nodes in which each one ran leaves them as the next such run wants
 * them. */
static void prepare(struct bz_flowrun *r, const struct bz_flowrun_opts *opts)
{
    bool all = !opts->dirty && opts->mode == BZ_FLOWRUN_READY;

    drop_failures(r);
    for (unsigned i = 0; i < BZ_FLOWRUN_STATES; i++)
        atomic_store_explicit(&r->ended[i], 0, memory_order_relaxed);
    if (all && r->armed)
        r->dirty = r->flow->count;
    else
        arm(r, opts);
    r->armed = all;
}

/* Makes the list of what waits for nothing. Before the first node starts, since after
 * that others drop to zero too. */
static void find_roots(struct bz_flowrun *r)
{
    const struct bz_flow *f = r->flow;
    uint32_t n = r->dirty == f->count ? f->levels ? f->wave[1] : 0 : f->count;

    /* If all nodes run, these are the first level; else they may be anywhere. */
    for (uint32_t i = 0; i < n; i++)
        if (atomic_load_explicit(&r->node[f->order[i]].pending, memory_order_relaxed) ==
            0)
            BZ_VEC_PUSH(&r->roots, f->order[i]);
}

static void run_all(struct bz_worker *w, void *arg)
{
    struct bz_flowrun *r = arg;

    bz_scope_begin(&r->scope, w, NULL);
    if (r->opts->mode == BZ_FLOWRUN_WAVES) {
        open_wave(w, r, 0);
    } else {
        find_roots(r);
        while (r->roots.len > 0) /* backwards, to be popped in order */
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
    uint32_t canceled = bz_flowrun_count(r, BZ_FLOWRUN_CANCELED);

    BZ_VEC_SORT(&r->failed, by_node);
    if (r->failed.len > 0 || canceled > 0)
        r->armed = false;
    if (r->failed.len > 0) {
        *err = r->failed.at[0].err;
        bz_err_wrap(err, "%zu failed, %u skipped", r->failed.len,
                    bz_flowrun_count(r, BZ_FLOWRUN_SKIPPED));
        return err->code = BZ_E_TASK;
    }
    if (canceled > 0) {
        int rc = bz_cancel_check(r->opts->cancel);

        return bz_fail(err, rc, "%s with %u not started", bz_err_name(rc), canceled);
    }
    return 0;
}

int bz_flowrun_go(struct bz_flowrun *r, struct bz_pool *pool,
                  const struct bz_flowrun_opts *opts, struct bz_err *err)
{
    for (unsigned i = 0; i < BZ_LANE_COUNT; i++)
        r->lane[i] = bz_pool_lane(pool, i);
    r->opts = opts;
    prepare(r, opts);
    bz_pool_call(pool, run_all, r);
    return sum_up(r, err);
}

enum bz_flowrun_state bz_flowrun_state(const struct bz_flowrun *r, uint32_t node)
{
    BZ_ASSERT(node < r->flow->count);
    return r->state[node] == BZ_FLOWRUN_WAITING ? BZ_FLOWRUN_RAN : r->state[node];
}

uint32_t bz_flowrun_count(const struct bz_flowrun *r, enum bz_flowrun_state state)
{
    uint32_t other = 0;

    BZ_ASSERT(state < BZ_FLOWRUN_STATES);
    if (state == BZ_FLOWRUN_CLEAN)
        return r->flow->count - r->dirty;
    if (state != BZ_FLOWRUN_RAN)
        return atomic_load_explicit(&r->ended[state], memory_order_relaxed);
    for (unsigned i = 0; i < BZ_FLOWRUN_STATES; i++)
        other += atomic_load_explicit(&r->ended[i], memory_order_relaxed);
    return r->dirty - other;
}

uint32_t bz_flowrun_cause(const struct bz_flowrun *r, uint32_t node)
{
    BZ_ASSERT(node < r->flow->count);
    return atomic_load_explicit(&r->cause[node], memory_order_relaxed);
}

const struct bz_flowrun_failure *bz_flowrun_failure(const struct bz_flowrun *r,
                                                    size_t i)
{
    return i < r->failed.len ? &r->failed.at[i] : NULL;
}
