#include "sig/cause.h"

#include <stdlib.h>

#include "base/mem.h"
#include "graph/dag.h"
#include "sig/cause_task.h"

void bz_cause_release(struct bz_causes *c)
{
    for (size_t i = 0; i < c->all.len; i++)
        bz_vec_release(&c->all.at[i].places);
    bz_vec_release(&c->all);
    bz_vec_release(&c->fresh);
    bz_vec_release(&c->gone);
    bz_vec_release(&c->links);
    bz_map_release(&c->index);
    bz_arena_release(&c->arena);
    *c = (struct bz_causes){0};
}

struct bz_cause *bz_cause_add(struct bz_causes *c, uint32_t task,
                              const struct bz_cause *like, struct bz_str key)
{
    struct bz_str id = bz_arena_printf(
        &c->arena, "%d %zu %zu %.*s %.*s %.*s", (int)like->kind, like->name.n,
        like->on.n, BZ_STR_ARG(like->name), BZ_STR_ARG(like->on), BZ_STR_ARG(key));
    uint32_t before = c->index.len;
    struct bz_map_entry *e = bz_map_put(&c->index, id);

    if (c->index.len > before) {
        e->u = before;
        BZ_VEC_PUSH(&c->all, *like);
        c->all.at[before].task = c->is->tasks.at[task].name;
    }
    for (size_t i = c->links.len; i-- > 0 && c->links.at[i].task == task;)
        if (c->links.at[i].cause == e->u)
            return &c->all.at[e->u];
    BZ_VEC_PUSH(&c->links, (struct bz_cause_link){task, (uint32_t)e->u});
    c->all.at[e->u].direct++;
    return &c->all.at[e->u];
}

/* ---- which tasks ---- */

static void compare_tasks(struct bz_causes *c)
{
    const struct bz_record_tasks *was = &c->was->tasks, *is = &c->is->tasks;
    size_t i = 0, k = 0;

    while (i < was->len || k < is->len) {
        int order = i == was->len  ? 1
                    : k == is->len ? -1
                                   : bz_str_cmp(was->at[i].name, is->at[k].name);

        if (order < 0) {
            BZ_VEC_PUSH(&c->gone, (uint32_t)i++);
        } else if (order > 0) {
            BZ_VEC_PUSH(&c->fresh, (uint32_t)k++);
        } else {
            if (!bz_digest_eq(&was->at[i].key, &is->at[k].key)) {
                c->changed++;
                if (!bz_cause_task_explain(c, (uint32_t)k, &was->at[i], &is->at[k]))
                    c->upstream++;
            }
            i++;
            k++;
        }
    }
}

/* ---- how far ---- */

static int build_dag(const struct bz_record *r, struct bz_dag *dag,
                     struct bz_dag_ids *order, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct BZ_VEC(struct bz_dag_edge) edges = {0};

    for (size_t t = 0; t < r->tasks.len; t++)
        for (size_t d = 0; d < r->tasks.at[t].ndeps; d++) {
            const struct bz_record_task *on =
                bz_record_find(r, r->tasks.at[t].deps[d].task);

            if (on)
                BZ_VEC_PUSH(&edges, (struct bz_dag_edge){(uint32_t)t,
                                                         (uint32_t)(on - r->tasks.at)});
        }
    bz_dag_build(dag, (uint32_t)r->tasks.len, edges.at, edges.len);
    return bz_dag_order(dag, order, err);
}

/* Counts for 64 causes at a time, one bit for each: a task has those that it has
 * itself and those of all it waits for. */
static void count_some(struct bz_causes *c, const struct bz_dag *dag,
                       const struct bz_dag_ids *order, uint32_t first, uint64_t *bits)
{
    memset(bits, 0, c->is->tasks.len * sizeof(*bits));
    for (size_t i = 0; i < c->links.len; i++)
        if (c->links.at[i].cause >= first && c->links.at[i].cause < first + 64)
            bits[c->links.at[i].task] |= (uint64_t)1 << (c->links.at[i].cause - first);
    for (size_t i = 0; i < order->len; i++) {
        uint32_t t = order->at[i];
        const struct bz_record_task *is = &c->is->tasks.at[t];
        const struct bz_record_task *was = bz_record_find(c->was, is->name);

        for (uint32_t e = dag->start[t]; e < dag->start[t + 1]; e++)
            bits[t] |= bits[dag->to[e]];
        if (!was || bz_digest_eq(&was->key, &is->key))
            continue;
        for (uint64_t rest = bits[t]; rest; rest &= rest - 1)
            c->all.at[first + (uint32_t)__builtin_ctzll(rest)].reaches++;
    }
}

static int count_reach(struct bz_causes *c, struct bz_err *err)
{
    BZ_CLEANUP(bz_dag_release) struct bz_dag dag = {0};
    BZ_CLEANUP(bz_vec_release) struct bz_dag_ids order = {0};
    BZ_CLEANUP(bz_mem_freep) uint64_t *bits = NULL;
    int rc = build_dag(c->is, &dag, &order, err);

    if (rc < 0)
        return rc;
    bits = bz_mem_array(c->is->tasks.len, sizeof(*bits));
    for (uint32_t first = 0; first < c->all.len; first += 64)
        count_some(c, &dag, &order, first, bits);
    return 0;
}

static int by_reach(const void *a, const void *b)
{
    const struct bz_cause *x = a, *y = b;
    int order;

    if (x->reaches != y->reaches)
        return x->reaches > y->reaches ? -1 : 1;
    order = bz_str_cmp(x->name, y->name);
    if (order == 0 && x->places.len > 0 && y->places.len > 0)
        order = bz_str_cmp(x->places.at[0].file, y->places.at[0].file);
    return order != 0 ? order : bz_str_cmp(x->on, y->on);
}

int bz_cause_find(struct bz_causes *c, const struct bz_record *was,
                  const struct bz_record *is, struct bz_err *err)
{
    int rc;

    c->was = was;
    c->is = is;
    compare_tasks(c);
    rc = count_reach(c, err);
    BZ_VEC_SORT(&c->all, by_reach);
    return rc;
}
