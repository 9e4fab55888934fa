#include "graph/tgraph.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/near.h"
#include "graph/recurse.h"

#define NONE BZ_NEED_NONE

/* All tasks of all recipes that are needed, before those that no target leads to are
 * left out. Recipes have the numbers they have in `need`. */
struct draft {
    const struct bz_need *need;
    const struct bz_str *mcs;
    uint32_t *first; /* [nrecipes + 1]; a recipe that failed has no tasks */
    uint32_t nrecipes, ntasks;
    struct bz_map names;   /* text -> number, from 1 */
    uint32_t *name;        /* [ntasks] */
    uint32_t *recipe;      /* [ntasks] */
    struct bz_dag dag;     /* the whole of it */
    struct bz_dag_ids *mc; /* [parts]: tasks that [mcdepends] of the part name */
    struct bz_arena arena;
};

struct edge_list BZ_VEC(struct bz_dag_edge);

/* What is made of each edge as it is found; `word` is the one of the rule's list that
 * makes it. */
typedef void (*edge_fn)(void *ctx, uint32_t to, enum bz_tgraph_rule rule, size_t word);

struct finder {
    const struct draft *d;
    uint32_t task;
    edge_fn fn;
    void *ctx;
};

static const struct bz_facts *facts_of(const struct draft *d, uint32_t recipe)
{
    return d->need->recipes.at[recipe].facts;
}

static const struct bz_facts_task *task_of(const struct draft *d, uint32_t task)
{
    uint32_t recipe = d->recipe[task];

    return &facts_of(d, recipe)->tasks[task - d->first[recipe]];
}

static uint32_t find_name(const struct draft *d, struct bz_str text)
{
    const struct bz_map_entry *e = bz_map_get(&d->names, text);

    return e ? (uint32_t)e->u : 0;
}

static uint32_t find_task(const struct draft *d, uint32_t recipe, struct bz_str text)
{
    uint32_t name = find_name(d, text);

    for (uint32_t t = d->first[recipe]; name && t < d->first[recipe + 1]; t++)
        if (d->name[t] == name)
            return t;
    return NONE;
}

static void draft_init(struct draft *d, const struct bz_need *need,
                       const struct bz_str *mcs)
{
    uint32_t t = 0;

    *d = (struct draft){
        .need = need, .mcs = mcs, .nrecipes = (uint32_t)need->recipes.len};
    d->first = bz_mem_array((size_t)d->nrecipes + 1, sizeof(uint32_t));
    for (uint32_t r = 0; r < d->nrecipes; r++)
        d->first[r + 1] = d->first[r] + (need->recipes.at[r].failed_for == NONE
                                             ? (uint32_t)facts_of(d, r)->ntasks
                                             : 0);
    d->ntasks = d->first[d->nrecipes];
    d->name = bz_mem_array(d->ntasks, sizeof(uint32_t));
    d->recipe = bz_mem_array(d->ntasks, sizeof(uint32_t));
    for (uint32_t r = 0; r < d->nrecipes; r++)
        for (; t < d->first[r + 1]; t++) {
            struct bz_map_entry *e =
                bz_map_put(&d->names, facts_of(d, r)->tasks[t - d->first[r]].name);

            if (!e->u)
                e->u = d->names.len;
            d->name[t] = (uint32_t)e->u;
            d->recipe[t] = r;
        }
}

static void draft_release(struct draft *d)
{
    free(d->first);
    free(d->name);
    free(d->recipe);
    bz_map_release(&d->names);
    bz_dag_release(&d->dag);
    for (size_t i = 0; d->mc && i < d->need->nparts; i++)
        bz_vec_release(&d->mc[i]);
    free(d->mc);
    bz_arena_release(&d->arena);
}

/* ---- the rules ---- */

static void found(const struct finder *f, uint32_t to, enum bz_tgraph_rule rule,
                  size_t word)
{
    if (to != NONE && to != f->task)
        f->fn(f->ctx, to, rule, word);
}

static void find_after(const struct finder *f, const struct bz_facts_task *task)
{
    struct bz_str words = task->after, word;

    for (size_t i = 0; bz_str_next_word(&words, &word); i++)
        found(f, find_task(f->d, f->d->recipe[f->task], word), BZ_TGRAPH_AFTER, i);
}

/* Tasks of the provider of a name, as far as it has them. */
static void find_named(const struct finder *f, struct bz_str name,
                       enum bz_provide_kind kind, struct bz_str tasks,
                       enum bz_tgraph_rule rule)
{
    const struct bz_need *need = f->d->need;
    uint32_t part = need->recipes.at[f->d->recipe[f->task]].part;
    uint32_t recipe = bz_need_provider(need, part, name, kind);
    struct bz_str word;

    for (size_t i = 0; recipe != NONE && bz_str_next_word(&tasks, &word); i++)
        found(f, find_task(f->d, recipe, word), rule, i);
}

static void find_listed(const struct finder *f, struct bz_str names,
                        enum bz_provide_kind kind, struct bz_str tasks,
                        enum bz_tgraph_rule rule)
{
    struct bz_str name;

    while (tasks.n > 0 && bz_str_next_word(&names, &name))
        find_named(f, name, kind, tasks, rule);
}

static void find_build(const struct finder *f, struct bz_str tasks,
                       enum bz_tgraph_rule rule)
{
    find_listed(f, facts_of(f->d, f->d->recipe[f->task])->depends, BZ_PROVIDE_BUILD,
                tasks, rule);
}

static void find_run(const struct finder *f, struct bz_str tasks,
                     enum bz_tgraph_rule rule)
{
    const struct bz_facts *facts = facts_of(f->d, f->d->recipe[f->task]);

    if (tasks.n == 0 || facts->npackages == 0)
        return;
    find_listed(f, facts->rdepends, BZ_PROVIDE_RUNTIME, tasks, rule);
    find_listed(f, facts->rrecommends, BZ_PROVIDE_RUNTIME, tasks, rule);
    for (size_t i = 0; i < facts->npackages; i++) {
        find_listed(f, facts->packages[i].rdepends, BZ_PROVIDE_RUNTIME, tasks, rule);
        find_listed(f, facts->packages[i].rrecommends, BZ_PROVIDE_RUNTIME, tasks, rule);
    }
}

/* "; did you mean ...?" about the tasks of a recipe. */
static const char *near_tasks(const struct draft *d, uint32_t recipe,
                              struct bz_str wanted, char *text, size_t size)
{
    const struct bz_facts *facts = facts_of(d, recipe);
    struct bz_near near;

    bz_near_init(&near, wanted);
    for (size_t i = 0; i < facts->ntasks; i++)
        bz_near_offer(&near, facts->tasks[i].name);
    return bz_near_text(&near, "", text, size);
}

/* "file:line", or the recipe's file if the place is not known. */
static const char *place_text(const struct bz_facts *facts,
                              const struct bz_facts_task *task, enum bz_place_list list,
                              size_t word, struct bz_buf *out)
{
    struct bz_place place = bz_place_find(task, list, word);

    if (place.file.p)
        bz_buf_addf(out, "%.*s:%u", BZ_STR_ARG(place.file), place.line);
    else
        bz_buf_add_str(out, facts->path);
    return bz_buf_text(out);
}

static int no_such_task(const struct finder *f, uint32_t recipe,
                        enum bz_place_list list, size_t word, struct bz_str wanted,
                        struct bz_err *err)
{
    const struct bz_facts_task *task = task_of(f->d, f->task);
    BZ_CLEANUP(bz_buf_release) struct bz_buf place = {0};
    char near[128];

    return bz_fail(
        err, BZ_E_INVAL, "%s: %.*s[%s]: %.*s has no task %.*s%s",
        place_text(facts_of(f->d, f->d->recipe[f->task]), task, list, word, &place),
        BZ_STR_ARG(task->name), list == BZ_PLACE_DEPENDS ? "depends" : "rdepends",
        BZ_STR_ARG(facts_of(f->d, recipe)->pn), BZ_STR_ARG(wanted),
        near_tasks(f->d, recipe, wanted, near, sizeof(near)));
}

/* "recipe:task recipe:task", whose form has been checked; here the task must exist. */
static int find_pairs(const struct finder *f, struct bz_str words,
                      enum bz_provide_kind kind, struct bz_err *err)
{
    const struct bz_need *need = f->d->need;
    uint32_t part = need->recipes.at[f->d->recipe[f->task]].part;
    bool build = kind == BZ_PROVIDE_BUILD;
    struct bz_str word, name, wanted;

    for (size_t i = 0; bz_str_next_word(&words, &word); i++) {
        uint32_t recipe, to;

        bz_str_cut(word, ':', &name, &wanted);
        recipe = bz_need_provider(need, part, name, kind);
        if (recipe == NONE)
            continue;
        to = find_task(f->d, recipe, wanted);
        if (to == NONE)
            return no_such_task(f, recipe, build ? BZ_PLACE_DEPENDS : BZ_PLACE_RDEPENDS,
                                i, wanted, err);
        found(f, to, build ? BZ_TGRAPH_DEPENDS : BZ_TGRAPH_RDEPENDS, i);
    }
    return 0;
}

static int find_edges(const struct finder *f, struct bz_err *err)
{
    const struct bz_facts_task *task = task_of(f->d, f->task);
    int rc;

    find_after(f, task);
    find_build(f, task->deptask, BZ_TGRAPH_DEPTASK);
    find_run(f, task->rdeptask, BZ_TGRAPH_RDEPTASK);
    find_build(f, task->recrdeptask, BZ_TGRAPH_RECRDEPTASK);
    find_run(f, task->recrdeptask, BZ_TGRAPH_RECRDEPTASK);
    rc = find_pairs(f, task->depends, BZ_PROVIDE_BUILD, err);
    if (rc == 0)
        rc = find_pairs(f, task->rdepends, BZ_PROVIDE_RUNTIME, err);
    return rc;
}

/* ---- between multiconfigs ---- */

/* mc:FROM:TO:RECIPE:TASK, taken apart. */
struct mcdep {
    uint32_t in; /* the part of the recipe that says so */
    uint32_t from, to;
    struct bz_str name, task;
};

static uint32_t find_part(const struct draft *d, struct bz_str mc)
{
    for (uint32_t i = 0; i < d->need->nparts; i++)
        if (bz_str_eq(d->mcs[i], mc))
            return i;
    return NONE;
}

static int read_mcdep(const struct draft *d, struct bz_str word, struct mcdep *out,
                      struct bz_err *err)
{
    struct bz_str part[5] = {0}, rest = word;
    size_t n = 0;

    while (n < 5 && bz_str_next_part(&rest, ':', &part[n]))
        n++;
    if (n != 5 || rest.n > 0)
        return bz_fail(err, BZ_E_INVAL,
                       "'%.*s' is not of the form mc:FROM:TO:RECIPE:TASK",
                       BZ_STR_ARG(word));
    *out = (struct mcdep){out->in, find_part(d, part[1]), find_part(d, part[2]),
                          part[3], part[4]};
    if (out->to == NONE)
        return bz_fail(err, BZ_E_INVAL, "'%.*s': BBMULTICONFIG has no '%.*s'",
                       BZ_STR_ARG(word), BZ_STR_ARG(part[2]));
    return 0;
}

typedef int (*mcdep_fn)(void *ctx, const struct mcdep *dep, struct bz_err *err);

static int each_mcdep_of(const struct draft *d, const struct bz_need_recipe *recipe,
                         const struct bz_facts_task *task, mcdep_fn fn, void *ctx,
                         struct bz_err *err)
{
    struct bz_str words = task->mcdepends, word;

    for (size_t i = 0; bz_str_next_word(&words, &word); i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf place = {0};
        struct mcdep dep = {.in = recipe->part};
        int rc = read_mcdep(d, word, &dep, err);

        if (rc == 0)
            rc = fn(ctx, &dep, err);
        if (rc < 0)
            return bz_err_wrap(
                err, "%s: %.*s[mcdepends]",
                place_text(recipe->facts, task, BZ_PLACE_MCDEPENDS, i, &place),
                BZ_STR_ARG(task->name));
    }
    return 0;
}

/* Every [mcdepends] of the recipes from number `from` on. */
static int each_mcdep(const struct draft *d, size_t from, mcdep_fn fn, void *ctx,
                      struct bz_err *err)
{
    int rc = 0;

    for (size_t r = from; r < d->need->recipes.len && rc == 0; r++) {
        /* A copy: more recipes may move the list. */
        const struct bz_need_recipe recipe = d->need->recipes.at[r];

        for (size_t t = 0; t < recipe.facts->ntasks && rc == 0; t++)
            rc = each_mcdep_of(d, &recipe, &recipe.facts->tasks[t], fn, ctx, err);
    }
    return rc;
}

static int need_mcdep(void *ctx, const struct mcdep *dep, struct bz_err *err)
{
    return bz_need_add(ctx, dep->to, dep->name, BZ_PROVIDE_BUILD, err);
}

/* Recipes that are waited for across multiconfigs, and what these need, and so on. */
static int need_mcdeps(struct bz_need *need, const struct bz_str *mcs,
                       struct bz_err *err)
{
    struct draft d = {.need = need, .mcs = mcs};
    size_t done = 0;
    int rc = 0;

    while (rc == 0 && done < need->recipes.len) {
        size_t n = need->recipes.len;

        rc = each_mcdep(&d, done, need_mcdep, need, err);
        done = n;
    }
    return rc;
}

static int list_mcdep(void *ctx, const struct mcdep *dep, struct bz_err *err)
{
    struct draft *d = ctx;
    uint32_t recipe = bz_need_provider(d->need, dep->to, dep->name, BZ_PROVIDE_BUILD);
    uint32_t to;

    if (dep->from != dep->in || recipe == NONE)
        return 0;
    to = find_task(d, recipe, dep->task);
    if (to == NONE) {
        char near[128];

        return bz_fail(err, BZ_E_INVAL, "%.*s has no task %.*s in '%.*s'%s",
                       BZ_STR_ARG(facts_of(d, recipe)->pn), BZ_STR_ARG(dep->task),
                       BZ_STR_ARG(d->mcs[dep->to]),
                       near_tasks(d, recipe, dep->task, near, sizeof(near)));
    }
    BZ_VEC_PUSH(&d->mc[dep->in], to);
    return 0;
}

/* A task with the flag waits for what any task of its multiconfig says: BitBake puts
 * all of them into one list. */
static void find_mcdeps(const struct finder *f)
{
    const struct bz_dag_ids *list =
        &f->d->mc[f->d->need->recipes.at[f->d->recipe[f->task]].part];

    for (size_t i = 0; task_of(f->d, f->task)->mcdepends.p && i < list->len; i++)
        found(f, list->at[i], BZ_TGRAPH_MCDEPENDS, 0);
}

/* ---- the whole graph ---- */

struct collector {
    struct edge_list *edges;
    uint32_t from;
};

static void collect(void *ctx, uint32_t to, enum bz_tgraph_rule rule, size_t word)
{
    struct collector *c = ctx;

    (void)rule;
    (void)word;
    BZ_VEC_PUSH(c->edges, (struct bz_dag_edge){c->from, to});
}

static const uint32_t *read_names(struct draft *d, struct bz_str words, size_t *n)
{
    BZ_CLEANUP(bz_vec_release) struct bz_dag_ids ids = {0};
    struct bz_str word;
    uint32_t *out;

    while (bz_str_next_word(&words, &word)) {
        uint32_t name = find_name(d, word);

        if (name) /* what no task is called cannot be waited for */
            BZ_VEC_PUSH(&ids, name);
    }
    out = bz_arena_array(&d->arena, ids.len, sizeof(*out), _Alignof(uint32_t));
    for (size_t i = 0; i < ids.len; i++)
        out[i] = ids.at[i];
    *n = ids.len;
    return out;
}

static const uint32_t *read_tasks(struct draft *d, uint32_t recipe, struct bz_str words,
                                  size_t *n)
{
    BZ_CLEANUP(bz_vec_release) struct bz_dag_ids ids = {0};
    struct bz_str word;
    uint32_t *out;

    while (bz_str_next_word(&words, &word)) {
        uint32_t task = find_task(d, recipe, word);

        if (task != NONE)
            BZ_VEC_PUSH(&ids, task);
    }
    out = bz_arena_array(&d->arena, ids.len, sizeof(*out), _Alignof(uint32_t));
    for (size_t i = 0; i < ids.len; i++)
        out[i] = ids.at[i];
    *n = ids.len;
    return out;
}

/* Replaces the edges of recursive tasks by what they grow to. */
static void recurse(struct draft *d, struct edge_list *edges)
{
    BZ_CLEANUP(bz_vec_release)
    struct recursive_tasks BZ_VEC(struct bz_recurse_task) tasks = {0};
    BZ_CLEANUP(bz_vec_release) struct bz_recurse_edges grown = {0};
    struct bz_recurse r = {&d->dag, d->nrecipes, d->first, d->name, NULL, 0};
    size_t kept = 0;

    for (uint32_t t = 0; t < d->ntasks; t++) {
        const struct bz_facts_task *f = task_of(d, t);
        struct bz_recurse_task task = {.task = t};

        if (!f->recrdeptask.p)
            continue;
        task.names = read_names(d, f->recrdeptask, &task.nnames);
        task.also = read_tasks(d, d->recipe[t], f->recideptask, &task.nalso);
        BZ_VEC_PUSH(&tasks, task);
    }
    if (tasks.len == 0)
        return;
    r.tasks = tasks.at;
    r.ntasks = tasks.len;
    bz_recurse_run(&r, &grown);
    for (size_t i = 0; i < edges->len; i++)
        if (!task_of(d, edges->at[i].from)->recrdeptask.p)
            edges->at[kept++] = edges->at[i];
    edges->len = kept;
    for (size_t i = 0; i < grown.len; i++)
        BZ_VEC_PUSH(edges, grown.at[i]);
    bz_dag_release(&d->dag);
    bz_dag_build(&d->dag, d->ntasks, edges->at, edges->len);
}

static int draw(struct draft *d, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct edge_list edges = {0};
    struct collector c = {&edges, 0};
    struct finder f = {d, 0, collect, &c};
    int rc;

    d->mc = bz_mem_array(d->need->nparts, sizeof(*d->mc));
    rc = each_mcdep(d, 0, list_mcdep, d, err);
    for (uint32_t t = 0; t < d->ntasks && rc == 0; t++) {
        f.task = c.from = t;
        find_mcdeps(&f);
        rc = find_edges(&f, err);
    }
    if (rc < 0)
        return rc;
    bz_dag_build(&d->dag, d->ntasks, edges.at, edges.len);
    recurse(d, &edges);
    return 0;
}

/* ---- what the targets reach ---- */

static int find_target(const struct draft *d, const struct bz_tgraph_target *t,
                       uint32_t *task, struct bz_err *err)
{
    uint32_t recipe = bz_need_provider(d->need, t->part, t->name, BZ_PROVIDE_BUILD);
    struct bz_str name = t->task;

    *task = NONE;
    if (recipe == NONE)
        return 0; /* it is assumed to be there */
    bz_str_cut_suffix(&name, BZ_STR("-"));
    *task = find_task(d, recipe, name);
    if (*task == NONE) {
        char near[128];

        return bz_fail(err, BZ_E_NOENT, "%.*s has no task %.*s%s (%.*s)",
                       BZ_STR_ARG(facts_of(d, recipe)->pn), BZ_STR_ARG(name),
                       near_tasks(d, recipe, name, near, sizeof(near)),
                       BZ_STR_ARG(facts_of(d, recipe)->path));
    }
    return 0;
}

static int mark_targets(const struct draft *d, const struct bz_tgraph_target *targets,
                        size_t n, struct bz_dag_ids *ids, struct bz_bitset *active,
                        struct bz_err *err)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t task;
        int rc = find_target(d, &targets[i], &task, err);

        if (rc < 0)
            return rc;
        if (task == NONE)
            continue;
        if (!bz_str_ends(targets[i].task, BZ_STR("-"))) {
            BZ_VEC_PUSH(ids, task);
            bz_dag_reach(&d->dag, task, active);
            continue;
        }
        for (uint32_t e = d->dag.start[task]; e < d->dag.start[task + 1]; e++) {
            BZ_VEC_PUSH(ids, d->dag.to[e]);
            bz_dag_reach(&d->dag, d->dag.to[e], active);
        }
    }
    return 0;
}

/* New numbers, without gaps, for what is active. */
static void keep_active(struct bz_tgraph *g, const struct draft *d,
                        const struct bz_bitset *active)
{
    BZ_CLEANUP(bz_mem_freep)
    uint32_t *number = bz_mem_array(d->ntasks, sizeof(uint32_t));
    BZ_CLEANUP(bz_vec_release) struct edge_list edges = {0};
    uint32_t n = 0;

    g->recipes = bz_mem_array((size_t)d->nrecipes + 1, sizeof(*g->recipes));
    g->tasks = bz_mem_array(bz_bitset_count(active), sizeof(*g->tasks));
    for (uint32_t r = 0; r < d->nrecipes; r++) {
        uint32_t first = n;

        for (uint32_t t = d->first[r]; t < d->first[r + 1]; t++) {
            if (!bz_bitset_test(active, t))
                continue;
            g->tasks[n] = (struct bz_tgraph_task){task_of(d, t), g->nrecipes};
            number[t] = n++;
        }
        if (n > first)
            g->recipes[g->nrecipes++] = (struct bz_tgraph_recipe){
                facts_of(d, r), d->need->recipes.at[r].part, first};
    }
    g->recipes[g->nrecipes].first = n;
    for (size_t t = bz_bitset_next(active, 0); t < BZ_BITSET_END;
         t = bz_bitset_next(active, t + 1))
        for (uint32_t e = d->dag.start[t]; e < d->dag.start[t + 1]; e++)
            BZ_VEC_PUSH(&edges, (struct bz_dag_edge){number[t], number[d->dag.to[e]]});
    bz_dag_build(&g->dag, n, edges.at, edges.len);
    for (size_t i = 0; i < g->targets.len; i++)
        g->targets.at[i] = number[g->targets.at[i]];
}

struct rule_search {
    uint32_t to;
    enum bz_tgraph_rule rule;
    size_t word;
    bool known;
};

static void note_rule(void *ctx, uint32_t to, enum bz_tgraph_rule rule, size_t word)
{
    struct rule_search *s = ctx;

    if (to == s->to && !s->known) {
        s->rule = rule;
        s->word = word;
        s->known = true;
    }
}

/* Which word of a list it is; 0 if none. */
static size_t place_in(struct bz_str list, struct bz_str wanted)
{
    struct bz_str word;

    for (size_t i = 0; bz_str_next_word(&list, &word); i++)
        if (bz_str_eq(word, wanted))
            return i;
    return 0;
}

/* An edge that no other rule makes is [recrdeptask]'s. */
static struct bz_tgraph_step step_of(const struct draft *d, uint32_t from, uint32_t to)
{
    static const enum bz_place_list lists[] = {
        [BZ_TGRAPH_AFTER] = BZ_PLACE_AFTER,
        [BZ_TGRAPH_MCDEPENDS] = BZ_PLACE_MCDEPENDS,
        [BZ_TGRAPH_DEPTASK] = BZ_PLACE_DEPTASK,
        [BZ_TGRAPH_RDEPTASK] = BZ_PLACE_RDEPTASK,
        [BZ_TGRAPH_DEPENDS] = BZ_PLACE_DEPENDS,
        [BZ_TGRAPH_RDEPENDS] = BZ_PLACE_RDEPENDS,
        [BZ_TGRAPH_RECRDEPTASK] = BZ_PLACE_RECRDEPTASK,
    };
    const struct bz_facts_task *task = task_of(d, from);
    struct rule_search s = {.to = to, .rule = BZ_TGRAPH_RECRDEPTASK};
    struct finder f = {d, from, note_rule, &s};
    struct bz_err err;

    find_mcdeps(&f);
    if (find_edges(&f, &err) < 0 || !s.known) /* the former went well before */
        s.word = place_in(task->recrdeptask, task_of(d, to)->name);
    return (struct bz_tgraph_step){facts_of(d, d->recipe[from]), task, s.rule,
                                   bz_place_find(task, lists[s.rule], s.word)};
}

/* The cycle that was found, in numbers of the draft. */
static void describe_cycle(struct bz_tgraph *g, const struct draft *d,
                           const struct bz_dag_ids *cycle)
{
    for (size_t i = 0; i < cycle->len; i++) {
        uint32_t from = cycle->at[i], to = cycle->at[(i + 1) % cycle->len];

        BZ_VEC_PUSH(&g->cycle, step_of(d, from, to));
    }
}

static int check_cycles(struct bz_tgraph *g, const struct draft *d,
                        const struct bz_bitset *active, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct bz_dag_ids cycle = {0};
    if (bz_dag_order(&g->dag, &g->order, err) == 0)
        return 0;
    /* From new numbers back to those of the draft: the n-th active one. */
    for (size_t i = 0; i < g->order.len; i++) {
        size_t t = bz_bitset_next(active, 0);

        for (uint32_t n = 0; n < g->order.at[i]; n++)
            t = bz_bitset_next(active, t + 1);
        BZ_VEC_PUSH(&cycle, (uint32_t)t);
    }
    describe_cycle(g, d, &cycle);
    return bz_fail(err, BZ_E_INVAL, "%.*s of %.*s waits for itself",
                   BZ_STR_ARG(g->cycle.at[0].task->name),
                   BZ_STR_ARG(g->cycle.at[0].recipe->pn));
}

static int build(struct bz_tgraph *g, struct draft *d,
                 const struct bz_tgraph_target *targets, size_t n, struct bz_err *err)
{
    struct bz_bitset active = {0};
    int rc = draw(d, err);

    if (rc == 0)
        rc = mark_targets(d, targets, n, &g->targets, &active, err);
    if (rc == 0) {
        keep_active(g, d, &active);
        rc = check_cycles(g, d, &active, err);
    }
    bz_bitset_release(&active);
    return rc;
}

static int need_targets(struct bz_tgraph *g, struct bz_need *need,
                        const struct bz_tgraph_target *targets, size_t n,
                        struct bz_err *err)
{
    int rc = 0;

    for (size_t i = 0; i < n && rc == 0; i++)
        rc = bz_need_add(need, targets[i].part, targets[i].name, BZ_PROVIDE_BUILD, err);
    for (size_t i = 0; i < n && rc == 0; i++) {
        const struct bz_need_name *x =
            bz_need_find(need, targets[i].part, targets[i].name, BZ_PROVIDE_BUILD);

        struct bz_str why;

        if (!x->failed)
            continue;
        why = bz_need_explain(need, x, &g->lack);
        return bz_fail(err, BZ_E_NOENT, "%.*s", BZ_STR_ARG(why));
    }
    return rc;
}

int bz_tgraph_build(struct bz_tgraph *g, struct bz_need *need, const struct bz_str *mcs,
                    const struct bz_tgraph_target *targets, size_t n,
                    struct bz_err *err)
{
    struct draft d;
    int rc = need_targets(g, need, targets, n, err);

    if (rc == 0)
        rc = need_mcdeps(need, mcs, err);
    if (rc < 0)
        return rc;
    draft_init(&d, need, mcs);
    rc = build(g, &d, targets, n, err);
    draft_release(&d);
    return rc;
}

void bz_tgraph_release(struct bz_tgraph *g)
{
    free(g->recipes);
    free(g->tasks);
    bz_dag_release(&g->dag);
    bz_vec_release(&g->order);
    bz_vec_release(&g->targets);
    bz_vec_release(&g->cycle);
    bz_buf_release(&g->lack);
    *g = (struct bz_tgraph){0};
}

uint32_t bz_tgraph_find(const struct bz_tgraph *g, uint32_t recipe, struct bz_str task)
{
    for (uint32_t t = g->recipes[recipe].first; t < g->recipes[recipe + 1].first; t++)
        if (bz_str_eq(g->tasks[t].facts->name, task))
            return t;
    return NONE;
}
