#include "graph/rgraph.h"

void bz_rgraph_build(const struct bz_tgraph *g, struct bz_dag *out)
{
    BZ_CLEANUP(bz_vec_release)
    struct recipe_edges BZ_VEC(struct bz_dag_edge) edges = {0};

    for (uint32_t t = 0; t < g->dag.n; t++) {
        uint32_t from = g->tasks[t].recipe;

        for (uint32_t e = g->dag.start[t]; e < g->dag.start[t + 1]; e++) {
            uint32_t to = g->tasks[g->dag.to[e]].recipe;

            if (to != from)
                BZ_VEC_PUSH(&edges, (struct bz_dag_edge){from, to});
        }
    }
    bz_dag_build(out, g->nrecipes, edges.at, edges.len);
}
