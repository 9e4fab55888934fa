#include "graph/plan.h"

#include <stdlib.h>

#include "base/mem.h"
#include "graph/dirty.h"

struct planning {
    struct bz_plan *plan;
    const struct bz_plan_in *in;
    struct bz_bitset run, empty;
};

/* Decides about a node that is needed; true if that is the end of it. */
static bool decide(void *ctx, uint32_t node)
{
    struct planning *p = ctx;
    enum bz_plan_state state = BZ_PLAN_RUN;

    if (p->in->empty(p->in->ctx, node))
        state = BZ_PLAN_EMPTY;
    else if (p->in->at_hand(p->in->ctx, node))
        state = BZ_PLAN_RESTORE;
    p->plan->state[node] = (uint8_t)state;
    p->plan->count[state]++;
    if (state == BZ_PLAN_RUN)
        bz_bitset_set(&p->run, node);
    if (state == BZ_PLAN_EMPTY)
        bz_bitset_set(&p->empty, node);
    return state == BZ_PLAN_RESTORE;
}

static void add_costs(struct planning *p)
{
    for (size_t i = bz_bitset_next(&p->run, 0); i != BZ_BITSET_END;
         i = bz_bitset_next(&p->run, i + 1)) {
        int64_t cost = p->in->cost(p->in->ctx, (uint32_t)i);

        p->plan->cost[i] = cost < 0 ? BZ_PLAN_UNKNOWN : cost;
        if (cost < 0)
            p->plan->unknown++;
        else
            p->plan->work += cost;
    }
}

/* A chain's length: what is known of its time and, among equals, how many run. */
struct length {
    int64_t time;
    uint32_t steps;
};

static bool is_longer(const struct length *a, const struct length *b)
{
    return a->time != b->time ? a->time > b->time : a->steps > b->steps;
}

/* The longest chain to each node, by way of nodes that run or are empty; from[] is the
 * one before it, itself if there is none. Returns the end of the longest of all. */
static uint32_t find_chains(const struct planning *p, struct length *end,
                            uint32_t *from)
{
    const struct bz_dag *dag = p->in->dag;
    uint32_t last = dag->n;

    for (size_t i = 0; i < p->in->order->len; i++) {
        uint32_t node = p->in->order->at[i];
        bool runs = p->plan->state[node] == BZ_PLAN_RUN;

        from[node] = node;
        if (!runs && p->plan->state[node] != BZ_PLAN_EMPTY)
            continue;
        for (uint32_t e = dag->start[node]; e < dag->start[node + 1]; e++)
            if (is_longer(&end[dag->to[e]], &end[node])) {
                end[node] = end[dag->to[e]];
                from[node] = dag->to[e];
            }
        if (!runs)
            continue;
        end[node].time += p->plan->cost[node] > 0 ? p->plan->cost[node] : 0;
        end[node].steps++;
        if (last == dag->n || is_longer(&end[node], &end[last]))
            last = node;
    }
    return last;
}

static void find_critical(struct planning *p)
{
    uint32_t n = p->in->dag->n;
    BZ_CLEANUP(bz_mem_freep) struct length *end = bz_mem_array(n, sizeof(*end));
    BZ_CLEANUP(bz_mem_freep) uint32_t *from = bz_mem_array(n, sizeof(*from));
    struct bz_dag_ids *path = &p->plan->path;
    uint32_t node = find_chains(p, end, from);

    if (node == n)
        return;
    p->plan->critical = end[node].time;
    for (;; node = from[node]) {
        if (p->plan->state[node] == BZ_PLAN_RUN)
            BZ_VEC_PUSH(path, node);
        if (from[node] == node)
            break;
    }
    for (size_t i = 0, k = path->len - 1; i < k; i++, k--) {
        uint32_t swap = path->at[i];

        path->at[i] = path->at[k];
        path->at[k] = swap;
    }
}

void bz_plan_make(struct bz_plan *plan, const struct bz_plan_in *in)
{
    struct planning p = {.plan = plan, .in = in};
    struct bz_bitset needed = {0};

    *plan = (struct bz_plan){.n = in->dag->n};
    plan->state = bz_mem_array(plan->n, sizeof(*plan->state));
    plan->cost = bz_mem_array(plan->n, sizeof(*plan->cost));
    bz_dirty_needed(in->dag, in->targets, decide, &p, &needed);
    plan->count[BZ_PLAN_UNNEEDED] = plan->n - (uint32_t)bz_bitset_count(&needed);
    if (plan->count[BZ_PLAN_RUN] > 0) {
        add_costs(&p);
        find_critical(&p);
    }
    bz_ready_waves(in->dag, in->order, &p.run, &p.empty, &plan->waves);
    bz_bitset_release(&needed);
    bz_bitset_release(&p.run);
    bz_bitset_release(&p.empty);
}

void bz_plan_release(struct bz_plan *plan)
{
    free(plan->state);
    free(plan->cost);
    bz_ready_waves_release(&plan->waves);
    bz_vec_release(&plan->path);
    *plan = (struct bz_plan){0};
}
