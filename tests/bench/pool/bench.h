/* bench.h - what every benchmarked pool has in common.
 *
 * A peer is a table of functions and a main() that hands it to bench_main(). The
 * harness owns the command line, the clocks, the repetitions, the checks and the
 * output; a peer only drives its pool, in the way its own manual recommends. So a
 * difference between two peers is a difference between two pools.
 *
 * The functions of a peer are called by one thread, one after the other, each returning
 * when its work is done and the pool is quiet again.
 */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include <semaphore.h>
#include <stdint.h>

#include "layered.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where work comes from. */
enum bench_entry {
    BENCH_INSIDE,  /* from a worker; a pool in which the caller works too counts it as
                      one of its workers */
    BENCH_OUTSIDE, /* from a thread that is none of the workers */
};

struct bench_wake;

struct bench_peer {
    const char *name;
    void *(*open)(unsigned workers, enum bench_entry entry);
    void (*close)(void *pool);

    /* One worker spawns n tasks, each of which only calls bench_count(). */
    void (*spawn)(void *pool, uint64_t n);

    /* One worker spawns the first layer; every task is one layered_visit(). */
    void (*dag)(void *pool, struct layered *g, enum layered_mode mode);

    /* The n-th Fibonacci number, forking at every call with n > 1. NULL for a pool
     * whose workers cannot wait for work they have spawned. */
    uint64_t (*fib)(void *pool, unsigned n);

    /* Calls bench_wake_run() on a thread that is none of the workers. */
    void (*wake)(void *pool, struct bench_wake *wake);

    /* Runs the graph with the pool's own runner of graphs; `flow` is what open_flow()
     * made of it. Each node calls bench_count(), or layered_deliver() if `deliver`.
     * NULL for a pool that has none: it runs `dag` by spawning. */
    void *(*open_flow)(struct layered *g);
    void (*close_flow)(void *flow);
    void (*flow)(void *pool, void *flow, bool deliver);
};

/* Runs the workload the command line names. Returns the exit code: 0, 1 if a check
 * failed, 2 if the command line is wrong. */
int bench_main(int argc, char **argv, const struct bench_peer *peer);

/* Counts one execution on the calling thread. A thread has its own counter, so that
 * counting costs every peer the same few instructions and no shared cache line. */
extern __thread uint64_t *bench_slot;
uint64_t *bench_slot_claim(void);

static inline void bench_count(void)
{
    uint64_t *slot = bench_slot ? bench_slot : bench_slot_claim();

    __atomic_store_n(slot, __atomic_load_n(slot, __ATOMIC_RELAXED) + 1,
                     __ATOMIC_RELAXED);
}

/* Hands one call of fn(arg) to the pool and returns without waiting for it. */
typedef void (*bench_job_fn)(void *arg);
typedef void (*bench_submit_fn)(void *pool, bench_job_fn fn, void *arg);

/* Takes all samples of the wake workload: lets the pool fall asleep, submits one job,
 * and waits for it, again and again. */
void bench_wake_run(struct bench_wake *wake, bench_submit_fn submit, void *pool);

/* For pools that cannot wait for a group of tasks: lets one thread wait for a known
 * number of them. */
struct bench_latch {
    uint64_t missing;
    sem_t done;
};

void bench_latch_init(struct bench_latch *latch, uint64_t missing);
void bench_latch_wait(struct bench_latch *latch); /* once; the latch is gone after it */

static inline void bench_latch_arrive(struct bench_latch *latch, uint64_t n)
{
    /* acq_rel: whoever waits sees what every task did before it arrived. */
    if (__atomic_sub_fetch(&latch->missing, n, __ATOMIC_ACQ_REL) == 0)
        sem_post(&latch->done);
}

#ifdef __cplusplus
}
#endif

#endif
