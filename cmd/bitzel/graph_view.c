#include "graph_view.h"

#include "codec/jsonw.h"
#include "graph/rgraph.h"

void bz_graph_view_init(struct bz_graph_view *v, const struct bz_goal *goal,
                        bool recipes, bool reduce, bool *reduced)
{
    BZ_CLEANUP(bz_vec_release) struct bz_dag_ids order = {0};
    struct bz_dag all = goal->graph.dag, small;
    struct bz_err err;

    *v = (struct bz_graph_view){.goal = goal, .recipes = recipes};
    *reduced = false;
    if (recipes) {
        bz_rgraph_build(&goal->graph, &all);
        v->dag = all;
    }
    if (!reduce || bz_dag_order(&all, &order, &err) < 0)
        return;
    bz_dag_reduce(&all, &order, &small);
    if (recipes)
        bz_dag_release(&all);
    v->dag = small;
    *reduced = true;
}

/* The goal's own graph is only borrowed. */
static const struct bz_dag *dag_of(const struct bz_graph_view *v)
{
    return v->dag.start ? &v->dag : &v->goal->graph.dag;
}

void bz_graph_view_release(struct bz_graph_view *v)
{
    bz_dag_release(&v->dag);
}

static uint32_t recipe_of(const struct bz_graph_view *v, uint32_t node)
{
    return v->recipes ? node : v->goal->graph.tasks[node].recipe;
}

/* Appends the name of a node: "busybox" or "busybox:do_compile". */
static void add_name(const struct bz_graph_view *v, uint32_t node, struct bz_buf *out)
{
    if (v->recipes)
        bz_goal_name(v->goal, node, out);
    else
        bz_goal_task_name(v->goal, node, out);
}

void bz_graph_view_text(const struct bz_graph_view *v, struct bz_buf *out)
{
    const struct bz_dag *d = dag_of(v);

    for (uint32_t node = 0; node < d->n; node++) {
        add_name(v, node, out);
        for (uint32_t e = d->start[node]; e < d->start[node + 1]; e++) {
            bz_buf_addf(out, e == d->start[node] ? " > " : " ");
            add_name(v, d->to[e], out);
        }
        bz_buf_add_char(out, '\n');
    }
}

/* ---- Graphviz ---- */

static void add_quoted(struct bz_buf *out, struct bz_str text)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '"' || text.p[i] == '\\')
            bz_buf_add_char(out, '\\');
        bz_buf_add_char(out, text.p[i]);
    }
}

/* The name that BitBake's task-depends.dot gives a node: recipe.do_task. */
static void add_id(const struct bz_graph_view *v, uint32_t node, struct bz_buf *out)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf name = {0};

    bz_goal_name(v->goal, recipe_of(v, node), &name);
    bz_buf_add_char(out, '"');
    add_quoted(out, bz_buf_str(&name));
    if (!v->recipes) {
        bz_buf_add_char(out, '.');
        add_quoted(out, v->goal->graph.tasks[node].facts->name);
    }
    bz_buf_add_char(out, '"');
}

/* What a picture shows of a node: two short lines. */
static void add_brief(const struct bz_graph_view *v, uint32_t node, struct bz_buf *out)
{
    const struct bz_tgraph *g = &v->goal->graph;
    BZ_CLEANUP(bz_buf_release) struct bz_buf name = {0};

    bz_goal_name(v->goal, recipe_of(v, node), &name);
    add_id(v, node, out);
    bz_buf_addf(out, " [label=\"");
    add_quoted(out, bz_buf_str(&name));
    bz_buf_addf(out, "\\n");
    add_quoted(out, v->recipes ? g->recipes[recipe_of(v, node)].facts->pv
                               : g->tasks[node].facts->name);
    bz_buf_addf(out, "\"]\n");
}

static void add_node(const struct bz_graph_view *v, uint32_t node, struct bz_buf *out)
{
    const struct bz_tgraph *g = &v->goal->graph;
    const struct bz_facts *f = g->recipes[recipe_of(v, node)].facts;
    BZ_CLEANUP(bz_buf_release) struct bz_buf name = {0};

    bz_goal_name(v->goal, recipe_of(v, node), &name);
    add_id(v, node, out);
    bz_buf_addf(out, " [label=\"");
    add_quoted(out, bz_buf_str(&name));
    if (!v->recipes) {
        bz_buf_add_char(out, ' ');
        add_quoted(out, g->tasks[node].facts->name);
    }
    bz_buf_addf(out, "\\n");
    add_quoted(out, f->pe);
    bz_buf_add_char(out, ':');
    add_quoted(out, f->pv);
    bz_buf_add_char(out, '-');
    add_quoted(out, f->pr);
    bz_buf_addf(out, "\\n");
    if (f->variant.n > 0) { /* as BitBake names a variant's file */
        bz_buf_addf(out, "virtual:");
        add_quoted(out, f->variant);
        bz_buf_add_char(out, ':');
    }
    add_quoted(out, f->path);
    bz_buf_addf(out, "\"]\n");
}

void bz_graph_view_dot(const struct bz_graph_view *v, struct bz_buf *out)
{
    const struct bz_dag *d = dag_of(v);

    bz_buf_addf(out, "digraph depends {\n");
    for (uint32_t node = 0; node < d->n; node++) {
        if (v->brief)
            add_brief(v, node, out);
        else
            add_node(v, node, out);
        for (uint32_t e = d->start[node]; e < d->start[node + 1]; e++) {
            add_id(v, node, out);
            bz_buf_addf(out, " -> ");
            add_id(v, d->to[e], out);
            bz_buf_add_char(out, '\n');
        }
    }
    bz_buf_addf(out, "}\n");
}

/* ---- JSON ---- */

static void json_node(const struct bz_graph_view *v, const struct bz_dag *d,
                      uint32_t node, struct bz_jsonw *w)
{
    const struct bz_tgraph *g = &v->goal->graph;
    const struct bz_facts *f = g->recipes[recipe_of(v, node)].facts;
    BZ_CLEANUP(bz_buf_release) struct bz_buf name = {0};

    add_name(v, node, &name);
    bz_jsonw_map(w);
    bz_jsonw_str(bz_jsonw_key(w, "name"), bz_buf_str(&name));
    bz_jsonw_str(bz_jsonw_key(w, "recipe"), f->pn);
    if (!v->recipes)
        bz_jsonw_str(bz_jsonw_key(w, "task"), g->tasks[node].facts->name);
    bz_jsonw_str(bz_jsonw_key(w, "version"), f->pv);
    bz_jsonw_str(bz_jsonw_key(w, "file"), f->path);
    bz_jsonw_list(bz_jsonw_key(w, "waits_for"));
    for (uint32_t e = d->start[node]; e < d->start[node + 1]; e++) {
        bz_buf_truncate(&name, 0);
        add_name(v, d->to[e], &name);
        bz_jsonw_str(w, bz_buf_str(&name));
    }
    bz_jsonw_list_end(w);
    bz_jsonw_map_end(w);
}

void bz_graph_view_json(const struct bz_graph_view *v, struct bz_buf *out)
{
    const struct bz_dag *d = dag_of(v);
    struct bz_jsonw w = bz_jsonw_to(out, 2);

    bz_jsonw_map(&w);
    bz_jsonw_list(bz_jsonw_key(&w, v->recipes ? "recipes" : "tasks"));
    for (uint32_t node = 0; node < d->n; node++)
        json_node(v, d, node, &w);
    bz_jsonw_list_end(&w);
    bz_jsonw_map_end(&w);
    bz_buf_add_char(out, '\n');
}
