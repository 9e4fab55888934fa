/* graph_view.h - a graph with names, ready to be shown: of tasks or of recipes.
 */
#ifndef BZ_CMD_GRAPH_VIEW_H
#define BZ_CMD_GRAPH_VIEW_H

#include "base/buf.h"
#include "graph/goal.h"

struct bz_graph_view {
    const struct bz_goal *goal;
    bool recipes;      /* nodes are recipes, not tasks */
    bool brief;        /* in Graphviz text a node does not say which file it is from */
    struct bz_dag dag; /* nodes as in the goal's graph */
};

/* `reduce`: without edges that others imply. Recipes that wait for each other cannot be
 * reduced; *reduced tells. Release *v. */
void bz_graph_view_init(struct bz_graph_view *v, const struct bz_goal *goal,
                        bool recipes, bool reduce, bool *reduced);
void bz_graph_view_release(struct bz_graph_view *v);

/* Append the graph as lines "name: what it waits for", as Graphviz text, as JSON. */
void bz_graph_view_text(const struct bz_graph_view *v, struct bz_buf *out);
void bz_graph_view_dot(const struct bz_graph_view *v, struct bz_buf *out);
void bz_graph_view_json(const struct bz_graph_view *v, struct bz_buf *out);

#endif
