/* layered.h - the task graph every pool runs: layers of nodes, drawn once.
 *
 * Each node past the first layer has three different predecessors in the layer before
 * it, chosen by one fixed generator, so that every peer runs the very same graph.
 *
 * One word per node carries both what is missing and what the graph is checked by: the
 * low half counts the predecessors that have not finished, the high half adds up their
 * values modulo 2^32, which makes the value of the node. Node n of the first layer has
 * the value n + 1. A predecessor delivers both with one atomic addition. The values
 * come out right only if the edges are, and if every node started after all of its
 * predecessors had finished; the run counts, only if it ran exactly once.
 *
 * Read by C, C++ and Rust (bench_rayon.rs mirrors the two structs), hence the
 * compiler's
 * __atomic builtins on plain integers. Nothing here allocates but layered_init().
 */
#ifndef BENCH_LAYERED_H
#define BENCH_LAYERED_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LAYERED_LAYERS 100u
#define LAYERED_PREDS 3u
#define LAYERED_MIN UINT64_C(300) /* nodes: a layer has no fewer than PREDS */
#define LAYERED_MAX 100000000u
#define LAYERED_NONE UINT32_MAX /* no node */

/* What a worker does with the successors its node has made ready. */
enum layered_mode {
    LAYERED_SPAWN, /* spawns them all */
    LAYERED_CHAIN, /* runs the first itself, at once, and spawns the others */
};

struct layered_node {
    uint64_t state; /* value << 32 | predecessors still missing */
    uint32_t runs;  /* written by the one worker that runs the node */
    uint32_t first; /* its successors: succ[first] up to the next node's first */
};

struct layered {
    struct layered_node *nodes; /* count of them, and one more that ends the last */
    uint32_t *succ;
    uint64_t sum; /* of all values, found one after the other by layered_init() */
    uint32_t count;
    uint32_t width; /* nodes 0 to width - 1 are ready from the beginning */
};

/* Draws a graph of at most `nodes` nodes, a multiple of LAYERED_LAYERS; between
 * LAYERED_MIN and LAYERED_MAX. It is ready to run. */
void layered_init(struct layered *g, uint32_t nodes);
void layered_release(struct layered *g);

/* Makes a graph that has run ready to run again. */
void layered_reset(struct layered *g);

/* The sum of all values after a run: g->sum if all went well. A node that has not run
 * exactly once makes it UINT64_MAX. */
uint64_t layered_check(const struct layered *g);

/* The body of node n: counts the run. Returns its value, to deliver to successors. */
static inline uint32_t layered_run(struct layered *g, uint32_t n)
{
    struct layered_node *node = &g->nodes[n];
    uint32_t runs = __atomic_load_n(&node->runs, __ATOMIC_RELAXED);

    __atomic_store_n(&node->runs, runs + 1, __ATOMIC_RELAXED);
    return (uint32_t)(__atomic_load_n(&node->state, __ATOMIC_RELAXED) >> 32);
}

/* Tells successor n that one of its predecessors has finished. True if it was the last
 * one: the caller must now see to it that n runs.
 * acq_rel: the last one to arrive sees what all the others did before they arrived. */
static inline bool layered_arrive(struct layered *g, uint32_t n, uint32_t value)
{
    uint64_t add = ((uint64_t)value << 32) - 1;

    return (uint32_t)__atomic_add_fetch(&g->nodes[n].state, add, __ATOMIC_ACQ_REL) == 0;
}

/* Runs node n for somebody who keeps the order by counters of their own: delivers to
 * its successors, and leaves it at that. */
static inline void layered_deliver(struct layered *g, uint32_t n)
{
    uint32_t value = layered_run(g, n);

    for (uint32_t e = g->nodes[n].first; e < g->nodes[n + 1].first; e++)
        (void)layered_arrive(g, g->succ[e], value);
}

/* Runs node n and delivers to its successors, handing the ready ones to spawn(ctx,
 * node) as `mode` says. Returns how many nodes it ran. Inlined, so that `spawn` is no
 * call through a pointer. */
__attribute__((always_inline)) static inline uint32_t
layered_visit(struct layered *g, uint32_t n, enum layered_mode mode,
              void (*spawn)(void *ctx, uint32_t node), void *ctx)
{
    uint32_t ran = 0;

    while (n != LAYERED_NONE) {
        uint32_t value = layered_run(g, n), next = LAYERED_NONE;

        for (uint32_t e = g->nodes[n].first; e < g->nodes[n + 1].first; e++) {
            uint32_t s = g->succ[e];

            if (!layered_arrive(g, s, value))
                continue;
            if (mode == LAYERED_CHAIN && next == LAYERED_NONE)
                next = s;
            else
                spawn(ctx, s);
        }
        ran++;
        n = next;
    }
    return ran;
}

#ifdef __cplusplus
}
#endif

#endif
