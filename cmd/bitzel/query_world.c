#include "query_world.h"

#include "base/near.h"
#include "graph/rgraph.h"
#include "query/query_glob.h"
#include "sig/listing.h"
#include "sig/signing.h"
#include "survey/evaluate.h"

static const char *const kinds[] = {"task",     "recipe",  "variable", "file",
                                    "provides", "package", NULL};

static const struct bz_tgraph *graph_of(const struct bz_query_world_of *w)
{
    return &w->build->goal.graph;
}

static bool is_task(const struct bz_query_world_of *w, uint32_t node)
{
    return node < graph_of(w)->dag.n;
}

uint32_t bz_query_world_recipe(const struct bz_query_world_of *w, uint32_t node)
{
    const struct bz_tgraph *g = graph_of(w);

    return is_task(w, node) ? g->tasks[node].recipe : node - g->dag.n;
}

/* ---- names ---- */

/* A name in its parts, each perhaps a pattern. */
struct name {
    struct bz_str mc, recipe;
    struct bz_str task; /* p == NULL: the recipe itself is meant */
};

static void split(struct bz_str text, struct name *out)
{
    struct bz_str rest = text;

    *out = (struct name){.mc = BZ_STR("")};
    if (bz_str_cut_prefix(&rest, BZ_STR("mc:")) ||
        bz_str_cut_prefix(&rest, BZ_STR("multiconfig:")))
        (void)bz_str_cut(rest, ':', &out->mc, &rest);
    if (!bz_str_cut(rest, ':', &out->recipe, &out->task))
        out->task = (struct bz_str){0};
}

static size_t add_recipe(const struct bz_query_world_of *w, uint32_t recipe,
                         struct bz_str task, struct bz_bitset *out)
{
    const struct bz_tgraph *g = graph_of(w);
    size_t n = 0;

    if (!task.p) {
        bz_bitset_set(out, g->dag.n + recipe);
        return 1;
    }
    for (uint32_t t = g->recipes[recipe].first; t < g->recipes[recipe + 1].first; t++)
        if (bz_query_glob_match(task, g->tasks[t].facts->name)) {
            bz_bitset_set(out, t);
            n++;
        }
    return n;
}

/* What provides the name, if no recipe of the graph is called so. */
static bool is_provider(const struct bz_query_world_of *w, const struct name *name,
                        uint32_t recipe)
{
    const struct bz_tgraph_recipe *r = &graph_of(w)->recipes[recipe];
    const struct bz_need *need = &w->build->goal.need;
    uint32_t by = bz_need_provider(need, r->part, name->recipe, BZ_PROVIDE_BUILD);

    return by != BZ_NEED_NONE && need->recipes.at[by].facts == r->facts;
}

static size_t find(const struct bz_query_world_of *w, const struct name *name,
                   bool provider, struct bz_bitset *out, size_t *recipes)
{
    const struct bz_tgraph *g = graph_of(w);
    size_t n = 0;

    *recipes = 0;
    for (uint32_t r = 0; r < g->nrecipes; r++) {
        if (!bz_query_glob_match(name->mc, w->build->goal.mcs[g->recipes[r].part]))
            continue;
        if (provider ? !is_provider(w, name, r)
                     : !bz_query_glob_match(name->recipe, g->recipes[r].facts->pn))
            continue;
        ++*recipes;
        n += add_recipe(w, r, name->task, out);
    }
    return n;
}

/* Names of recipes, or of tasks if it is the task that is not there. */
static int no_match(const struct bz_query_world_of *w, struct bz_str text,
                    const struct name *name, bool recipes, struct bz_err *err)
{
    const struct bz_tgraph *g = graph_of(w);
    struct bz_near near;
    char hint[160];

    bz_near_init(&near, recipes ? name->task : name->recipe);
    for (uint32_t r = 0; r < g->nrecipes && !recipes; r++)
        bz_near_offer(&near, g->recipes[r].facts->pn);
    for (uint32_t t = 0; t < g->dag.n && recipes; t++)
        if (bz_query_glob_match(name->recipe, g->recipes[g->tasks[t].recipe].facts->pn))
            bz_near_offer(&near, g->tasks[t].facts->name);
    return bz_fail(err, BZ_E_NOENT, "nothing in the universe is called '%.*s'%s",
                   BZ_STR_ARG(text), bz_near_text(&near, "", hint, sizeof(hint)));
}

static int match(void *ctx, struct bz_str text, struct bz_bitset *out,
                 struct bz_err *err)
{
    const struct bz_query_world_of *w = ctx;
    struct name name;
    size_t recipes;

    split(text, &name);
    if (find(w, &name, false, out, &recipes) > 0 || bz_query_glob_is(text))
        return 0;
    if (recipes == 0 && find(w, &name, true, out, &recipes) > 0)
        return 0;
    return no_match(w, text, &name, recipes > 0, err);
}

static void add_name(void *ctx, uint32_t node, struct bz_buf *out)
{
    const struct bz_query_world_of *w = ctx;

    if (is_task(w, node))
        bz_goal_task_name(&w->build->goal, node, out);
    else
        bz_goal_name(&w->build->goal, bz_query_world_recipe(w, node), out);
}

static const char *kind(void *ctx, uint32_t node, struct bz_str *text)
{
    const struct bz_query_world_of *w = ctx;
    const struct bz_tgraph *g = graph_of(w);

    if (is_task(w, node)) {
        *text = g->tasks[node].facts->name;
        return "task";
    }
    *text = g->recipes[bz_query_world_recipe(w, node)].facts->pn;
    return "recipe";
}

/* ---- variables ---- */

/* What is known without evaluating the recipe. */
static bool known(const struct bz_facts *f, struct bz_str name, struct bz_str *value)
{
    const struct {
        struct bz_str name, value;
    } facts[] = {
        {BZ_STR("PN"),       f->pn      },
        {BZ_STR("PE"),       f->pe      },
        {BZ_STR("PV"),       f->pv      },
        {BZ_STR("PR"),       f->pr      },
        {BZ_STR("SUMMARY"),  f->summary },
        {BZ_STR("DEPENDS"),  f->depends },
        {BZ_STR("PROVIDES"), f->provides},
    };

    for (size_t i = 0; i < BZ_COUNTOF(facts); i++)
        if (bz_str_eq(name, facts[i].name)) {
            *value = facts[i].value;
            return true;
        }
    return false;
}

static int attr(void *ctx, uint32_t node, struct bz_str name, struct bz_str *value,
                struct bz_err *err)
{
    struct bz_query_world_of *w = ctx;
    uint32_t recipe = bz_query_world_recipe(w, node);
    const struct bz_facts *f = graph_of(w)->recipes[recipe].facts;
    int rc = 0;

    if (known(f, name, value))
        return 0;
    if (!w->read.vars || w->recipe != recipe) {
        bz_evaluate_release(&w->read);
        rc = bz_evaluate_recipe(&w->build->catalog, graph_of(w)->recipes[recipe].part,
                                graph_of(w)->recipes[recipe].facts, &w->read, err);
        if (rc < 0) {
            bz_evaluate_release(&w->read);
            return rc;
        }
        w->recipe = recipe;
    }
    if (bz_vars_get(w->read.vars, name, 0, value, err) < 0) {
        *value = (struct bz_str){0}; /* one recipe must not hide the others */
        bz_buf_addf(&w->notes, "warning: %.*s: %s\n", BZ_STR_ARG(f->path), err->msg);
    }
    return 0;
}

/* ---- what goes in and comes out ---- */

struct telling {
    bz_query_leaf_fn leaf;
    void *to;
};

static void tell_inputs(void *ctx, uint32_t task, const struct bz_listing_view *view)
{
    const struct telling *t = ctx;

    (void)task;
    for (size_t i = 0; i < view->origins->len; i++)
        t->leaf(t->to, "variable", view->origins->at[i].name);
    for (size_t i = 0; i < view->files->len; i++)
        t->leaf(t->to, "file", view->files->at[i].name);
}

static int inputs(void *ctx, const struct bz_bitset *nodes, bz_query_leaf_fn leaf,
                  void *to, struct bz_err *err)
{
    const struct bz_query_world_of *w = ctx;
    const struct bz_tgraph *g = graph_of(w);
    BZ_CLEANUP(bz_bitset_release) struct bz_bitset tasks = {0};
    BZ_CLEANUP(bz_signing_release) struct bz_signing s = {.only = &tasks};
    struct bz_catalog *p = &w->build->catalog;
    int rc;
    struct telling t = {leaf, to};

    for (uint32_t i = 0; i < g->dag.n; i++)
        if (bz_bitset_test(nodes, i) ||
            bz_bitset_test(nodes, g->dag.n + g->tasks[i].recipe))
            bz_bitset_set(&tasks, i);
    rc = bz_signing_run(&s, p, &w->build->goal, err);
    return rc < 0
               ? rc
               : bz_listing_run(&s, p, &w->build->goal, &tasks, tell_inputs, &t, err);
}

static void tell_outputs(const struct bz_facts *f, const struct telling *t)
{
    struct bz_str words = f->provides, word;

    t->leaf(t->to, "provides", f->pn);
    while (bz_str_next_word(&words, &word))
        t->leaf(t->to, "provides", word);
    for (size_t i = 0; i < f->npackages; i++)
        t->leaf(t->to, "package", f->packages[i].name);
}

static int outputs(void *ctx, const struct bz_bitset *nodes, bz_query_leaf_fn leaf,
                   void *to, struct bz_err *err)
{
    const struct bz_query_world_of *w = ctx;
    struct telling t = {leaf, to};
    struct bz_bitset recipes = {0};

    (void)err;
    for (size_t i = bz_bitset_next(nodes, 0); i != BZ_BITSET_END;
         i = bz_bitset_next(nodes, i + 1))
        bz_bitset_set(&recipes, bz_query_world_recipe(w, (uint32_t)i));
    for (size_t r = bz_bitset_next(&recipes, 0); r != BZ_BITSET_END;
         r = bz_bitset_next(&recipes, r + 1))
        tell_outputs(graph_of(w)->recipes[r].facts, &t);
    bz_bitset_release(&recipes);
    return 0;
}

/* ---- the graph ---- */

struct edge_list BZ_VEC(struct bz_dag_edge);

static void add_edges(const struct bz_dag *dag, uint32_t first, struct edge_list *out)
{
    for (uint32_t i = 0; i < dag->n; i++)
        for (uint32_t e = dag->start[i]; e < dag->start[i + 1]; e++)
            BZ_VEC_PUSH(out, (struct bz_dag_edge){first + i, first + dag->to[e]});
}

void bz_query_world_init(struct bz_query_world_of *w, struct bz_build *b)
{
    const struct bz_goal *goal = &b->goal;
    BZ_CLEANUP(bz_vec_release) struct edge_list edges = {0};
    uint32_t tasks = goal->graph.dag.n;
    struct bz_dag recipes;

    *w = (struct bz_query_world_of){.build = b};
    bz_rgraph_build(&goal->graph, &recipes);
    BZ_VEC_RESERVE(&edges, goal->graph.dag.start[tasks] + recipes.start[recipes.n]);
    add_edges(&goal->graph.dag, 0, &edges);
    add_edges(&recipes, tasks, &edges);
    bz_dag_release(&recipes);
    bz_dag_build(&w->dag, tasks + goal->graph.nrecipes, edges.at, edges.len);
    w->world = (struct bz_query_world){.dag = &w->dag,
                                       .kinds = kinds,
                                       .ctx = w,
                                       .match = match,
                                       .name = add_name,
                                       .kind = kind,
                                       .attr = attr,
                                       .inputs = inputs,
                                       .outputs = outputs};
}

void bz_query_world_release(struct bz_query_world_of *w)
{
    bz_dag_release(&w->dag);
    bz_evaluate_release(&w->read);
    bz_buf_release(&w->notes);
    *w = (struct bz_query_world_of){0};
}
