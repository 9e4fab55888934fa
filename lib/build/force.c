#include "build/force.h"

static void mark(const struct bz_force *f, uint32_t task)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf name = {0};

    if (f->goal->graph.tasks[task].facts->noexec)
        return; /* it has nothing to run */
    bz_goal_task_name(f->goal, task, &name);
    bz_taint_set(f->taint, bz_buf_str(&name));
    bz_bitset_set(f->forced, task);
    bz_buf_addf(f->notes, "note: %s is to run, whatever is stored\n",
                bz_buf_text(&name));
}

static int find_task(const struct bz_goal *goal, uint32_t recipe, struct bz_str name,
                     uint32_t *out, struct bz_err *err)
{
    const struct bz_tgraph *g = &goal->graph;

    for (*out = g->recipes[recipe].first; *out < g->recipes[recipe + 1].first; (*out)++)
        if (bz_str_eq(g->tasks[*out].facts->name, name))
            return 0;
    return bz_fail(err, BZ_E_NOENT, "%.*s has no task %.*s that is to be built",
                   BZ_STR_ARG(g->recipes[recipe].facts->pn), BZ_STR_ARG(name));
}

int bz_force_mark(const struct bz_force *f, bool all, const char *task,
                  struct bz_err *err)
{
    const struct bz_goal *goal = f->goal;
    const struct bz_dag_ids *targets = &goal->graph.targets;
    BZ_CLEANUP(bz_buf_release) struct bz_buf name = {0};
    int rc = 0;

    if (task)
        bz_buf_addf(&name, "%s%s",
                    bz_str_starts(bz_str_from(task), BZ_STR("do_")) ? "" : "do_", task);
    for (size_t i = 0; i < targets->len && rc == 0; i++) {
        uint32_t found;

        if (all)
            mark(f, targets->at[i]);
        if (!task)
            continue;
        rc = find_task(goal, goal->graph.tasks[targets->at[i]].recipe,
                       bz_buf_str(&name), &found, err);
        if (rc == 0)
            mark(f, found);
    }
    return rc;
}

/* Whether a task has the same result with its taint as without it. One that was not
 * known without gets it. */
static bool came_out_same(const struct bz_goal *goal, const struct bz_signing *s,
                          struct bz_cache *cache, struct bz_digest_hasher *h,
                          uint32_t task)
{
    const struct bz_tgraph *g = &goal->graph;
    const struct bz_cache_labels labels = {g->recipes[g->tasks[task].recipe].facts->pn,
                                           g->tasks[task].facts->name};
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bz_reapi_result with, without;
    enum bz_action_put how;
    struct bz_err err;

    if (bz_cache_get(cache, h, &s->keys[task], &a, &with, &err) < 0)
        return true; /* it has none to keep, and runs each time anyway */
    if (bz_cache_get(cache, h, &s->pure[task], &a, &without, &err) == 0)
        return bz_action_same(&with, &without);
    return bz_cache_put(cache, h, &s->pure[task], &with, &labels, &how, &err) == 0;
}

int bz_force_settle(struct bz_taint *t, const struct bz_goal *goal,
                    const struct bz_signing *s, struct bz_cache *cache,
                    struct bz_buf *notes, struct bz_err *err)
{
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *h = NULL;
    BZ_CLEANUP(bz_buf_release) struct bz_buf name = {0};
    bool same = true;
    int rc = bz_digest_hasher_new(&h, err);

    for (size_t i = 0; i < goal->graph.order.len && rc == 0 && same && s->pure; i++) {
        uint32_t task = goal->graph.order.at[i];

        bz_buf_truncate(&name, 0);
        bz_goal_task_name(goal, task, &name);
        if (!bz_map_get(&t->values, bz_buf_str(&name)))
            continue;
        same = came_out_same(goal, s, cache, h, task);
        if (same)
            bz_taint_clear(t, bz_buf_str(&name));
        else if (notes)
            bz_buf_addf(notes,
                        "note: %s came out different; its signature stays tainted\n",
                        bz_buf_text(&name));
    }
    return rc < 0 ? rc : bz_taint_save(t, err);
}
