#include "graph/ready.h"

#include <stdlib.h>

#include "base/mem.h"

static bool is_among(const struct bz_bitset *among, uint32_t node)
{
    return !among || bz_bitset_test(among, node);
}

/* wave[node]: the one it is in, or, if it only passes on, the next. */
static uint32_t find_waves(const struct bz_dag *dag, const struct bz_dag_ids *order,
                           const struct bz_bitset *among,
                           const struct bz_bitset *through, uint32_t *wave)
{
    uint32_t n = 0;

    for (size_t i = 0; i < order->len; i++) {
        uint32_t node = order->at[i];
        bool counts = is_among(among, node);

        wave[node] = 0;
        if (!counts && !(through && bz_bitset_test(through, node)))
            continue;
        for (uint32_t e = dag->start[node]; e < dag->start[node + 1]; e++) {
            uint32_t after = wave[dag->to[e]] + is_among(among, dag->to[e]);

            if (after > wave[node])
                wave[node] = after;
        }
        if (counts && wave[node] >= n)
            n = wave[node] + 1;
    }
    return n;
}

void bz_ready_waves(const struct bz_dag *dag, const struct bz_dag_ids *order,
                    const struct bz_bitset *among, const struct bz_bitset *through,
                    struct bz_ready_waves *out)
{
    BZ_CLEANUP(bz_mem_freep) uint32_t *wave = bz_mem_array(dag->n, sizeof(*wave));
    BZ_CLEANUP(bz_mem_freep) uint32_t *next = NULL;
    uint32_t n = find_waves(dag, order, among, through, wave);

    *out = (struct bz_ready_waves){.n = n};
    out->start = bz_mem_array((size_t)n + 1, sizeof(*out->start));
    next = bz_mem_array((size_t)n + 1, sizeof(*next));
    for (uint32_t i = 0; i < dag->n; i++)
        if (is_among(among, i))
            out->start[wave[i] + 1]++;
    for (uint32_t i = 0; i < n; i++) {
        out->start[i + 1] += out->start[i];
        next[i] = out->start[i];
    }
    out->nodes = bz_mem_array(out->start[n], sizeof(*out->nodes));
    for (uint32_t i = 0; i < dag->n; i++)
        if (is_among(among, i))
            out->nodes[next[wave[i]]++] = i;
}

void bz_ready_waves_release(struct bz_ready_waves *w)
{
    free(w->nodes);
    free(w->start);
    *w = (struct bz_ready_waves){0};
}
