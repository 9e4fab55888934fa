#include "report/shape.h"

#include "base/mem.h"

/* ---- the critical path ---- */

static void find_chain(struct bz_shape *s, const struct bz_account *a)
{
    size_t n = a->tasks.len;
    BZ_CLEANUP(bz_mem_freep) uint64_t *cost = bz_mem_array(n + 1, sizeof(*cost));
    BZ_CLEANUP(bz_mem_freep) uint64_t *end = bz_mem_array(n + 1, sizeof(*end));
    uint32_t last = 0;

    for (size_t t = 0; t < n; t++)
        if (bz_account_ran(&a->tasks.at[t]))
            cost[t] = (uint64_t)(a->tasks.at[t].end - a->tasks.at[t].start);
    bz_dag_costs(&s->dag, &s->order, cost, end);
    for (uint32_t t = 1; t < n; t++)
        if (end[t] > end[last])
            last = t;
    /* From its end back, always to what took longest until then. */
    for (uint32_t t = last; n > 0 && end[t] > 0;) {
        uint32_t before = t;

        if (bz_account_ran(&a->tasks.at[t]))
            BZ_VEC_PUSH(&s->chain, t);
        for (uint32_t e = s->dag.start[t]; e < s->dag.start[t + 1]; e++)
            if (before == t || end[s->dag.to[e]] > end[before])
                before = s->dag.to[e];
        if (before == t)
            break;
        t = before;
    }
    for (size_t i = 0; i < s->chain.len / 2; i++) {
        uint32_t t = s->chain.at[i];

        s->chain.at[i] = s->chain.at[s->chain.len - 1 - i];
        s->chain.at[s->chain.len - 1 - i] = t;
    }
    s->chain_took = n > 0 ? (int64_t)end[last] : 0;
}

/* ---- slots ---- */

/* A task by when it starts or ends. */
struct edge_of_time {
    int64_t at;
    uint32_t task;
};

struct times BZ_VEC(struct edge_of_time);

static int by_time(const void *x, const void *y)
{
    const struct edge_of_time *a = x, *b = y;

    return a->at != b->at ? (a->at < b->at ? -1 : 1) : 0;
}

/* Numbers of free slots as a heap: the lowest is at its top. */
static void heap_push(struct bz_dag_ids *h, uint32_t slot)
{
    size_t i = h->len;

    BZ_VEC_PUSH(h, slot);
    while (i > 0 && h->at[(i - 1) / 2] > slot) {
        h->at[i] = h->at[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    h->at[i] = slot;
}

static uint32_t heap_pop(struct bz_dag_ids *h)
{
    uint32_t top = h->at[0], moved = BZ_VEC_POP(h);
    size_t i = 0, child = 1;

    while (child < h->len) {
        if (child + 1 < h->len && h->at[child + 1] < h->at[child])
            child++;
        if (h->at[child] >= moved)
            break;
        h->at[i] = h->at[child];
        i = child;
        child = 2 * i + 1;
    }
    if (h->len > 0)
        h->at[i] = moved;
    return top;
}

static void find_slots(struct bz_shape *s, const struct bz_account *a)
{
    BZ_CLEANUP(bz_vec_release) struct times starts = {0}, ends = {0};
    BZ_CLEANUP(bz_vec_release) struct bz_dag_ids idle = {0};
    size_t ended = 0;

    for (uint32_t t = 0; t < a->tasks.len; t++) {
        const struct bz_account_task *task = &a->tasks.at[t];

        s->slot[t] = BZ_SHAPE_NO_SLOT;
        if (!bz_account_ran(task))
            continue;
        BZ_VEC_PUSH(&starts, (struct edge_of_time){task->start, t});
        BZ_VEC_PUSH(&ends, (struct edge_of_time){task->end, t});
    }
    BZ_VEC_SORT(&starts, by_time);
    BZ_VEC_SORT(&ends, by_time);
    for (size_t i = 0; i < starts.len; i++) {
        uint32_t t = starts.at[i].task;

        /* One that began and ended at this moment has no slot yet, and needs it. */
        while (ended < ends.len && ends.at[ended].at <= starts.at[i].at &&
               s->slot[ends.at[ended].task] != BZ_SHAPE_NO_SLOT)
            heap_push(&idle, s->slot[ends.at[ended++].task]);
        s->slot[t] = idle.len > 0 ? heap_pop(&idle) : s->nslots++;
        BZ_VEC_PUSH(&s->by_start, t);
    }
}

static void add_up(struct bz_shape *s, const struct bz_account *a)
{
    for (size_t i = 0; i < a->tasks.len; i++) {
        const struct bz_account_task *t = &a->tasks.at[i];

        if (bz_account_ran(t))
            s->busy += t->end - t->start;
        if (t->state == BZ_ACCOUNT_CACHED)
            s->saved += t->saved;
        if (t->state == BZ_ACCOUNT_UNNEEDED)
            s->spared += t->saved;
        s->cpu += t->cpu;
        if (t->memory > s->memory)
            s->memory = t->memory;
    }
    /* Not every log tells of each of them. */
    if (s->spared < a->spared)
        s->spared = a->spared;
    s->saved += s->spared;
}

int bz_shape_make(struct bz_shape *s, const struct bz_account *a, struct bz_err *err)
{
    uint32_t n = (uint32_t)a->tasks.len;
    int rc;

    bz_dag_build(&s->dag, n, a->edges.at, a->edges.len);
    rc = bz_dag_order(&s->dag, &s->order, err);
    if (rc < 0)
        return bz_fail(err, rc, "the tasks of the event log wait for each other");
    s->wave = bz_mem_array((size_t)n + 1, sizeof(*s->wave));
    s->slot = bz_mem_array((size_t)n + 1, sizeof(*s->slot));
    s->nwaves = bz_dag_levels(&s->dag, &s->order, s->wave);
    find_chain(s, a);
    find_slots(s, a);
    add_up(s, a);
    return 0;
}

void bz_shape_release(struct bz_shape *s)
{
    bz_dag_release(&s->dag);
    bz_vec_release(&s->order);
    bz_vec_release(&s->by_start);
    bz_vec_release(&s->chain);
    free(s->wave);
    free(s->slot);
    *s = (struct bz_shape){0};
}
