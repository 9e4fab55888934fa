#include "exec/urgency.h"

#include "os/clock.h"

/* An index is only a file: sums of what it says must not overflow, so nothing counts
 * for more than a day, and what needs a pebibyte is not believed. */
#define LONGEST (86400 * BZ_CLOCK_S)
#define LARGEST ((uint64_t)1 << 50)

static bool takes_time(const struct bz_exec *x, uint32_t t)
{
    return x->tasks[t].state == BZ_EXEC_WAITING && !bz_exec_is_noexec(x, t);
}

/* Nothing asks for it; and if this build has not run it itself before it found that it
 * has to begin anew, somebody else once has. */
static bool is_spared(const struct bz_exec *x, uint32_t t)
{
    return x->tasks[t].state == BZ_EXEC_UNNEEDED && !bz_exec_is_noexec(x, t) &&
           !bz_bitset_test(&x->ran, t);
}

/* What tasks that run take, and those that are not needed would have taken. */
static void ask_costs(struct bz_exec *x)
{
    const struct bz_tgraph *g = x->o->plan.graph;
    BZ_CLEANUP(bz_vec_release) struct BZ_VEC(struct bz_index_ask) asks = {0};
    size_t next = 0;

    for (uint32_t t = 0; t < x->n; t++)
        if (takes_time(x, t) || is_spared(x, t))
            BZ_VEC_PUSH(&asks, (struct bz_index_ask){
                                   .recipe = g->recipes[g->tasks[t].recipe].facts->pn,
                                   .task = g->tasks[t].facts->name});
    bz_index_get_costs(bz_cache_index(x->o->cache), asks.at, asks.len);
    for (uint32_t t = 0; t < x->n; t++) {
        struct bz_index_cost *cost = &x->tasks[t].cost;
        const struct bz_index_ask *ask;

        *cost = (struct bz_index_cost){-1, 0};
        if (!takes_time(x, t) && !is_spared(x, t))
            continue;
        ask = &asks.at[next++];
        if (!ask->known)
            continue;
        *cost = ask->cost;
        if (cost->duration < 0 || cost->duration > LONGEST)
            cost->duration = LONGEST;
        if (cost->peak > LARGEST)
            cost->peak = 0;
    }
}

/* What is known; the rest gets the mean of it. */
static void find_costs(struct bz_exec *x)
{
    int64_t sum = 0, known = 0, all = 0;

    ask_costs(x);
    x->spared = 0;
    for (uint32_t t = 0; t < x->n; t++) {
        int64_t duration = x->tasks[t].cost.duration;

        all += takes_time(x, t);
        if (is_spared(x, t)) {
            x->tasks[t].saved = duration > 0 ? duration : 0;
            x->spared += x->tasks[t].saved;
        } else if (duration >= 0) {
            sum += duration;
            known++;
        }
    }
    for (uint32_t t = 0; t < x->n; t++)
        if (x->tasks[t].cost.duration < 0)
            x->tasks[t].cost.duration = known > 0 ? sum / known : BZ_CLOCK_S;
    x->work = known > 0 ? sum + (all - known) * (sum / known) : 0;
    x->guess = 2 * known < all;
}

void bz_urgency_make(struct bz_exec *x)
{
    const struct bz_dag_ids *order = &x->o->plan.graph->order;
    const struct bz_dag *dag = &x->o->plan.graph->dag;

    find_costs(x);
    for (size_t i = order->len; i > 0; i--) {
        uint32_t t = order->at[i - 1];
        int64_t after = 0;

        for (uint32_t e = x->plan.dependents.start[t];
             e < x->plan.dependents.start[t + 1]; e++) {
            const struct bz_exec_task *w = &x->tasks[x->plan.dependents.to[e]];

            if (w->state == BZ_EXEC_WAITING && w->ahead > after)
                after = w->ahead;
        }
        x->tasks[t].ahead = after + (takes_time(x, t) ? x->tasks[t].cost.duration : 0);
    }
    for (size_t i = 0; i < order->len; i++) {
        uint32_t t = order->at[i], wave = 0;

        for (uint32_t e = dag->start[t]; e < dag->start[t + 1]; e++) {
            uint32_t d = dag->to[e];

            if (x->tasks[d].wave + takes_time(x, d) > wave)
                wave = x->tasks[d].wave + takes_time(x, d);
        }
        x->tasks[t].wave = x->tasks[t].state == BZ_EXEC_WAITING ? wave : 0;
    }
}

void bz_urgency_ready(struct bz_exec *x, uint32_t t)
{
    const struct bz_exec_task *task = &x->tasks[t];

    bz_queue_push(&bz_exec_queue_of(x, t)->ready,
                  &(struct bz_queue_item){.free = bz_exec_is_noexec(x, t),
                                          .wave = x->o->waves ? task->wave : 0,
                                          .ahead = task->ahead,
                                          .rank = x->plan.tasks[t].rank,
                                          .task = t});
}

void bz_urgency_settle(struct bz_exec *x, uint32_t t)
{
    if (!bz_exec_is_noexec(x, t))
        x->work -= x->tasks[t].cost.duration;
}

void bz_urgency_learn(struct bz_exec *x, uint32_t t, const struct bz_index_cost *cost)
{
    const struct bz_tgraph *g = x->o->plan.graph;

    bz_index_note_cost(bz_cache_index(x->o->cache),
                       g->recipes[g->tasks[t].recipe].facts->pn,
                       g->tasks[t].facts->name, cost);
}
