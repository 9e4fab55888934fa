/* bench_bitzel.c - our own pool: scopes, joins and submissions.
 *
 * The calling thread works too, as the main worker, unless the workload wants it
 * outside.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "bench.h"
#include "pool/flowrun.h"
#include "pool/pool.h"
#include "pool/scope.h"

/* One node of the graph as an argument for its body. */
struct step {
    struct walk *walk;
    uint32_t node;
};

struct bench_pool {
    struct bz_pool *pool;
    struct bz_pool_item wake_item; /* one at a time */
    bench_job_fn wake_fn;
    void *wake_arg;
    struct step *step; /* made for the first graph that is run, and kept */
};

static void *open_pool(unsigned workers, enum bench_entry entry)
{
    struct bench_pool *p = bz_mem_zalloc(sizeof(*p));
    struct bz_pool_opts opts = {.compute = workers, .io = 1};
    struct bz_err err;

    if (entry == BENCH_INSIDE && workers > 1)
        opts.compute--;
    if (bz_pool_new(&opts, &p->pool, &err) < 0)
        abort();
    return p;
}

static void close_pool(void *pool)
{
    struct bench_pool *p = pool;

    bz_pool_free(p->pool);
    free(p->step);
    free(p);
}

static void count_one(struct bz_worker *w, void *arg)
{
    (void)w;
    (void)arg;
    bench_count();
}

static void spawn_all(struct bz_worker *w, void *arg)
{
    const uint64_t *n = arg;
    struct bz_scope scope;

    bz_scope_begin(&scope, w, NULL);
    for (uint64_t i = 0; i < *n; i++)
        bz_scope_spawn(&scope, w, count_one, NULL);
    bz_scope_end(&scope, w);
}

static void spawn(void *pool, uint64_t n)
{
    struct bench_pool *p = pool;

    bz_pool_call(p->pool, spawn_all, &n);
}

struct walk {
    struct layered *graph;
    enum layered_mode mode;
    struct step *step;
    struct bz_scope scope;
};

struct here {
    struct walk *walk;
    struct bz_worker *worker;
};

static void visit(struct bz_worker *w, void *arg);

static void spawn_node(void *ctx, uint32_t n)
{
    struct here *h = ctx;

    bz_scope_spawn(&h->walk->scope, h->worker, visit, &h->walk->step[n]);
}

static void visit(struct bz_worker *w, void *arg)
{
    const struct step *s = arg;
    struct here h = {s->walk, w};

    layered_visit(s->walk->graph, s->node, s->walk->mode, spawn_node, &h);
}

static void walk_all(struct bz_worker *w, void *arg)
{
    struct walk *walk = arg;
    struct here h = {walk, w};

    bz_scope_begin(&walk->scope, w, NULL);
    for (uint32_t n = 0; n < walk->graph->width; n++)
        spawn_node(&h, n);
    bz_scope_end(&walk->scope, w);
}

static void dag(void *pool, struct layered *g, enum layered_mode mode)
{
    struct bench_pool *p = pool;
    struct walk walk = {.graph = g, .mode = mode};

    if (!p->step)
        p->step = bz_mem_array(g->count, sizeof(*p->step));
    for (uint32_t n = 0; n < g->count; n++)
        p->step[n] = (struct step){&walk, n};
    walk.step = p->step;
    bz_pool_call(p->pool, walk_all, &walk);
}

static int count_node(struct bz_flowrun_step *step)
{
    (void)step;
    bench_count();
    return 0;
}

static int deliver_node(struct bz_flowrun_step *step)
{
    layered_deliver(step->arg, step->node);
    return 0;
}

struct flow {
    struct layered *graph;
    struct bz_flow *flow;
    struct bz_flowrun *run;
};

static void *open_flow(struct layered *g)
{
    struct flow *f = bz_mem_zalloc(sizeof(*f));
    struct bz_err err;

    f->graph = g;
    f->flow = bz_flow_new(g->count);
    for (uint32_t n = 0; n < g->count; n++)
        for (uint32_t e = g->nodes[n].first; e < g->nodes[n + 1].first; e++)
            bz_flow_edge(f->flow, n, g->succ[e]);
    if (bz_flow_close(f->flow, NULL, NULL, &err) < 0)
        abort();
    f->run = bz_flowrun_new(f->flow);
    return f;
}

static void close_flow(void *flow)
{
    struct flow *f = flow;

    bz_flowrun_free(f->run);
    bz_flow_free(f->flow);
    free(f);
}

static void run_flow(void *pool, void *flow, bool deliver)
{
    struct bench_pool *p = pool;
    struct flow *f = flow;
    struct bz_flowrun_opts opts = {.body = deliver ? deliver_node : count_node,
                                   .arg = f->graph};
    struct bz_err err;

    if (bz_flowrun_go(f->run, p->pool, &opts, &err) < 0)
        abort();
}

struct fib {
    unsigned n;
    uint64_t result;
};

static void fib_call(struct bz_worker *w, void *arg)
{
    struct fib *f = arg, a = {f->n - 1, 0}, b = {f->n - 2, 0};

    if (f->n < 2) {
        f->result = f->n;
        return;
    }
    bz_pool_join(w, fib_call, &a, fib_call, &b);
    f->result = a.result + b.result;
}

static uint64_t fib(void *pool, unsigned n)
{
    struct bench_pool *p = pool;
    struct fib f = {n, 0};

    bz_pool_call(p->pool, fib_call, &f);
    return f.result;
}

static void call_wake(struct bz_worker *w, void *arg)
{
    struct bench_pool *p = arg;

    (void)w;
    p->wake_fn(p->wake_arg);
}

static void submit(void *pool, bench_job_fn fn, void *arg)
{
    struct bench_pool *p = pool;

    /* The one before has been waited for by what it ran; this makes sure that the
     * pool is done with the item too. */
    if (p->wake_fn && bz_pool_wait(&p->wake_item, 0) < 0)
        abort();
    p->wake_fn = fn;
    p->wake_arg = arg;
    p->wake_item = (struct bz_pool_item){.body = call_wake, .arg = p};
    bz_pool_submit(p->pool, NULL, BZ_LANE_COMPUTE, &p->wake_item);
}

static void wake(void *pool, struct bench_wake *w)
{
    struct bench_pool *p = pool;

    bench_wake_run(w, submit, pool);
    if (p->wake_fn && bz_pool_wait(&p->wake_item, 0) < 0)
        abort();
    p->wake_fn = NULL;
}

int main(int argc, char **argv)
{
    static const struct bench_peer peer = {
        .name = "bitzel",
        .open = open_pool,
        .close = close_pool,
        .spawn = spawn,
        .dag = dag,
        .open_flow = open_flow,
        .close_flow = close_flow,
        .flow = run_flow,
        .fib = fib,
        .wake = wake,
    };

    return bench_main(argc, argv, &peer);
}
