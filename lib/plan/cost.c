#include "plan/cost.h"

#include "os/clock.h"

/* Sums of what an index says must not overflow, so nothing counts for more than a day,
 * and what needs a pebibyte is not believed. */
#define LONGEST (86400 * BZ_CLOCK_S)
#define LARGEST ((uint64_t)1 << 50)

struct bz_index_task bz_cost_task(const struct bz_plan_in *in, uint32_t task)
{
    const struct bz_tgraph *g = in->graph;
    const struct bz_tgraph_recipe *recipe = &g->recipes[g->tasks[task].recipe];

    return (struct bz_index_task){.project = in->project,
                                  .machine = in->machines ? in->machines[recipe->part]
                                                          : BZ_STR(""),
                                  .recipe = recipe->facts->pn,
                                  .version = recipe->facts->pv,
                                  .task = g->tasks[task].facts->name};
}

void bz_cost_find(const struct bz_plan *plan, struct bz_index *index,
                  const struct bz_bitset *which, struct bz_index_cost *out)
{
    BZ_CLEANUP(bz_vec_release) struct BZ_VEC(struct bz_index_ask) asks = {0};
    size_t next = 0;

    for (uint32_t t = 0; t < plan->n; t++) {
        out[t] = (struct bz_index_cost){BZ_COST_UNKNOWN, 0};
        if (bz_bitset_test(which, t))
            BZ_VEC_PUSH(&asks, (struct bz_index_ask){.of = bz_cost_task(&plan->in, t)});
    }
    if (asks.len == 0)
        return;
    bz_index_get_costs(index, asks.at, asks.len);
    for (size_t t = bz_bitset_next(which, 0); t != BZ_BITSET_END;
         t = bz_bitset_next(which, t + 1)) {
        const struct bz_index_ask *ask = &asks.at[next++];

        if (!ask->known)
            continue;
        out[t] = ask->cost;
        if (out[t].duration < 0 || out[t].duration > LONGEST)
            out[t].duration = LONGEST;
        if (out[t].peak > LARGEST)
            out[t].peak = 0;
    }
}
