#include "plan/plan.h"

#include <stdlib.h>

#include "base/mem.h"
#include "cache/reindex.h"
#include "plan/handing.h"

struct asks BZ_VEC(struct bz_plan_ask);

struct planning {
    struct bz_plan *plan;
    const struct bz_plan_store *store;
    struct bz_bitset seen; /* tasks that are needed */
    uint32_t missed;       /* tasks that may be restored by their content keys */
    /* From the bottom up: */
    uint32_t *unknown;       /* [n]: dependencies whose output is not known */
    struct bz_dag_ids ready; /* tasks without any */
};

static bool is_canceled(const struct planning *p)
{
    return p->store->cancel && bz_cancel_check(p->store->cancel) < 0;
}

static bool may_use(const struct bz_plan *plan, uint32_t t)
{
    const struct bz_plan_in *in = &plan->in;
    bool ran = in->ran && bz_bitset_test(in->ran, t);

    return (ran || !in->no_cache) && !plan->tasks[t].fleeting;
}

/* A miss stays a miss, whatever the dependencies come to. */
static bool is_hopeless(const struct bz_plan *plan, uint32_t t)
{
    const struct bz_bitset *forced = plan->in.forced;

    return !may_use(plan, t) || (forced && bz_bitset_test(forced, t));
}

static bool is_certain(const struct planning *p, uint32_t t)
{
    return p->store->empty || is_hopeless(p->plan, t);
}

static bool has_lost(const struct bz_map *lost, const struct bz_output_layers *layers)
{
    for (size_t i = 0; lost && lost->len > 0 && i < layers->len; i++)
        if (bz_map_get(lost, bz_str_of((const char *)layers->at[i].tree.hash.b,
                                       BZ_DIGEST_LEN)))
            return true;
    return false;
}

/* Makes a result that was found the task's. */
static bool take(struct bz_plan *plan, const struct bz_plan_ask *ask)
{
    struct bz_plan_task *task = &plan->tasks[ask->task];
    const struct bz_reapi_result *result = &ask->result;
    struct bz_output *out = &task->output;
    struct bz_err ignored;

    if (!ask->found || bz_output_read(out, result, &ignored) < 0)
        return false;
    if (has_lost(plan->in.lost, &out->own) || has_lost(plan->in.lost, &out->shared)) {
        bz_output_release(out);
        return false;
    }
    task->saved = bz_reindex_duration(result);
    task->began = result->when[BZ_REAPI_RUN_START];
    task->ended = result->when[BZ_REAPI_RUN_DONE];
    task->printed = result->out_raw;
    task->log = result->out;
    task->fate = BZ_PLAN_RESTORE;
    task->known = true;
    return true;
}

/* Has a stored list name the tasks of this graph: what the task wrote lies on what it
 * is handed now. That has the same trees, but they may come from others, whose place in
 * the order nobody here would know. False if this is no such list. */
static bool rebase(struct bz_output_layers *stored,
                   const struct bz_output_layers *handed, struct bz_str name)
{
    if (stored->len != handed->len && stored->len != handed->len + 1)
        return false;
    if (stored->len > handed->len)
        stored->at[0].task = name;
    stored->len -= handed->len;
    for (size_t i = 0; i < handed->len; i++)
        BZ_VEC_PUSH(stored, handed->at[i]);
    return true;
}

/* Makes a result that was found by its content key the task's. */
static bool take_same(struct bz_plan *plan, const struct bz_plan_ask *ask,
                      const struct bz_output *handed)
{
    struct bz_plan_task *task = &plan->tasks[ask->task];
    struct bz_str name = plan->in.names[ask->task];
    enum bz_plan_fate fate = task->fate;

    if (!take(plan, ask))
        return false;
    task->same = rebase(&task->output.own, &handed->own, name) &&
                 rebase(&task->output.shared, &handed->shared, name);
    if (task->same)
        return true;
    bz_output_release(&task->output);
    task->fate = fate;
    task->known = false;
    return false;
}

bool bz_plan_find_same(struct bz_plan *plan, const struct bz_plan_store *store,
                       uint32_t task, const struct bz_output *handed,
                       const struct bz_digest *content)
{
    struct bz_plan_ask ask = {
        .task = task, .key = *content, .near = plan->tasks[task].fate == BZ_PLAN_RUN};

    if (is_hopeless(plan, task))
        return false;
    store->ask(store->ctx, &ask, 1);
    return take_same(plan, &ask, handed);
}

/* ---- from the targets down ---- */

static void need(struct planning *p, struct asks *level, uint32_t t)
{
    if (bz_bitset_test(&p->seen, t))
        return;
    bz_bitset_set(&p->seen, t);
    BZ_VEC_PUSH(level, (struct bz_plan_ask){.task = t, .key = p->plan->in.keys[t]});
}

/* Tasks whose results may be used come first, and are looked up together. */
static void look_up(struct planning *p, struct asks *level)
{
    size_t n = 0;

    for (size_t i = 0; i < level->len && !p->store->empty; i++) {
        uint32_t t = level->at[i].task;

        if (!bz_plan_is_noexec(p->plan, t) && may_use(p->plan, t)) {
            struct bz_plan_ask ask = level->at[i];

            level->at[i] = level->at[n];
            level->at[n++] = ask;
        }
    }
    if (n > 0)
        p->store->ask(p->store->ctx, level->at, n);
}

static void ask_down(struct planning *p)
{
    struct bz_plan *plan = p->plan;
    const struct bz_tgraph *g = plan->in.graph;
    BZ_CLEANUP(bz_vec_release) struct asks level = {0};

    for (size_t i = 0; i < g->targets.len; i++)
        need(p, &level, g->targets.at[i]);
    while (level.len > 0 && !is_canceled(p)) {
        BZ_CLEANUP(bz_vec_release) struct asks below = {0};

        look_up(p, &level);
        for (size_t i = 0; i < level.len; i++) {
            uint32_t t = level.at[i].task;

            if (take(plan, &level.at[i]))
                continue;
            plan->tasks[t].fate =
                bz_plan_is_noexec(plan, t) ? BZ_PLAN_EMPTY : BZ_PLAN_RUN;
            p->missed += plan->tasks[t].fate == BZ_PLAN_RUN && !is_certain(p, t);
            for (uint32_t e = g->dag.start[t]; e < g->dag.start[t + 1]; e++)
                need(p, &below, g->dag.to[e]);
        }
        bz_vec_release(&level);
        level = below;
        below = (struct asks){0};
    }
}

/* ---- from the bottom up ---- */

/* The dependents of a task whose output has become known. */
static void release_dependents(struct planning *p, uint32_t t)
{
    const struct bz_dag *dag = &p->plan->dependents;

    for (uint32_t e = dag->start[t]; e < dag->start[t + 1]; e++)
        if (p->unknown[dag->to[e]] > 0 && --p->unknown[dag->to[e]] == 0)
            BZ_VEC_PUSH(&p->ready, dag->to[e]);
}

static void count_unknown(struct planning *p)
{
    const struct bz_dag *dag = &p->plan->in.graph->dag;

    for (size_t t = bz_bitset_next(&p->seen, 0); t != BZ_BITSET_END;
         t = bz_bitset_next(&p->seen, t + 1)) {
        if (p->plan->tasks[t].fate == BZ_PLAN_RESTORE)
            continue;
        for (uint32_t e = dag->start[t]; e < dag->start[t + 1]; e++)
            p->unknown[t] += !p->plan->tasks[dag->to[e]].known;
        if (p->unknown[t] == 0)
            BZ_VEC_PUSH(&p->ready, (uint32_t)t);
    }
}

/* Takes the tasks whose dependencies are known: those that are empty become known, the
 * others get a content key, and are to be looked up. */
static void sign_ready(struct planning *p, struct asks *asks, struct bz_output *handed)
{
    while (p->ready.len > 0) {
        uint32_t t = BZ_VEC_POP(&p->ready);
        struct bz_plan_ask ask = {.task = t};

        if (p->plan->tasks[t].fate == BZ_PLAN_EMPTY) {
            bz_handing_collect(p->plan, t, &p->plan->tasks[t].output);
            p->plan->tasks[t].known = true;
            release_dependents(p, t);
        } else if (!is_certain(p, t)) {
            bz_handing_collect(p->plan, t, &handed[t]);
            bz_handing_sign(p->plan, t, &handed[t], &ask.key);
            BZ_VEC_PUSH(asks, ask);
        }
    }
}

static void settle_up(struct planning *p)
{
    struct bz_plan *plan = p->plan;
    BZ_CLEANUP(bz_mem_freep)
    struct bz_output *handed = bz_mem_array(plan->n, sizeof(*handed));
    BZ_CLEANUP(bz_vec_release) struct asks asks = {0};

    bz_plan_link(plan);
    p->unknown = bz_mem_array(plan->n, sizeof(*p->unknown));
    count_unknown(p);
    while (p->ready.len > 0 && !is_canceled(p)) {
        BZ_VEC_CLEAR(&asks);
        sign_ready(p, &asks, handed);
        if (asks.len > 0)
            p->store->ask(p->store->ctx, asks.at, asks.len);
        for (size_t i = 0; i < asks.len; i++) {
            uint32_t t = asks.at[i].task;

            if (take_same(plan, &asks.at[i], &handed[t]))
                release_dependents(p, t);
            bz_output_release(&handed[t]);
        }
    }
    for (uint32_t t = 0; t < plan->n; t++)
        if (plan->tasks[t].fate == BZ_PLAN_RUN && p->unknown[t] > 0 &&
            !is_certain(p, t))
            plan->tasks[t].fate = BZ_PLAN_UNLESS;
    free(p->unknown);
    bz_vec_release(&p->ready);
}

/* ---- all of it ---- */

static void rank(struct bz_plan *plan)
{
    const struct bz_tgraph *g = plan->in.graph;
    const struct bz_bitset *unused = plan->in.unused;

    for (size_t i = 0; i < g->order.len; i++) {
        uint32_t t = g->order.at[i];
        struct bz_plan_task *task = &plan->tasks[t];

        task->rank = (uint32_t)i;
        task->level = 1;
        task->fleeting = g->tasks[t].facts->nostamp || plan->in.enter == t + 1 ||
                         (unused && bz_bitset_test(unused, t));
        for (uint32_t e = g->dag.start[t]; e < g->dag.start[t + 1]; e++) {
            const struct bz_plan_task *below = &plan->tasks[g->dag.to[e]];

            if (below->fleeting)
                task->fleeting = true;
            if (task->level <= below->level)
                task->level = below->level + 1;
        }
    }
}

int bz_plan_open(struct bz_plan *plan, const struct bz_plan_in *in, struct bz_err *err)
{
    *plan = (struct bz_plan){.in = *in, .n = in->graph->dag.n};
    plan->tasks = bz_mem_array(plan->n, sizeof(*plan->tasks));
    rank(plan);
    plan->count[BZ_PLAN_UNNEEDED] = plan->n;
    return bz_digest_hasher_new(&plan->hasher, err);
}

void bz_plan_link(struct bz_plan *plan)
{
    if (plan->linked)
        return;
    plan->linked = true;
    for (uint32_t t = 0; t < plan->n; t++)
        bz_map_put(&plan->ids, plan->in.names[t])->u = t + 1;
    bz_dag_reverse(&plan->in.graph->dag, &plan->dependents);
}

void bz_plan_release(struct bz_plan *plan)
{
    for (uint32_t t = 0; t < plan->n; t++)
        bz_output_release(&plan->tasks[t].output);
    free(plan->tasks);
    bz_map_release(&plan->ids);
    bz_dag_release(&plan->dependents);
    bz_digest_hasher_free(plan->hasher);
    *plan = (struct bz_plan){0};
}

static void forget(struct bz_plan *plan)
{
    for (uint32_t t = 0; t < plan->n; t++) {
        struct bz_plan_task *task = &plan->tasks[t];

        bz_output_release(&task->output);
        task->fate = BZ_PLAN_UNNEEDED;
        task->same = task->known = false;
        task->saved = 0;
    }
}

void bz_plan_make(struct bz_plan *plan, const struct bz_plan_store *store)
{
    struct planning p = {.plan = plan, .store = store};

    forget(plan);
    ask_down(&p);
    if (p.missed > 0)
        settle_up(&p);
    for (size_t i = 0; i < BZ_PLAN_FATES; i++)
        plan->count[i] = 0;
    for (uint32_t t = 0; t < plan->n; t++)
        plan->count[plan->tasks[t].fate]++;
    bz_bitset_release(&p.seen);
}
