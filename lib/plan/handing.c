#include "plan/handing.h"

#include "sig/leftout.h"

#define PASSES_MAX 16

struct placed {
    uint32_t level;
    uint32_t above; /* of one that is not in the graph: how many of these lie between it
                       and what the level is of */
    struct bz_output_layer layer;
};

struct placed_list BZ_VEC(struct placed);

/* Layers on their way into one list. */
struct pile {
    struct placed_list list;
    struct bz_bitset seen;
    struct bz_map strange; /* tasks that are not in the graph -> place, from 1 */
};

/* The name of a task without that of its configuration. */
static struct bz_str plain_name(struct bz_str task)
{
    struct bz_str mc, rest;

    if (!bz_str_starts(task, BZ_STR("mc:")) ||
        !bz_str_cut(bz_str_drop(task, 3), ':', &mc, &rest))
        return task;
    return rest;
}

/* What lies on what must not depend on what else is built: it shows in the key of the
 * bytes that a task sees, and where two tasks write one path, in these. */
static int topmost_first(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    int order;

    if (x->level != y->level)
        return x->level < y->level ? 1 : -1;
    if (x->above != y->above)
        return x->above < y->above ? 1 : -1;
    order = bz_str_cmp(plain_name(x->layer.task), plain_name(y->layer.task));
    /* No key has the name of a configuration. */
    return order != 0 ? order : bz_digest_cmp(&x->layer.tree.hash, &y->layer.tree.hash);
}

/* Puts a layer of a task that is not in the graph where this list has it, unless
 * another one has it higher. Whether that is news. */
static bool put_strange(struct pile *p, struct placed *it)
{
    struct bz_map_entry *e = bz_map_put(&p->strange, it->layer.task);
    struct placed *was;

    if (e->u == 0) {
        BZ_VEC_PUSH(&p->list, *it);
        e->u = p->list.len;
        return true;
    }
    was = &p->list.at[e->u - 1];
    if (was->level > it->level ||
        (was->level == it->level && was->above >= it->above)) {
        *it = *was;
        return false;
    }
    was->level = it->level;
    was->above = it->above;
    return true;
}

/* A result may come from a graph with other tasks, that of another configuration say.
 * Nobody here knows their levels, but what lies on what in it. */
static bool collect(const struct bz_plan *plan, const struct bz_output_layers *from,
                    struct pile *p)
{
    struct placed it = {0};
    bool news = false;

    for (size_t i = from->len; i > 0; i--) {
        const struct bz_map_entry *e = bz_map_get(&plan->ids, from->at[i - 1].task);

        it.layer = from->at[i - 1];
        if (!e) {
            it.above++;
            news |= put_strange(p, &it);
            continue;
        }
        it.level = plan->tasks[e->u - 1].level;
        it.above = 0;
        if (!bz_bitset_test(&p->seen, e->u))
            BZ_VEC_PUSH(&p->list, it);
        bz_bitset_set(&p->seen, e->u);
    }
    return news;
}

static void take_list(struct pile *p, struct bz_output_layers *to)
{
    BZ_VEC_SORT(&p->list, topmost_first);
    for (size_t i = 0; i < p->list.len; i++)
        BZ_VEC_PUSH(to, p->list.at[i].layer);
    bz_vec_release(&p->list);
    bz_bitset_release(&p->seen);
    bz_map_release(&p->strange);
}

void bz_handing_collect(const struct bz_plan *plan, uint32_t t, struct bz_output *out)
{
    const struct bz_tgraph *g = plan->in.graph;
    struct pile own = {0}, shared = {0};
    unsigned passes = 0;
    bool news;

    *out = (struct bz_output){0};
    do { /* until no list says that one lies higher than the others have it */
        news = false;
        for (uint32_t e = g->dag.start[t]; e < g->dag.start[t + 1]; e++) {
            const struct bz_plan_task *d = &plan->tasks[g->dag.to[e]];

            if (g->tasks[g->dag.to[e]].recipe == g->tasks[t].recipe)
                news |= collect(plan, &d->output.own, &own);
            news |= collect(plan, &d->output.shared, &shared);
        }
    } while (news && ++passes < PASSES_MAX);
    take_list(&own, &out->own);
    take_list(&shared, &out->shared);
}

void bz_handing_sign(const struct bz_plan *plan, uint32_t t,
                     const struct bz_output *handed, struct bz_digest *out)
{
    enum { TAG_KIND = 1, TAG_BASE, TAG_OWN, TAG_SHARED };
    static const char kind[] = "content";
    struct bz_digest_hasher *h = plan->hasher;

    bz_digest_begin(h);
    bz_digest_add_field(h, TAG_KIND, kind, sizeof(kind) - 1);
    bz_digest_add_field(h, TAG_BASE, plan->in.bases[t].b, BZ_DIGEST_LEN);
    for (size_t i = 0; i < handed->own.len && !bz_leftout("own-layers"); i++)
        bz_digest_add_field(h, TAG_OWN, handed->own.at[i].tree.hash.b, BZ_DIGEST_LEN);
    for (size_t i = 0; i < handed->shared.len && !bz_leftout("shared-layers"); i++)
        bz_digest_add_field(h, TAG_SHARED, handed->shared.at[i].tree.hash.b,
                            BZ_DIGEST_LEN);
    bz_digest_end(h, out);
}
