#include "exec/urgency.h"

#include "base/mem.h"
#include "os/clock.h"
#include "plan/cost.h"

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
    BZ_CLEANUP(bz_bitset_release) struct bz_bitset which = {0};
    BZ_CLEANUP(bz_mem_freep)
    struct bz_index_cost *costs = bz_mem_array(x->n, sizeof(*costs));

    for (uint32_t t = 0; t < x->n; t++)
        if (takes_time(x, t) || is_spared(x, t))
            bz_bitset_set(&which, t);
    bz_cost_find(&x->plan, bz_cache_index(x->o->cache), &which, costs);
    for (uint32_t t = 0; t < x->n; t++)
        x->tasks[t].cost = costs[t];
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
    const struct bz_index_task of = bz_cost_task(&x->plan.in, t);

    bz_index_note_cost(bz_cache_index(x->o->cache), &of, cost);
}

void bz_urgency_hear(struct bz_exec *x, uint32_t t, int64_t took)
{
    const struct bz_index_task of = bz_cost_task(&x->plan.in, t);

    bz_index_guess_cost(bz_cache_index(x->o->cache), &of, took);
}
