/* bench_openmp.c - tasks of the compiler's OpenMP runtime.
 *
 * The runtime's threads work only inside a parallel region, so each workload opens one;
 * the calling thread is one of the team. GCC's runtime runs a task on the spot, without
 * queueing it, while 64 for each thread are waiting.
 */
#include "base/mem.h"
#include "bench.h"

struct team {
    unsigned workers;
};

static void *open_team(unsigned workers, enum bench_entry entry)
{
    struct team *t = bz_mem_zalloc(sizeof(*t));

    /* The thread that submits from outside has to be in the region as well. */
    t->workers = workers + (entry == BENCH_OUTSIDE);
    return t;
}

static void close_team(void *pool)
{
    free(pool);
}

static void spawn(void *pool, uint64_t n)
{
    struct team *t = pool;

#pragma omp parallel num_threads(t->workers)
#pragma omp single
    for (uint64_t i = 0; i < n; i++) {
#pragma omp task
        bench_count();
    }
}

struct walk {
    struct layered *graph;
    enum layered_mode mode;
};

static void visit(struct walk *w, uint32_t n);

static void spawn_node(void *ctx, uint32_t n)
{
    struct walk *w = ctx;

#pragma omp task firstprivate(w, n)
    visit(w, n);
}

static void visit(struct walk *w, uint32_t n)
{
    layered_visit(w->graph, n, w->mode, spawn_node, w);
}

static void dag(void *pool, struct layered *g, enum layered_mode mode)
{
    struct team *t = pool;
    struct walk w = {.graph = g, .mode = mode};

#pragma omp parallel num_threads(t->workers)
#pragma omp single
    for (uint32_t n = 0; n < g->width; n++)
        spawn_node(&w, n);
}

static uint64_t fib_call(unsigned n)
{
    uint64_t a, b;

    if (n < 2)
        return n;
#pragma omp task shared(a) firstprivate(n)
    a = fib_call(n - 1);
    b = fib_call(n - 2);
#pragma omp taskwait
    return a + b;
}

static uint64_t fib(void *pool, unsigned n)
{
    struct team *t = pool;
    uint64_t result = 0;

#pragma omp parallel num_threads(t->workers)
#pragma omp single
    result = fib_call(n);
    return result;
}

static void submit(void *pool, bench_job_fn fn, void *arg)
{
    (void)pool;
#pragma omp task firstprivate(fn, arg)
    fn(arg);
}

static void wake(void *pool, struct bench_wake *w)
{
    struct team *t = pool;

#pragma omp parallel num_threads(t->workers)
#pragma omp single
    bench_wake_run(w, submit, t);
}

int main(int argc, char **argv)
{
    static const struct bench_peer peer = {
        .name = "openmp",
        .open = open_team,
        .close = close_team,
        .spawn = spawn,
        .dag = dag,
        .fib = fib,
        .wake = wake,
    };

    return bench_main(argc, argv, &peer);
}
