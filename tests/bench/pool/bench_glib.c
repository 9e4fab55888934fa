/* bench_glib.c - GLib's GThreadPool.
 *
 * Such a pool has one function for all its items, and an item is a pointer. The pool of
 * this program calls `item` with it, which each workload sets; the item that starts a
 * workload is the pool's own struct, and calls `root`.
 */
#include <glib.h>

#include "bench.h"

struct pool {
    GThreadPool *threads;
    void (*root)(struct pool *p);
    void (*item)(struct pool *p, void *data);

    /* What the workload at hand is about. */
    uint64_t count;
    struct layered *graph;
    enum layered_mode mode;
    bench_job_fn wake_fn;
    struct bench_latch latch;
};

static void dispatch(gpointer data, gpointer user)
{
    struct pool *p = user;

    if (data == p)
        p->root(p);
    else
        p->item(p, data);
}

static void push(struct pool *p, void *data)
{
    g_thread_pool_push(p->threads, data, NULL);
}

static void run_root(struct pool *p, uint64_t tasks)
{
    bench_latch_init(&p->latch, tasks);
    push(p, p);
    bench_latch_wait(&p->latch);
}

static void *open_pool(unsigned workers, enum bench_entry entry)
{
    struct pool *p = g_new0(struct pool, 1);
    GError *error = NULL;

    (void)entry; /* the caller is never a worker */
    p->threads = g_thread_pool_new(dispatch, p, (gint)workers, TRUE, &error);
    if (error)
        g_error("thread pool: %s", error->message);
    return p;
}

static void close_pool(void *pool)
{
    struct pool *p = pool;

    g_thread_pool_free(p->threads, FALSE, TRUE);
    g_free(p);
}

static void count_one(struct pool *p, void *data)
{
    (void)data;
    bench_count();
    bench_latch_arrive(&p->latch, 1);
}

static void spawn_all(struct pool *p)
{
    for (uint64_t i = 0, n = p->count; i < n; i++)
        push(p, &p->count); /* an item may be any pointer but NULL */
}

static void spawn(void *pool, uint64_t n)
{
    struct pool *p = pool;

    p->count = n;
    p->root = spawn_all;
    p->item = count_one;
    run_root(p, n);
}

static void spawn_node(void *ctx, uint32_t n)
{
    struct pool *p = ctx;

    push(p, &p->graph->nodes[n]);
}

static void visit(struct pool *p, void *data)
{
    uint32_t n = (uint32_t)((struct layered_node *)data - p->graph->nodes);
    uint32_t ran = layered_visit(p->graph, n, p->mode, spawn_node, p);

    bench_latch_arrive(&p->latch, ran);
}

static void spawn_first(struct pool *p)
{
    for (uint32_t n = 0, width = p->graph->width; n < width; n++)
        spawn_node(p, n);
}

static void dag(void *pool, struct layered *g, enum layered_mode mode)
{
    struct pool *p = pool;

    p->graph = g;
    p->mode = mode;
    p->root = spawn_first;
    p->item = visit;
    run_root(p, g->count);
}

static void call_wake(struct pool *p, void *data)
{
    p->wake_fn(data);
}

static void submit(void *pool, bench_job_fn fn, void *arg)
{
    struct pool *p = pool;

    p->item = call_wake;
    p->wake_fn = fn;
    push(p, arg);
}

static void wake(void *pool, struct bench_wake *w)
{
    bench_wake_run(w, submit, pool);
}

int main(int argc, char **argv)
{
    static const struct bench_peer peer = {
        .name = "glib",
        .open = open_pool,
        .close = close_pool,
        .spawn = spawn,
        .dag = dag,
        .wake = wake,
    };

    return bench_main(argc, argv, &peer);
}
