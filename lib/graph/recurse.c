#include "graph/recurse.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/mem.h"

#define NONE UINT32_MAX

/* The recipes that are behind a task: of what it waits for, and so on. Tasks of one
 * recipe mostly have the same ones, and share them. */
struct behind {
    struct bz_bitset recipes;
    size_t count;
    struct behind *next; /* of all, to be released */
};

struct closure {
    const struct bz_recurse *r;
    struct bz_arena arena;
    struct behind *all;
    const struct behind **of; /* [n]; NULL: nothing is behind the task */
    bool *settled;            /* [n]: all that it waits for is */
    uint32_t *recipe;         /* [n] */
};

static uint32_t find_task(const struct bz_recurse *r, uint32_t recipe, uint32_t name)
{
    for (uint32_t t = r->first[recipe]; t < r->first[recipe + 1]; t++)
        if (r->name[t] == name)
            return t;
    return NONE;
}

/* The largest of the sets that a task inherits, or NULL. */
static const struct behind *largest(const struct closure *c, uint32_t task)
{
    const struct bz_dag *d = c->r->dag;
    const struct behind *most = NULL;

    for (uint32_t e = d->start[task]; e < d->start[task + 1]; e++) {
        const struct behind *b = c->settled[d->to[e]] ? c->of[d->to[e]] : NULL;

        if (b && (!most || b->count > most->count))
            most = b;
    }
    return most;
}

static bool covers(const struct closure *c, const struct behind *most, uint32_t task)
{
    const struct bz_dag *d = c->r->dag;

    for (uint32_t e = d->start[task]; e < d->start[task + 1]; e++) {
        uint32_t to = d->to[e];

        if (!c->settled[to])
            continue;
        if (!bz_bitset_test(&most->recipes, c->recipe[to]))
            return false;
        if (c->of[to] && c->of[to] != most &&
            !bz_bitset_subset(&c->of[to]->recipes, &most->recipes))
            return false;
    }
    return true;
}

static struct behind *join(struct closure *c, uint32_t task)
{
    const struct bz_dag *d = c->r->dag;
    struct behind *b = bz_arena_zalloc(&c->arena, sizeof(*b), _Alignof(struct behind));

    b->next = c->all;
    c->all = b;
    bz_bitset_reserve(&b->recipes, c->r->nrecipes);
    for (uint32_t e = d->start[task]; e < d->start[task + 1]; e++) {
        uint32_t to = d->to[e];

        if (!c->settled[to])
            continue;
        bz_bitset_set(&b->recipes, c->recipe[to]);
        if (c->of[to])
            bz_bitset_union(&b->recipes, &c->of[to]->recipes);
    }
    b->count = bz_bitset_count(&b->recipes);
    return b;
}

static void look_behind(struct closure *c, uint32_t task)
{
    const struct behind *most = largest(c, task);

    if (most && covers(c, most, task))
        c->of[task] = most;
    else if (bz_dag_degree(c->r->dag, task) > 0)
        c->of[task] = join(c, task);
}

/* From the tasks that wait for nothing upwards. Tasks that are never reached this way
 * come last and are not settled: they see what is settled below them, and nobody sees
 * them. */
static void close_over(struct closure *c)
{
    const struct bz_dag *d = c->r->dag;
    BZ_CLEANUP(bz_mem_freep) uint32_t *pending = bz_mem_array(d->n, sizeof(*pending));
    BZ_CLEANUP(bz_vec_release) struct bz_dag_ids ready = {0};
    struct bz_dag up;

    bz_dag_reverse(d, &up);
    for (uint32_t t = 0; t < d->n; t++) {
        pending[t] = bz_dag_degree(d, t);
        if (pending[t] == 0)
            BZ_VEC_PUSH(&ready, t);
    }
    for (size_t i = 0; i < ready.len; i++) {
        uint32_t t = ready.at[i];

        look_behind(c, t);
        c->settled[t] = true;
        for (uint32_t e = up.start[t]; e < up.start[t + 1]; e++)
            if (--pending[up.to[e]] == 0)
                BZ_VEC_PUSH(&ready, up.to[e]);
    }
    for (uint32_t t = 0; t < d->n; t++)
        if (!c->settled[t])
            look_behind(c, t);
    bz_dag_release(&up);
}

static void closure_init(struct closure *c, const struct bz_recurse *r)
{
    uint32_t n = r->dag->n;

    *c = (struct closure){.r = r};
    c->of = bz_mem_array(n, sizeof(*c->of)); /* NOLINT(bugprone-sizeof-expression) */
    c->settled = bz_mem_array(n, sizeof(*c->settled));
    c->recipe = bz_mem_array(n, sizeof(*c->recipe));
    for (uint32_t i = 0; i < r->nrecipes; i++)
        for (uint32_t t = r->first[i]; t < r->first[i + 1]; t++)
            c->recipe[t] = i;
    close_over(c);
}

static void closure_release(struct closure *c)
{
    for (struct behind *b = c->all; b; b = b->next)
        bz_bitset_release(&b->recipes);
    bz_arena_release(&c->arena);
    free(c->of);
    free(c->settled);
    free(c->recipe);
}

/* One recursive task while its edges grow. */
struct grower {
    const struct bz_recurse_task *in;
    struct bz_bitset edges; /* tasks */
    struct bz_bitset seen;  /* recipes whose named tasks have been added */
    struct bz_bitset asked; /* tasks whose recipes have been looked at */
    bool over_itself;       /* its own name is one of those it wants */
};

struct growth {
    const struct bz_recurse *r;
    struct closure c;
    struct grower *all;   /* [r->ntasks] */
    uint32_t *grower_of;  /* [n]: which one a task is, or NONE */
    struct bz_bitset own; /* the tasks that are over_itself */
};

static bool wants(const struct grower *g, uint32_t name)
{
    for (size_t i = 0; i < g->in->nnames; i++)
        if (g->in->names[i] == name)
            return true;
    return false;
}

static bool add_edge(struct grower *g, uint32_t task)
{
    if (bz_bitset_test(&g->edges, task))
        return false;
    bz_bitset_set(&g->edges, task);
    return true;
}

/* The named tasks of a recipe, itself excepted. */
static bool add_recipe(const struct growth *w, struct grower *g, uint32_t recipe)
{
    bool more = false;

    if (bz_bitset_test(&g->seen, recipe))
        return false;
    bz_bitset_set(&g->seen, recipe);
    for (size_t i = 0; i < g->in->nnames; i++) {
        uint32_t t = find_task(w->r, recipe, g->in->names[i]);

        if (t != NONE && t != g->in->task)
            more |= add_edge(g, t);
    }
    return more;
}

/* What is behind a task that the recursive one waits for. */
static bool add_behind(const struct growth *w, struct grower *g, uint32_t task)
{
    const struct behind *b = w->c.of[task];
    bool more = false;

    if (bz_bitset_test(&g->asked, task))
        return false;
    bz_bitset_set(&g->asked, task);
    if (!b)
        return false;
    for (size_t i = bz_bitset_next(&b->recipes, 0); i < BZ_BITSET_END;
         i = bz_bitset_next(&b->recipes, i + 1))
        more |= add_recipe(w, g, (uint32_t)i);
    return more;
}

/* A recursive task that waits for another takes its edges over, as far as it wants
 * tasks of that name. */
static bool add_from(const struct growth *w, struct grower *g,
                     const struct grower *other)
{
    bool more = false;

    for (size_t t = bz_bitset_next(&other->edges, 0); t < BZ_BITSET_END;
         t = bz_bitset_next(&other->edges, t + 1))
        if (wants(g, w->r->name[t]))
            more |= add_edge(g, (uint32_t)t);
    return more;
}

static bool add_also(const struct growth *w, struct grower *g)
{
    const struct bz_dag *d = w->r->dag;
    bool more = false;

    for (size_t i = 0; i < g->in->nalso; i++) {
        uint32_t t = g->in->also[i], other = w->grower_of[t];

        more |= add_behind(w, g, t);
        if (other == NONE) {
            for (uint32_t e = d->start[t]; e < d->start[t + 1]; e++)
                more |= add_behind(w, g, d->to[e]);
            continue;
        }
        for (size_t e = bz_bitset_next(&w->all[other].edges, 0); e < BZ_BITSET_END;
             e = bz_bitset_next(&w->all[other].edges, e + 1))
            more |= add_behind(w, g, (uint32_t)e);
    }
    return more;
}

static bool grow(const struct growth *w, struct grower *g)
{
    bool more = add_also(w, g);

    for (size_t t = bz_bitset_next(&g->edges, 0); t < BZ_BITSET_END;
         t = bz_bitset_next(&g->edges, t + 1)) {
        uint32_t other = w->grower_of[t];

        more |= add_behind(w, g, (uint32_t)t);
        if (other != NONE && &w->all[other] != g)
            more |= add_from(w, g, &w->all[other]);
    }
    return more;
}

static void growth_init(struct growth *w, const struct bz_recurse *r)
{
    const struct bz_dag *d = r->dag;

    *w = (struct growth){.r = r};
    closure_init(&w->c, r);
    w->all = bz_mem_array(r->ntasks, sizeof(*w->all));
    w->grower_of = bz_mem_array(d->n, sizeof(*w->grower_of));
    for (uint32_t t = 0; t < d->n; t++)
        w->grower_of[t] = NONE;
    for (size_t i = 0; i < r->ntasks; i++) {
        struct grower *g = &w->all[i];
        uint32_t task = r->tasks[i].task;

        g->in = &r->tasks[i];
        g->over_itself = wants(g, r->name[task]);
        w->grower_of[task] = (uint32_t)i;
        if (g->over_itself)
            bz_bitset_set(&w->own, task);
        for (uint32_t e = d->start[task]; e < d->start[task + 1]; e++)
            bz_bitset_set(&g->edges, d->to[e]);
    }
}

static void growth_release(struct growth *w)
{
    for (size_t i = 0; i < w->r->ntasks; i++) {
        bz_bitset_release(&w->all[i].edges);
        bz_bitset_release(&w->all[i].seen);
        bz_bitset_release(&w->all[i].asked);
    }
    bz_bitset_release(&w->own);
    free(w->all);
    free(w->grower_of);
    closure_release(&w->c);
}

void bz_recurse_run(const struct bz_recurse *r, struct bz_recurse_edges *out)
{
    struct growth w;
    bool more = r->ntasks > 0;

    if (!more)
        return;
    growth_init(&w, r);
    while (more) {
        more = false;
        for (size_t i = 0; i < r->ntasks; i++)
            more |= grow(&w, &w.all[i]);
    }
    for (size_t i = 0; i < r->ntasks; i++) {
        struct grower *g = &w.all[i];

        if (g->over_itself)
            bz_bitset_subtract(&g->edges, &w.own);
        for (size_t t = bz_bitset_next(&g->edges, 0); t < BZ_BITSET_END;
             t = bz_bitset_next(&g->edges, t + 1))
            BZ_VEC_PUSH(out, (struct bz_dag_edge){r->tasks[i].task, (uint32_t)t});
    }
    growth_release(&w);
}
