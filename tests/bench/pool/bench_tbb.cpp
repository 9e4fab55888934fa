// bench_tbb.cpp - oneTBB: a task_group inside a task_arena.
//
// The calling thread works in the arena, in the slot that is reserved for it.
#include <tbb/global_control.h>
#include <tbb/parallel_invoke.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>

#include "bench.h"

namespace
{

struct Pool {
    tbb::global_control threads;
    tbb::task_arena arena;

    // A thread that stays outside takes no slot, but counts as one in the limit of
    // threads.
    Pool(unsigned workers, bool outside)
        : threads(tbb::global_control::max_allowed_parallelism, workers + outside),
          arena(static_cast<int>(workers), outside ? 0 : 1)
    {
        arena.initialize();
    }
};

void *open_pool(unsigned workers, bench_entry entry)
{
    return new Pool(workers, entry == BENCH_OUTSIDE);
}

void close_pool(void *pool)
{
    delete static_cast<Pool *>(pool);
}

void spawn(void *pool, uint64_t n)
{
    static_cast<Pool *>(pool)->arena.execute([n] {
        tbb::task_group group;

        for (uint64_t i = 0; i < n; i++)
            group.run([] { bench_count(); });
        group.wait();
    });
}

struct Walk {
    layered *graph;
    layered_mode mode;
    tbb::task_group group;

    static void spawn_node(void *ctx, uint32_t n)
    {
        Walk *w = static_cast<Walk *>(ctx);

        w->group.run([w, n] { w->visit(n); });
    }

    void visit(uint32_t n)
    {
        layered_visit(graph, n, mode, spawn_node, this);
    }
};

void dag(void *pool, layered *g, layered_mode mode)
{
    static_cast<Pool *>(pool)->arena.execute([g, mode] {
        Walk walk{g, mode, {}};

        for (uint32_t n = 0; n < g->width; n++)
            Walk::spawn_node(&walk, n);
        walk.group.wait();
    });
}

uint64_t fib_call(unsigned n)
{
    uint64_t a, b;

    if (n < 2)
        return n;
    tbb::parallel_invoke([&a, n] { a = fib_call(n - 1); },
                         [&b, n] { b = fib_call(n - 2); });
    return a + b;
}

uint64_t fib(void *pool, unsigned n)
{
    return static_cast<Pool *>(pool)->arena.execute([n] { return fib_call(n); });
}

void submit(void *pool, bench_job_fn fn, void *arg)
{
    static_cast<Pool *>(pool)->arena.enqueue([fn, arg] { fn(arg); });
}

void wake(void *pool, bench_wake *w)
{
    bench_wake_run(w, submit, pool);
}

} // namespace

int main(int argc, char **argv)
{
    static const bench_peer peer = {"tbb", open_pool, close_pool, spawn,   dag,
                                    fib,   wake,      nullptr,    nullptr, nullptr};

    return bench_main(argc, argv, &peer);
}
