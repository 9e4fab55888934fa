#include "pool/flow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct bz_flow *bz_flow_new(uint32_t count)
{
    struct bz_flow *f = bz_mem_zalloc(sizeof(*f));

    BZ_ASSERT(count < BZ_FLOW_NONE);
    f->count = count;
    f->lane = bz_mem_array(count, sizeof(*f->lane));
    return f;
}

void bz_flow_free(struct bz_flow *f)
{
    if (!f)
        return;
    free(f->succ);
    free(f->succ_begin);
    free(f->indegree);
    free(f->level);
    free(f->order);
    free(f->wave);
    free(f->lane);
    free(f->priority);
    bz_vec_release(&f->edges);
    bz_vec_release(&f->reads);
    bz_vec_release(&f->writer);
    free(f);
}

void bz_flow_freep(struct bz_flow **f)
{
    bz_flow_free(*f);
}

void bz_flow_edge(struct bz_flow *f, uint32_t from, uint32_t to)
{
    BZ_ASSERT(!f->succ && from < f->count && to < f->count);
    BZ_VEC_PUSH(&f->edges, (struct bz_flow_edge){from, to});
}

void bz_flow_lane(struct bz_flow *f, uint32_t node, enum bz_lane_id lane)
{
    BZ_ASSERT(node < f->count && lane < BZ_LANE_COUNT);
    f->lane[node] = (uint8_t)lane;
}

void bz_flow_priority(struct bz_flow *f, uint32_t node, int64_t priority)
{
    BZ_ASSERT(node < f->count);
    if (!f->priority)
        f->priority = bz_mem_array(f->count, sizeof(*f->priority));
    f->priority[node] = priority;
}

uint32_t bz_flow_file(struct bz_flow *f)
{
    BZ_VEC_PUSH(&f->writer, BZ_FLOW_NONE);
    return (uint32_t)(f->writer.len - 1);
}

void bz_flow_reads(struct bz_flow *f, uint32_t node, uint32_t file)
{
    BZ_ASSERT(!f->succ && node < f->count && file < f->writer.len);
    BZ_VEC_PUSH(&f->reads, (struct bz_flow_use){node, file});
}

void bz_flow_writes(struct bz_flow *f, uint32_t node, uint32_t file)
{
    uint32_t *writer = &BZ_VEC_AT(&f->writer, file);

    BZ_ASSERT(!f->succ && node < f->count);
    if (*writer != BZ_FLOW_NONE && *writer != node && f->bad.code == 0)
        bz_fail(&f->bad, BZ_E_INVAL, "file %u is written by node %u and by node %u",
                file, *writer, node);
    *writer = node;
}

/* A node that reads what another writes waits for it; reading its own is no wait. */
static void files_to_edges(struct bz_flow *f)
{
    for (size_t i = 0; i < f->reads.len; i++) {
        uint32_t writer = f->writer.at[f->reads.at[i].file];

        if (writer != BZ_FLOW_NONE && writer != f->reads.at[i].node)
            bz_flow_edge(f, writer, f->reads.at[i].node);
    }
}

/* Edges to adjacency lists, by counting; the order of the calls is kept. */
static void index_edges(struct bz_flow *f)
{
    uint32_t *fill;

    f->succ_begin = bz_mem_array(f->count + (size_t)1, sizeof(*f->succ_begin));
    f->indegree = bz_mem_array(f->count + (size_t)1, sizeof(*f->indegree));
    for (size_t i = 0; i < f->edges.len; i++) {
        f->succ_begin[f->edges.at[i].from + 1]++;
        f->indegree[f->edges.at[i].to]++;
    }
    for (uint32_t i = 0; i < f->count; i++)
        f->succ_begin[i + 1] += f->succ_begin[i];
    f->succ = bz_mem_array(f->edges.len + 1, sizeof(*f->succ));
    fill = bz_mem_array(f->count + (size_t)1, sizeof(*fill));
    memcpy(fill, f->succ_begin, f->count * sizeof(*fill));
    for (size_t i = 0; i < f->edges.len; i++)
        f->succ[fill[f->edges.at[i].from]++] = f->edges.at[i].to;
    free(fill);
}

/* Kahn's algorithm. Leaves in waiting[] the number of predecessors that were not
 * reached, and returns how many nodes were. */
static uint32_t find_levels(struct bz_flow *f, uint32_t *waiting)
{
    uint32_t tail = 0;

    f->level = bz_mem_array(f->count + (size_t)1, sizeof(*f->level));
    f->order = bz_mem_array(f->count + (size_t)1, sizeof(*f->order));
    memcpy(waiting, f->indegree, f->count * sizeof(*waiting));
    for (uint32_t i = 0; i < f->count; i++)
        if (waiting[i] == 0)
            f->order[tail++] = i;
    for (uint32_t head = 0; head < tail; head++) {
        uint32_t i = f->order[head];

        for (uint32_t e = f->succ_begin[i]; e < f->succ_begin[i + 1]; e++) {
            uint32_t s = f->succ[e];

            if (f->level[s] < f->level[i] + 1)
                f->level[s] = f->level[i] + 1;
            if (--waiting[s] == 0)
                f->order[tail++] = s;
        }
    }
    return tail;
}

/* Puts order[] by level, then by number, and marks where each level begins. */
static void sort_by_level(struct bz_flow *f)
{
    uint32_t *fill;

    for (uint32_t i = 0; i < f->count; i++)
        if (f->level[i] >= f->levels)
            f->levels = f->level[i] + 1;
    f->wave = bz_mem_array(f->levels + (size_t)1, sizeof(*f->wave));
    for (uint32_t i = 0; i < f->count; i++)
        f->wave[f->level[i] + 1]++;
    for (uint32_t l = 0; l < f->levels; l++)
        f->wave[l + 1] += f->wave[l];
    fill = bz_mem_array(f->levels + (size_t)1, sizeof(*fill));
    memcpy(fill, f->wave, f->levels * sizeof(*fill));
    for (uint32_t i = 0; i < f->count; i++)
        f->order[fill[f->level[i]]++] = i;
    free(fill);
}

/* Follows unreached predecessors until a node comes up twice: from[] then leads
 * forwards around the cycle. Returns the smallest node on it. */
static uint32_t find_cycle(const struct bz_flow *f, const uint32_t *waiting,
                           uint32_t *from)
{
    uint8_t *seen = bz_mem_array(f->count, 1);
    uint32_t *pred = bz_mem_array(f->count, sizeof(*pred));
    uint32_t at = BZ_FLOW_NONE, least;

    for (uint32_t i = 0; i < f->count; i++) {
        if (waiting[i] == 0)
            continue;
        at = i;
        for (uint32_t e = f->succ_begin[i]; e < f->succ_begin[i + 1]; e++)
            pred[f->succ[e]] = i; /* unreached nodes always have an unreached one */
    }
    while (!seen[at]) {
        seen[at] = 1;
        from[pred[at]] = at;
        at = pred[at];
    }
    least = at;
    for (uint32_t i = from[at]; i != at; i = from[i])
        if (i < least)
            least = i;
    free(seen);
    free(pred);
    return least;
}

static void add_name(char *text, size_t size, const char *arrow, const char *name,
                     uint32_t node)
{
    size_t used = strlen(text);

    if (name)
        snprintf(text + used, size - used, "%s%s", arrow, name);
    else
        snprintf(text + used, size - used, "%s%u", arrow, node);
}

static int fail_cycle(const struct bz_flow *f, const uint32_t *waiting,
                      bz_flow_name_fn name, void *arg, struct bz_err *err)
{
    uint32_t *next = bz_mem_array(f->count, sizeof(*next));
    uint32_t start = find_cycle(f, waiting, next), at = start, length = 0;
    char path[160] = "";
    const char *arrow = "";

    do {
        /* A long way round: show its beginning and say how long it is. */
        if (strlen(path) < sizeof(path) / 2)
            add_name(path, sizeof(path), arrow, name ? name(arg, at) : NULL, at);
        else if (strcmp(arrow, " ... ") != 0)
            add_name(path, sizeof(path), arrow = " ... ", "", at);
        if (strcmp(arrow, " ... ") != 0)
            arrow = " -> ";
        at = next[at];
        length++;
    } while (at != start);
    add_name(path, sizeof(path), " -> ", name ? name(arg, start) : NULL, start);
    free(next);
    return bz_fail(err, BZ_E_INVAL, "dependency cycle of %u: %s", length, path);
}

int bz_flow_close(struct bz_flow *f, bz_flow_name_fn name, void *arg,
                  struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) uint32_t *waiting = NULL;

    BZ_ASSERT(!f->succ);
    if (f->bad.code) {
        *err = f->bad;
        return err->code;
    }
    files_to_edges(f);
    if (f->edges.len >= UINT32_MAX)
        return bz_fail(err, BZ_E_LIMIT, "more than %u edges", UINT32_MAX - 1);
    index_edges(f);
    bz_vec_release(&f->edges);
    bz_vec_release(&f->reads);
    waiting = bz_mem_array(f->count + (size_t)1, sizeof(*waiting));
    if (find_levels(f, waiting) < f->count)
        return fail_cycle(f, waiting, name, arg, err);
    sort_by_level(f);
    return 0;
}
