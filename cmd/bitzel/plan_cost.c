#include "plan_cost.h"

#include "os/clock.h"
#include "os/fs.h"

void bz_plan_cost_release(struct bz_plan_cost *c)
{
    bz_index_close(c->index);
    bz_map_release(&c->last);
    bz_buf_release(&c->key);
    bz_arena_release(&c->arena);
    *c = (struct bz_plan_cost){0};
}

static struct bz_str label(struct bz_plan_cost *c, struct bz_str recipe,
                           struct bz_str task)
{
    bz_buf_truncate(&c->key, 0);
    bz_buf_addf(&c->key, "%.*s %.*s", BZ_STR_ARG(recipe), BZ_STR_ARG(task));
    return bz_buf_str(&c->key);
}

/* Without an index nothing is known, which is no failure. */
static void open_index(struct bz_plan_cost *c)
{
    struct bz_index_action *actions = NULL;
    enum bz_index_state state;
    struct bz_err err;
    size_t n = 0;

    c->opened = true;
    if (!c->path || !bz_fs_exists(AT_FDCWD, c->path) ||
        bz_index_open(c->path, NULL, &c->index, &state, &err) < 0 ||
        bz_index_list_actions(c->index, &c->arena, &actions, &n, &err) < 0)
        return;
    for (size_t i = 0; i < n; i++) { /* what was used last comes last, and stays */
        struct bz_map_entry *it =
            bz_map_put(&c->last, label(c, actions[i].recipe, actions[i].task));

        if (it->u == 0)
            it->key = bz_arena_dup(&c->arena, bz_buf_str(&c->key));
        it->u = actions[i].duration >= 0 ? (uint64_t)actions[i].duration + 1 : it->u;
    }
}

int64_t bz_plan_cost_of(struct bz_plan_cost *c, const struct bz_digest *key,
                        struct bz_str recipe, struct bz_str task)
{
    const struct bz_map_entry *it;
    struct bz_index_action action;

    if (!c->opened)
        open_index(c);
    if (c->index && bz_index_get_action(c->index, key, &c->arena, &action) &&
        action.duration > 0)
        return action.duration;
    it = bz_map_get(&c->last, label(c, recipe, task));
    return it && it->u > 0 ? (int64_t)it->u - 1 : -1;
}

void bz_plan_cost_text(int64_t ns, struct bz_buf *out)
{
    int64_t ms = (ns + BZ_CLOCK_MS / 2) / BZ_CLOCK_MS, s = (ms + 500) / 1000;

    if (ms < 1000)
        bz_buf_addf(out, "%dms", (int)ms);
    else if (ms < 9950)
        bz_buf_addf(out, "%d.%ds", (int)((ms + 50) / 1000),
                    (int)((ms + 50) / 100 % 10));
    else if (s < 60)
        bz_buf_addf(out, "%ds", (int)s);
    else if (s < 3600)
        bz_buf_addf(out, "%dm%02ds", (int)(s / 60), (int)(s % 60));
    else
        bz_buf_addf(out, "%lldh%02dm", (long long)(s / 3600), (int)(s / 60 % 60));
}
