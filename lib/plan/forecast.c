#include "plan/forecast.h"

#include "base/mem.h"

/* A chain's length: what is known of its time and, among equals, how many run. */
struct length {
    int64_t time;
    uint32_t steps;
};

static bool is_longer(const struct length *a, const struct length *b)
{
    return a->time != b->time ? a->time > b->time : a->steps > b->steps;
}

/* The longest chain to each task, by way of tasks that run or are empty; from[] is the
 * one before it, itself if there is none. Returns the end of the longest of all. */
static uint32_t find_chains(const struct bz_plan *plan, const int64_t *cost,
                            struct length *end, uint32_t *from)
{
    const struct bz_dag *dag = &plan->in.graph->dag;
    const struct bz_dag_ids *order = &plan->in.graph->order;
    uint32_t last = dag->n;

    for (size_t i = 0; i < order->len; i++) {
        uint32_t node = order->at[i];
        bool runs = bz_plan_may_run(plan, node);

        from[node] = node;
        if (!runs && plan->tasks[node].fate != BZ_PLAN_EMPTY)
            continue;
        for (uint32_t e = dag->start[node]; e < dag->start[node + 1]; e++)
            if (is_longer(&end[dag->to[e]], &end[node])) {
                end[node] = end[dag->to[e]];
                from[node] = dag->to[e];
            }
        if (!runs)
            continue;
        end[node].time += cost[node] > 0 ? cost[node] : 0;
        end[node].steps++;
        if (last == dag->n || is_longer(&end[node], &end[last]))
            last = node;
    }
    return last;
}

static void find_critical(struct bz_forecast *f, const struct bz_plan *plan,
                          const int64_t *cost)
{
    BZ_CLEANUP(bz_mem_freep) struct length *end = bz_mem_array(plan->n, sizeof(*end));
    BZ_CLEANUP(bz_mem_freep) uint32_t *from = bz_mem_array(plan->n, sizeof(*from));
    struct bz_dag_ids *path = &f->path;
    uint32_t node = find_chains(plan, cost, end, from);

    if (node == plan->n)
        return;
    f->critical = end[node].time;
    for (;; node = from[node]) {
        if (bz_plan_may_run(plan, node))
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

void bz_forecast_make(struct bz_forecast *f, const struct bz_plan *plan,
                      const int64_t *cost)
{
    const struct bz_tgraph *g = plan->in.graph;
    BZ_CLEANUP(bz_bitset_release) struct bz_bitset run = {0};
    BZ_CLEANUP(bz_bitset_release) struct bz_bitset empty = {0};

    *f = (struct bz_forecast){0};
    for (uint32_t t = 0; t < plan->n; t++) {
        if (plan->tasks[t].fate == BZ_PLAN_EMPTY)
            bz_bitset_set(&empty, t);
        if (!bz_plan_may_run(plan, t))
            continue;
        bz_bitset_set(&run, t);
        if (cost[t] < 0)
            f->unknown++;
        else
            f->work += cost[t];
    }
    if (plan->count[BZ_PLAN_RUN] + plan->count[BZ_PLAN_UNLESS] > 0)
        find_critical(f, plan, cost);
    bz_ready_waves(&g->dag, &g->order, &run, &empty, &f->waves);
}

void bz_forecast_release(struct bz_forecast *f)
{
    bz_ready_waves_release(&f->waves);
    bz_vec_release(&f->path);
    *f = (struct bz_forecast){0};
}
