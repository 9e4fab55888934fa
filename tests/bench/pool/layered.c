#include "layered.h"

#include <stdlib.h>

#include "base/mem.h"

/* A linear congruential generator with Knuth's MMIX constants. Its high half, scaled,
 * is a number below `limit`. */
static uint32_t draw(uint64_t *seed, uint32_t limit)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(((*seed >> 32) * limit) >> 32);
}

static bool contains(const uint32_t *list, uint32_t len, uint32_t value)
{
    for (uint32_t i = 0; i < len; i++)
        if (list[i] == value)
            return true;
    return false;
}

/* preds[LAYERED_PREDS * n + i] is the i-th predecessor of node n; the first layer's
 * entries stay unused. */
static void draw_preds(const struct layered *g, uint32_t *preds)
{
    uint64_t seed = 1;

    for (uint32_t n = g->width; n < g->count; n++) {
        uint32_t before = (n / g->width - 1) * g->width;
        uint32_t *mine = &preds[(size_t)n * LAYERED_PREDS];

        for (uint32_t have = 0; have < LAYERED_PREDS;) {
            uint32_t p = before + draw(&seed, g->width);

            if (!contains(mine, have, p))
                mine[have++] = p;
        }
    }
}

/* Turns the lists of predecessors into one array of successors, sorted by the node they
 * come after: count, sum up, fill from the back. */
static void index_succs(struct layered *g, const uint32_t *preds)
{
    size_t begin = (size_t)g->width * LAYERED_PREDS;
    size_t end = (size_t)g->count * LAYERED_PREDS;

    for (size_t e = begin; e < end; e++)
        g->nodes[preds[e]].first++;
    for (uint32_t n = 0; n < g->count; n++)
        g->nodes[n + 1].first += g->nodes[n].first;
    for (size_t e = end; e-- > begin;)
        g->succ[--g->nodes[preds[e]].first] = (uint32_t)(e / LAYERED_PREDS);
}

/* Node numbers are an order in which the graph can run, so one pass finds what the
 * pools have to find. */
static uint64_t sum_values(const struct layered *g, const uint32_t *preds)
{
    BZ_CLEANUP(bz_mem_freep) uint32_t *values = bz_mem_array(g->count, sizeof(*values));
    uint64_t sum = 0;

    for (uint32_t n = 0; n < g->count; n++) {
        const uint32_t *mine = &preds[(size_t)n * LAYERED_PREDS];

        values[n] = n < g->width ? n + 1 : 0;
        for (uint32_t i = 0; n >= g->width && i < LAYERED_PREDS; i++)
            values[n] += values[mine[i]];
        sum += values[n];
    }
    return sum;
}

void layered_init(struct layered *g, uint32_t nodes)
{
    BZ_CLEANUP(bz_mem_freep) uint32_t *preds = NULL;

    g->width = nodes / LAYERED_LAYERS;
    g->count = g->width * LAYERED_LAYERS;
    g->nodes = bz_mem_array((size_t)g->count + 1, sizeof(*g->nodes));
    g->succ = bz_mem_array((size_t)g->count * LAYERED_PREDS, sizeof(*g->succ));
    preds = bz_mem_array((size_t)g->count * LAYERED_PREDS, sizeof(*preds));
    draw_preds(g, preds);
    index_succs(g, preds);
    g->sum = sum_values(g, preds);
    layered_reset(g);
}

void layered_release(struct layered *g)
{
    free(g->nodes);
    free(g->succ);
}

void layered_reset(struct layered *g)
{
    for (uint32_t n = 0; n < g->count; n++) {
        g->nodes[n].state = n < g->width ? (uint64_t)(n + 1) << 32 : LAYERED_PREDS;
        g->nodes[n].runs = 0;
    }
}

uint64_t layered_check(const struct layered *g)
{
    uint64_t sum = 0;

    for (uint32_t n = 0; n < g->count; n++) {
        if (g->nodes[n].runs != 1)
            return UINT64_MAX;
        sum += g->nodes[n].state >> 32;
    }
    return sum;
}
