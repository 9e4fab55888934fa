#include "graph/dag.h"

#include <stdlib.h>

#include "base/mem.h"

#define NOBODY UINT32_MAX

/* One pass of a radix sort with one digit: by `to` if asked, else by `from`. Stable, so
 * that sorting by `to` and then by `from` sorts by both. */
static void sort_edges(const struct bz_dag_edge *in, struct bz_dag_edge *out, size_t m,
                       uint32_t n, bool by_to)
{
    BZ_CLEANUP(bz_mem_freep)
    uint32_t *next = bz_mem_array((size_t)n + 1, sizeof(*next));
    uint32_t sum = 0;

    for (size_t i = 0; i < m; i++)
        next[by_to ? in[i].to : in[i].from]++;
    for (uint32_t i = 0; i <= n; i++) {
        uint32_t count = next[i];

        next[i] = sum;
        sum += count;
    }
    for (size_t i = 0; i < m; i++)
        out[next[by_to ? in[i].to : in[i].from]++] = in[i];
}

static bool same_edge(const struct bz_dag_edge *a, const struct bz_dag_edge *b)
{
    return a->from == b->from && a->to == b->to;
}

void bz_dag_build(struct bz_dag *d, uint32_t n, const struct bz_dag_edge *edges,
                  size_t m)
{
    BZ_CLEANUP(bz_mem_freep)
    struct bz_dag_edge *a = bz_mem_array(m, sizeof(*a));
    BZ_CLEANUP(bz_mem_freep)
    struct bz_dag_edge *b = bz_mem_array(m, sizeof(*b));
    size_t kept = 0;

    BZ_ASSERT(n < NOBODY && m < UINT32_MAX);
    for (size_t i = 0; i < m; i++)
        BZ_ASSERT(edges[i].from < n && edges[i].to < n);
    sort_edges(edges, a, m, n, true);
    sort_edges(a, b, m, n, false);
    *d =
        (struct bz_dag){.n = n, .start = bz_mem_array((size_t)n + 1, sizeof(uint32_t))};
    d->to = bz_mem_array(m, sizeof(uint32_t));
    for (size_t i = 0; i < m; i++) {
        if (i > 0 && same_edge(&b[i], &b[i - 1]))
            continue;
        d->to[kept++] = b[i].to;
        d->start[b[i].from + 1] = (uint32_t)kept;
    }
    for (uint32_t i = 0; i < n; i++) /* nodes without edges end where they begin */
        if (d->start[i + 1] == 0)
            d->start[i + 1] = d->start[i];
}

void bz_dag_release(struct bz_dag *d)
{
    free(d->start);
    free(d->to);
    *d = (struct bz_dag){0};
}

bool bz_dag_has(const struct bz_dag *d, uint32_t from, uint32_t to)
{
    uint32_t low = d->start[from], high = d->start[from + 1];

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (d->to[middle] < to)
            low = middle + 1;
        else
            high = middle;
    }
    return low < d->start[from + 1] && d->to[low] == to;
}

void bz_dag_reverse(const struct bz_dag *d, struct bz_dag *out)
{
    uint32_t m = d->start[d->n];

    *out = (struct bz_dag){.n = d->n,
                           .start = bz_mem_array((size_t)d->n + 2, sizeof(uint32_t)),
                           .to = bz_mem_array(m, sizeof(uint32_t))};
    /* start[i + 2] counts first, so that start[i + 1] can be what is filled next. */
    for (uint32_t e = 0; e < m; e++)
        out->start[d->to[e] + 2]++;
    for (uint32_t i = 1; i <= d->n; i++)
        out->start[i + 1] += out->start[i];
    for (uint32_t i = 0; i < d->n; i++)
        for (uint32_t e = d->start[i]; e < d->start[i + 1]; e++)
            out->to[out->start[d->to[e] + 1]++] = i;
}

/* A walk that goes down first. */
struct walk {
    const struct bz_dag *d;
    uint32_t *next;          /* [n]: the edge to follow next */
    struct bz_dag_ids stack; /* the path from where it began */
};

static void walk_enter(struct walk *w, uint32_t node)
{
    w->next[node] = w->d->start[node];
    BZ_VEC_PUSH(&w->stack, node);
}

enum { NEW, OPEN, DONE };

/* Appends what can be reached from the node and is not done yet. Returns the node that
 * waits for one still open, or NOBODY. */
static uint32_t walk_from(struct walk *w, uint32_t from, uint8_t *state,
                          struct bz_dag_ids *order)
{
    state[from] = OPEN;
    walk_enter(w, from);
    while (w->stack.len > 0) {
        uint32_t node = BZ_VEC_LAST(&w->stack), to;

        if (w->next[node] == w->d->start[node + 1]) {
            state[node] = DONE;
            BZ_VEC_PUSH(order, node);
            w->stack.len--;
            continue;
        }
        to = w->d->to[w->next[node]++];
        if (state[to] == OPEN)
            return node;
        if (state[to] == NEW) {
            state[to] = OPEN;
            walk_enter(w, to);
        }
    }
    return NOBODY;
}

/* Breadth first: came[node] is who was there before it on a shortest path. */
static bool search(const struct bz_dag *d, uint32_t from, uint32_t to, uint32_t *came)
{
    BZ_CLEANUP(bz_vec_release) struct bz_dag_ids queue = {0};

    came[from] = from;
    BZ_VEC_PUSH(&queue, from);
    for (size_t i = 0; i < queue.len && came[to] == NOBODY; i++) {
        uint32_t node = queue.at[i];

        for (uint32_t e = d->start[node]; e < d->start[node + 1]; e++) {
            if (came[d->to[e]] != NOBODY)
                continue;
            came[d->to[e]] = node;
            BZ_VEC_PUSH(&queue, d->to[e]);
        }
    }
    return came[to] != NOBODY;
}

/* Appends a shortest path from one node to another, both included; false if there is
 * none. */
static bool find_path(const struct bz_dag *d, uint32_t from, uint32_t to,
                      struct bz_dag_ids *path)
{
    BZ_CLEANUP(bz_mem_freep) uint32_t *came = bz_mem_array(d->n, sizeof(*came));
    size_t first = path->len, last;

    for (uint32_t i = 0; i < d->n; i++)
        came[i] = NOBODY;
    if (!search(d, from, to, came))
        return false;
    for (uint32_t node = to; node != from; node = came[node])
        BZ_VEC_PUSH(path, node);
    BZ_VEC_PUSH(path, from);
    last = path->len - 1;
    for (; first < last; first++, last--) {
        uint32_t node = path->at[first];

        path->at[first] = path->at[last];
        path->at[last] = node;
    }
    return true;
}

int bz_dag_order(const struct bz_dag *d, struct bz_dag_ids *order, struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) uint8_t *state = bz_mem_array(d->n, 1);
    struct walk w = {.d = d, .next = bz_mem_array(d->n, sizeof(uint32_t))};
    uint32_t guilty = NOBODY;

    BZ_VEC_RESERVE(order, order->len + d->n);
    for (uint32_t i = 0; i < d->n && guilty == NOBODY; i++)
        if (state[i] == NEW)
            guilty = walk_from(&w, i, state, order);
    if (guilty != NOBODY) {
        BZ_VEC_CLEAR(order);
        (void)find_path(d, d->to[w.next[guilty] - 1], guilty, order);
    }
    free(w.next);
    bz_vec_release(&w.stack);
    return guilty == NOBODY ? 0 : bz_fail(err, BZ_E_INVAL, "the graph has a cycle");
}

uint32_t bz_dag_levels(const struct bz_dag *d, const struct bz_dag_ids *order,
                       uint32_t *level)
{
    uint32_t levels = 0;

    for (size_t i = 0; i < order->len; i++) {
        uint32_t node = order->at[i], most = 0;

        for (uint32_t e = d->start[node]; e < d->start[node + 1]; e++)
            if (level[d->to[e]] >= most)
                most = level[d->to[e]] + 1;
        level[node] = most;
        if (most >= levels)
            levels = most + 1;
    }
    return levels;
}

void bz_dag_costs(const struct bz_dag *d, const struct bz_dag_ids *order,
                  const uint64_t *cost, uint64_t *end)
{
    for (size_t i = 0; i < order->len; i++) {
        uint32_t node = order->at[i];
        uint64_t most = 0;

        for (uint32_t e = d->start[node]; e < d->start[node + 1]; e++)
            if (end[d->to[e]] > most)
                most = end[d->to[e]];
        end[node] = most + cost[node];
    }
}

void bz_dag_reach(const struct bz_dag *d, uint32_t from, struct bz_bitset *seen)
{
    BZ_CLEANUP(bz_vec_release) struct bz_dag_ids todo = {0};

    if (bz_bitset_test(seen, from))
        return;
    bz_bitset_reserve(seen, d->n);
    bz_bitset_set(seen, from);
    BZ_VEC_PUSH(&todo, from);
    while (todo.len > 0) {
        uint32_t node = BZ_VEC_POP(&todo);

        for (uint32_t e = d->start[node]; e < d->start[node + 1]; e++) {
            if (bz_bitset_test(seen, d->to[e]))
                continue;
            bz_bitset_set(seen, d->to[e]);
            BZ_VEC_PUSH(&todo, d->to[e]);
        }
    }
}

/* What bz_dag_reduce knows while it looks at one node after the other. */
struct reduction {
    const struct bz_dag *d;
    uint32_t *place; /* of a node in the order */
    uint32_t *mark;  /* the node that reached it last, plus one */
    struct bz_dag_ids todo;
};

/* Marks for `owner` what is below `from` and not before `lowest` in the order: nothing
 * earlier can be one of the owner's own edges. */
static void mark_below(struct reduction *r, uint32_t owner, uint32_t from,
                       uint32_t lowest)
{
    BZ_VEC_PUSH(&r->todo, from);
    while (r->todo.len > 0) {
        uint32_t node = BZ_VEC_POP(&r->todo);

        for (uint32_t e = r->d->start[node]; e < r->d->start[node + 1]; e++) {
            uint32_t to = r->d->to[e];

            if (r->place[to] < lowest || r->mark[to] == owner + 1)
                continue;
            r->mark[to] = owner + 1;
            BZ_VEC_PUSH(&r->todo, to);
        }
    }
}

static void reduce_node(struct reduction *r, uint32_t node, struct bz_dag *out)
{
    const uint32_t *to = r->d->to + r->d->start[node];
    uint32_t degree = bz_dag_degree(r->d, node), lowest = NOBODY;
    uint32_t at = out->start[node];

    for (uint32_t i = 0; i < degree; i++)
        if (r->place[to[i]] < lowest)
            lowest = r->place[to[i]];
    for (uint32_t i = 0; i < degree && degree > 1; i++)
        mark_below(r, node, to[i], lowest);
    for (uint32_t i = 0; i < degree; i++)
        if (r->mark[to[i]] != node + 1)
            out->to[at++] = to[i];
    out->start[node + 1] = at;
}

void bz_dag_reduce(const struct bz_dag *d, const struct bz_dag_ids *order,
                   struct bz_dag *out)
{
    struct reduction r = {.d = d,
                          .place = bz_mem_array(d->n, sizeof(uint32_t)),
                          .mark = bz_mem_array(d->n, sizeof(uint32_t))};

    *out = (struct bz_dag){.n = d->n,
                           .start = bz_mem_array((size_t)d->n + 1, sizeof(uint32_t)),
                           .to = bz_mem_array(d->start[d->n], sizeof(uint32_t))};
    for (size_t i = 0; i < order->len; i++)
        r.place[order->at[i]] = (uint32_t)i;
    for (uint32_t node = 0; node < d->n; node++)
        reduce_node(&r, node, out);
    free(r.place);
    free(r.mark);
    bz_vec_release(&r.todo);
}
