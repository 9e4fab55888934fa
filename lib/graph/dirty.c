#include "graph/dirty.h"

void bz_dirty_find(const struct bz_dag *dag, const struct bz_dag_ids *order,
                   const struct bz_bitset *changed, struct bz_bitset *dirty)
{
    bz_bitset_reserve(dirty, dag->n);
    for (size_t i = 0; i < order->len; i++) {
        uint32_t node = order->at[i];
        bool hit = bz_bitset_test(changed, node);

        for (uint32_t e = dag->start[node]; e < dag->start[node + 1] && !hit; e++)
            hit = bz_bitset_test(dirty, dag->to[e]);
        if (hit)
            bz_bitset_set(dirty, node);
    }
}

static void need(struct bz_dag_ids *todo, uint32_t node, struct bz_bitset *needed)
{
    if (bz_bitset_test(needed, node))
        return;
    bz_bitset_set(needed, node);
    BZ_VEC_PUSH(todo, node);
}

void bz_dirty_needed(const struct bz_dag *dag, const struct bz_dag_ids *targets,
                     bz_dirty_fn at_hand, void *ctx, struct bz_bitset *needed)
{
    BZ_CLEANUP(bz_vec_release) struct bz_dag_ids todo = {0};

    bz_bitset_reserve(needed, dag->n);
    for (size_t i = 0; i < targets->len; i++)
        need(&todo, targets->at[i], needed);
    while (todo.len > 0) {
        uint32_t node = BZ_VEC_POP(&todo);

        if (at_hand(ctx, node))
            continue;
        for (uint32_t e = dag->start[node]; e < dag->start[node + 1]; e++)
            need(&todo, dag->to[e], needed);
    }
}
