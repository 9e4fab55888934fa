#include "graph/world.h"

static bool has_task(const struct bz_facts *f, struct bz_str task)
{
    if (task.n == 0)
        return true;
    for (size_t i = 0; i < f->ntasks; i++)
        if (bz_str_eq(f->tasks[i].name, task))
            return true;
    return false;
}

/* Whether all that recipes of this name provide is theirs alone. */
static bool stands_alone(const struct bz_provide *p, struct bz_str pn)
{
    size_t n;
    const uint32_t *at = bz_provide_recipes(p, pn, &n);

    for (size_t i = 0; i < n; i++) {
        struct bz_str names = p->facts[at[i]].provides, name = pn;

        do {
            if (bz_str_starts(name, BZ_STR("virtual/")) ||
                bz_provide_contested(p, name))
                return false;
        } while (bz_str_next_word(&names, &name));
    }
    return true;
}

/* Recipes of a name are judged together, so each name is judged once. */
enum { ALONE = 1, CROWDED, TAKEN };

void bz_world_targets(const struct bz_provide *p, struct bz_str task,
                      struct bz_provide_names *out)
{
    struct bz_map judged = {0};

    for (size_t i = 0; i < p->nfacts; i++) {
        const struct bz_facts *f = &p->facts[i];
        struct bz_map_entry *e;

        if (!bz_provide_usable(f) || f->not_world || !has_task(f, task))
            continue;
        e = bz_map_put(&judged, f->pn);
        if (e->u == 0)
            e->u = stands_alone(p, f->pn) ? ALONE : CROWDED;
        if (e->u != ALONE)
            continue;
        e->u = TAKEN;
        BZ_VEC_PUSH(out, f->pn);
    }
    bz_map_release(&judged);
}

static bool any_has_task(const struct bz_provide *p, struct bz_str name,
                         struct bz_str task)
{
    size_t n;
    const uint32_t *at = bz_provide_built(p, name, &n);

    for (size_t i = 0; i < n; i++)
        if (has_task(&p->facts[at[i]], task))
            return true;
    return false;
}

void bz_world_universe(const struct bz_provide *p, struct bz_str task,
                       struct bz_provide_names *out)
{
    for (const struct bz_map_entry *e = bz_map_next(&p->recipes, NULL); e;
         e = bz_map_next(&p->recipes, e))
        if (any_has_task(p, e->key, task))
            BZ_VEC_PUSH(out, e->key);
}
