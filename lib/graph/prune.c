#include "graph/prune.h"

#include <stdlib.h>

#include "base/mem.h"

#define GONE UINT32_MAX

/* The tasks of a set, and their dependents. */
static void find_gone(const struct bz_tgraph *g, const struct bz_bitset *tasks,
                      struct bz_bitset *gone)
{
    struct bz_dag dependents;

    bz_dag_reverse(&g->dag, &dependents);
    for (size_t t = bz_bitset_next(tasks, 0); t < BZ_BITSET_END;
         t = bz_bitset_next(tasks, t + 1))
        bz_dag_reach(&dependents, (uint32_t)t, gone);
    bz_dag_release(&dependents);
}

/* Moves tasks and recipes together. Returns how many tasks there are; number[t] is the
 * new number of task t, or GONE. */
static uint32_t renumber(struct bz_tgraph *g, const struct bz_bitset *gone,
                         uint32_t *number)
{
    uint32_t n = 0, recipes = 0;

    for (uint32_t r = 0; r < g->nrecipes; r++) {
        uint32_t first = n;

        for (uint32_t t = g->recipes[r].first; t < g->recipes[r + 1].first; t++) {
            number[t] = GONE;
            if (bz_bitset_test(gone, t))
                continue;
            g->tasks[n] = g->tasks[t];
            g->tasks[n].recipe = recipes;
            number[t] = n++;
        }
        if (n == first)
            continue;
        g->recipes[recipes] = g->recipes[r];
        g->recipes[recipes++].first = first;
    }
    g->recipes[recipes] = (struct bz_tgraph_recipe){.first = n};
    g->nrecipes = recipes;
    return n;
}

static void set_targets(struct bz_tgraph *g, const uint32_t *number)
{
    BZ_CLEANUP(bz_bitset_release) struct bz_bitset found = {0};
    struct bz_dag_ids targets = {0};

    for (size_t i = 0; i < g->targets.len; i++) {
        uint32_t t = number[g->targets.at[i]];

        if (t == GONE)
            continue;
        BZ_VEC_PUSH(&targets, t);
        bz_bitset_set(&found, t);
    }
    for (uint32_t t = 0; t < g->dag.n; t++)
        for (uint32_t e = g->dag.start[t]; number[t] == GONE && e < g->dag.start[t + 1];
             e++) {
            uint32_t to = number[g->dag.to[e]];

            if (to == GONE || bz_bitset_test(&found, to))
                continue;
            BZ_VEC_PUSH(&targets, to);
            bz_bitset_set(&found, to);
        }
    bz_vec_release(&g->targets);
    g->targets = targets;
}

static void set_edges(struct bz_tgraph *g, const uint32_t *number, uint32_t n)
{
    BZ_CLEANUP(bz_vec_release) struct BZ_VEC(struct bz_dag_edge) edges = {0};
    size_t kept = 0;

    for (uint32_t t = 0; t < g->dag.n; t++)
        for (uint32_t e = g->dag.start[t]; number[t] != GONE && e < g->dag.start[t + 1];
             e++)
            BZ_VEC_PUSH(&edges, (struct bz_dag_edge){number[t], number[g->dag.to[e]]});
    bz_dag_release(&g->dag);
    bz_dag_build(&g->dag, n, edges.at, edges.len);
    for (size_t i = 0; i < g->order.len; i++)
        if (number[g->order.at[i]] != GONE)
            g->order.at[kept++] = number[g->order.at[i]];
    g->order.len = kept;
}

void bz_prune_tasks(struct bz_tgraph *g, const struct bz_bitset *tasks)
{
    BZ_CLEANUP(bz_bitset_release) struct bz_bitset gone = {0};
    uint32_t *number = bz_mem_array((size_t)g->dag.n + 1, sizeof(*number)), n;

    find_gone(g, tasks, &gone);
    n = renumber(g, &gone, number);
    set_targets(g, number);
    set_edges(g, number, n);
    free(number);
}
