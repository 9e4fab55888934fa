/* bench_rayon.c - the table of rayon's functions, which bench_rayon.rs implements. */
#include "bench.h"

void *bench_rayon_open(unsigned workers, enum bench_entry entry);
void bench_rayon_close(void *pool);
void bench_rayon_spawn(void *pool, uint64_t n);
void bench_rayon_dag(void *pool, struct layered *g, enum layered_mode mode);
uint64_t bench_rayon_fib(void *pool, unsigned n);
void bench_rayon_submit(void *pool, bench_job_fn fn, void *arg);

static void wake(void *pool, struct bench_wake *w)
{
    bench_wake_run(w, bench_rayon_submit, pool);
}

int main(int argc, char **argv)
{
    static const struct bench_peer peer = {
        .name = "rayon",
        .open = bench_rayon_open,
        .close = bench_rayon_close,
        .spawn = bench_rayon_spawn,
        .dag = bench_rayon_dag,
        .fib = bench_rayon_fib,
        .wake = wake,
    };

    return bench_main(argc, argv, &peer);
}
