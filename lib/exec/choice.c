#include "exec/choice.h"

#include "base/mem.h"
#include "cache/reindex.h"
#include "exec/lookup.h"
#include "exec/urgency.h"

static bool is_lost(const struct bz_exec *x, const struct bz_output_layers *layers)
{
    for (size_t i = 0; x->lost.len > 0 && i < layers->len; i++)
        if (bz_map_get(&x->lost, bz_str_of((const char *)layers->at[i].tree.hash.b,
                                           BZ_DIGEST_LEN)))
            return true;
    return false;
}

static bool may_use(const struct bz_exec *x, uint32_t t)
{
    return !(x->o->no_cache && !bz_bitset_test(&x->ran, t)) && !x->tasks[t].fleeting;
}

/* Makes a result that was found the task's. */
static bool take(struct bz_exec *x, const struct bz_lookup *l)
{
    struct bz_exec_task *task = &x->tasks[l->task];
    struct bz_output *out = &task->output;
    const struct bz_reapi_result *result = &l->result;
    struct bz_err ignored;

    if (!l->found || bz_output_read(out, result, &ignored) < 0)
        return false;
    task->saved = bz_reindex_duration(result);
    task->began = result->when[BZ_REAPI_RUN_START];
    task->ended = result->when[BZ_REAPI_RUN_DONE];
    task->printed = result->out_raw;
    task->log = result->out;
    if (!is_lost(x, &out->own) && !is_lost(x, &out->shared))
        return true;
    bz_output_release(out);
    return false;
}

bool bz_choice_find(struct bz_exec *x, uint32_t t, const struct bz_digest *key)
{
    struct bz_lookup l = {.task = t, .key = *key};

    if (!may_use(x, t))
        return false;
    bz_lookup_all(x, &l, 1);
    return take(x, &l);
}

void bz_choice_use(struct bz_exec *x, uint32_t t, bool same)
{
    x->tasks[t].state = BZ_EXEC_CACHED;
    if (bz_bitset_test(&x->ran, t))
        return; /* by this very build */
    x->counts->cached++;
    bz_exec_tell(x, &(struct bz_event){.kind = BZ_EVENT_CACHED,
                                       .task = t,
                                       .same = same,
                                       .saved = x->tasks[t].saved});
}

void bz_choice_rank(struct bz_exec *x)
{
    const struct bz_tgraph *g = x->o->graph;

    for (size_t i = 0; i < g->order.len; i++) {
        uint32_t t = g->order.at[i];

        x->tasks[t].rank = (uint32_t)i;
        x->tasks[t].level = 1;
        x->tasks[t].fleeting = g->tasks[t].facts->nostamp || x->o->enter == t + 1 ||
                               (x->o->unused && bz_bitset_test(x->o->unused, t));
        for (uint32_t e = g->dag.start[t]; e < g->dag.start[t + 1]; e++) {
            const struct bz_exec_task *below = &x->tasks[g->dag.to[e]];

            if (below->fleeting)
                x->tasks[t].fleeting = true;
            if (x->tasks[t].level <= below->level)
                x->tasks[t].level = below->level + 1;
        }
    }
}

struct lookups BZ_VEC(struct bz_lookup);

/* A task that somebody needs. It runs if no result is found. */
static void need(struct bz_exec *x, struct bz_bitset *seen, struct lookups *level,
                 uint32_t t)
{
    if (bz_bitset_test(seen, t))
        return;
    bz_bitset_set(seen, t);
    BZ_VEC_PUSH(level, (struct bz_lookup){.task = t, .key = x->o->keys[t]});
}

/* Those that may be found come first, and are looked for together. */
static void look_up(struct bz_exec *x, struct lookups *level)
{
    size_t n = 0;

    for (size_t i = 0; i < level->len; i++) {
        uint32_t t = level->at[i].task;

        if (!bz_exec_is_noexec(x, t) && may_use(x, t)) {
            struct bz_lookup l = level->at[i];

            level->at[i] = level->at[n];
            level->at[n++] = l;
        }
    }
    bz_lookup_all(x, level->at, n);
}

/* From the targets down to what is stored, a level at a time. */
static void decide(struct bz_exec *x)
{
    const struct bz_dag *dag = &x->o->graph->dag;
    BZ_CLEANUP(bz_vec_release) struct lookups level = {0};
    BZ_CLEANUP(bz_bitset_release) struct bz_bitset seen = {0};

    for (size_t i = 0; i < x->o->graph->targets.len; i++)
        need(x, &seen, &level, x->o->graph->targets.at[i]);
    while (level.len > 0 && bz_cancel_check(&x->cancel) == 0) {
        BZ_CLEANUP(bz_vec_release) struct lookups below = {0};

        bz_exec_tell_time(x);
        look_up(x, &level);
        for (size_t i = 0; i < level.len; i++) {
            uint32_t t = level.at[i].task;

            if (take(x, &level.at[i])) {
                bz_choice_use(x, t, false);
                continue;
            }
            x->tasks[t].state = BZ_EXEC_WAITING;
            for (uint32_t e = dag->start[t]; e < dag->start[t + 1]; e++)
                need(x, &seen, &below, dag->to[e]);
        }
        bz_vec_release(&level);
        level = below;
        below = (struct lookups){0};
    }
    for (uint32_t t = 0; t < x->n; t++)
        x->counts->unneeded += x->tasks[t].state == BZ_EXEC_UNNEEDED;
}

static void find_ready(struct bz_exec *x)
{
    const struct bz_dag *dag = &x->o->graph->dag;

    for (size_t i = 0; i < x->o->graph->order.len; i++) {
        uint32_t t = x->o->graph->order.at[i];

        if (x->tasks[t].state != BZ_EXEC_WAITING)
            continue;
        for (uint32_t e = dag->start[t]; e < dag->start[t + 1]; e++)
            x->tasks[t].pending += x->tasks[dag->to[e]].state == BZ_EXEC_WAITING;
        if (x->tasks[t].pending == 0)
            bz_urgency_ready(x, t);
    }
}

static void tell_unneeded(struct bz_exec *x)
{
    for (uint32_t t = 0; t < x->n; t++)
        if (x->tasks[t].state == BZ_EXEC_UNNEEDED && !bz_bitset_test(&x->ran, t))
            bz_exec_tell(x, &(struct bz_event){.kind = BZ_EVENT_UNNEEDED,
                                               .task = t,
                                               .saved = bz_exec_is_noexec(x, t)
                                                            ? 0
                                                            : x->tasks[t].saved});
}

bool bz_choice_lose(struct bz_exec *x, const struct bz_digest *tree)
{
    struct bz_str key = bz_str_of((const char *)tree->b, BZ_DIGEST_LEN);

    if (bz_digest_is_zero(tree) || bz_map_get(&x->lost, key))
        return false;
    bz_map_put(&x->lost, bz_arena_dup(&x->arena, key));
    x->stop = x->again = true;
    return true;
}

void bz_choice_make(struct bz_exec *x)
{
    for (uint32_t t = 0; t < x->n; t++) {
        bz_output_release(&x->tasks[t].output);
        x->tasks[t].state = BZ_EXEC_UNNEEDED;
        x->tasks[t].pending = 0;
    }
    for (size_t k = 0; k < BZ_EXEC_KINDS; k++)
        BZ_VEC_CLEAR(&x->queues[k].ready);
    x->stop = x->again = false;
    x->counts->unneeded = x->counts->noexec = x->counts->blocked = 0;
    decide(x);
    bz_urgency_make(x);
    find_ready(x);
    tell_unneeded(x);
    bz_exec_tell(x, &(struct bz_event){.kind = BZ_EVENT_PLANNED, .saved = x->spared});
}
