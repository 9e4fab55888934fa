#include "cache/gc_plan.h"

#include "base/mem.h"
#include "os/clock.h"

/* A result that may go, and how gladly. */
struct candidate {
    uint32_t result;
    double score;
};
struct candidates BZ_VEC(struct candidate);

/* Blobs turn up or go as results are counted in or out. */
static void turned(void *ctx, struct bz_inventory_blob *b)
{
    struct bz_gc_plan *p = ctx;

    if (b->used >= p->limit)
        return; /* it stays either way */
    if (b->refs > 0) {
        p->left += b->bytes;
        p->freed -= b->alone ? b->bytes : 0;
    } else {
        p->left -= b->bytes;
        p->freed += b->alone ? b->bytes : 0;
    }
}

static bool may_go(const struct bz_gc_plan *p, size_t i)
{
    return p->why[i] == BZ_GC_KEPT && p->v->results.at[i].used < p->limit;
}

static void drop_one(struct bz_gc_plan *p, size_t i, enum bz_gc_reason why)
{
    const struct bz_inventory_result *r = &p->v->results.at[i];

    p->why[i] = why;
    p->left -= r->bytes;
    p->freed += r->bytes;
    bz_inventory_count(p->v, r, false, turned, p);
}

static void drop(struct bz_gc_plan *p, size_t i, enum bz_gc_reason why)
{
    uint32_t record = p->record[i];

    drop_one(p, i, why);
    if (record != BZ_INVENTORY_NONE && may_go(p, record))
        drop_one(p, record, why);
}

void bz_gc_plan_keep(struct bz_gc_plan *p, size_t i)
{
    const struct bz_inventory_result *r = &p->v->results.at[i];

    p->why[i] = BZ_GC_KEPT;
    p->left += r->bytes;
    p->freed -= r->bytes;
    bz_inventory_count(p->v, r, true, turned, p);
}

static bool is_gone(void *ctx, uint32_t result)
{
    const struct bz_gc_plan *p = ctx;

    return p->why[result] != BZ_GC_KEPT;
}

int bz_gc_plan_look_again(struct bz_gc_plan *p, struct bz_cas *cas, struct bz_err *err)
{
    return bz_inventory_look_again(cas, p->v, is_gone, turned, p, err);
}

static void drop_broken_and_old(struct bz_gc_plan *p, const struct bz_gc_policy *policy,
                                int64_t now)
{
    for (size_t i = 0; i < p->v->results.len; i++) {
        const struct bz_inventory_result *r = &p->v->results.at[i];

        if (!may_go(p, i))
            continue;
        if (r->damaged || r->broken)
            drop(p, i, BZ_GC_BROKEN);
        else if (policy->max_age > 0 && !p->led[i] && now - r->used > policy->max_age)
            drop(p, i, BZ_GC_AGE);
    }
}

struct labelled {
    uint32_t recipe, task, result;
    int64_t used;
};
struct labelled_list BZ_VEC(struct labelled);

static int by_label(const void *a, const void *b)
{
    const struct labelled *x = a, *y = b;

    if (x->recipe != y->recipe)
        return x->recipe < y->recipe ? -1 : 1;
    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    return (x->used < y->used) - (x->used > y->used); /* the latest first */
}

static void drop_all_but_last(struct bz_gc_plan *p, uint32_t keep)
{
    BZ_CLEANUP(bz_vec_release) struct labelled_list list = {0};
    size_t run = 0;

    for (size_t i = 0; i < p->v->results.len; i++) {
        const struct bz_inventory_result *r = &p->v->results.at[i];

        if (p->why[i] == BZ_GC_KEPT && !r->record && r->recipe.i + r->task.i > 0)
            BZ_VEC_PUSH(
                &list, (struct labelled){r->recipe.i, r->task.i, (uint32_t)i, r->used});
    }
    BZ_VEC_SORT(&list, by_label);
    for (size_t i = 0; i < list.len; i++) {
        const struct labelled *l = &list.at[i];

        if (i > 0 && l->recipe == l[-1].recipe && l->task == l[-1].task)
            run++;
        else
            run = 0;
        if (run >= keep && may_go(p, l->result))
            drop(p, l->result, BZ_GC_COUNT);
    }
}

/* What a result and its share of all blobs weigh. */
static double share_of(const struct bz_inventory *v, const double *weights,
                       const struct bz_inventory_result *r)
{
    double sum = (double)r->bytes;

    for (size_t i = 0; i < r->n; i++)
        sum += weights[v->edges.at[r->first + i]];
    return sum;
}

/* For each blob its bytes and its share of those it names, divided by how many name it.
 * A directory of directories counts what is directly in it: a score is an estimate. */
static double *weigh(const struct bz_inventory *v)
{
    double *weights = bz_mem_array(v->blobs.len + 1, sizeof(*weights));

    for (size_t i = 0; i < v->blobs.len; i++) {
        const struct bz_inventory_blob *b = &v->blobs.at[i];

        weights[i] = b->refs > 0 ? (double)b->bytes / b->refs : 0;
    }
    for (size_t i = 0; i < v->blobs.len; i++) {
        const struct bz_inventory_blob *b = &v->blobs.at[i];
        const struct bz_inventory_node *node;

        if (b->node == 0 || b->refs == 0)
            continue;
        node = &v->nodes.at[b->node - 1];
        for (size_t k = 0; k < node->n; k++) {
            const struct bz_inventory_blob *below =
                &v->blobs.at[v->edges.at[node->first + k]];

            if (below->refs > 0)
                weights[i] += (double)below->bytes / below->refs / b->refs;
        }
    }
    return weights;
}

static int by_score(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    return (x->score < y->score) - (x->score > y->score); /* the highest first */
}

bool bz_gc_plan_enough(const struct bz_gc_plan *p, const struct bz_gc_policy *policy,
                       uint64_t available)
{
    if (policy->max_size > 0 && p->left > policy->max_size)
        return false;
    return policy->min_free <= available || policy->min_free - available <= p->freed;
}

/* Bytes times age by the time it takes to make: all three in proportion, with a second
 * and a minute so that nothing is free and nothing is new. */
static void drop_by_score(struct bz_gc_plan *p, const struct bz_gc_policy *policy,
                          int64_t now, uint64_t available)
{
    BZ_CLEANUP(bz_vec_release) struct candidates list = {0};
    BZ_CLEANUP(bz_mem_freep) double *weights = NULL;

    if (bz_gc_plan_enough(p, policy, available))
        return;
    weights = weigh(p->v);
    for (size_t i = 0; i < p->v->results.len; i++) {
        const struct bz_inventory_result *r = &p->v->results.at[i];
        double age = (double)(now - r->used) / (double)BZ_CLOCK_S + 60;
        double cost = (double)r->duration / (double)BZ_CLOCK_S + 1;

        if (may_go(p, i) && !p->led[i])
            BZ_VEC_PUSH(&list,
                        (struct candidate){(uint32_t)i,
                                           share_of(p->v, weights, r) * age / cost});
    }
    BZ_VEC_SORT(&list, by_score);
    for (size_t i = 0; i < list.len && !bz_gc_plan_enough(p, policy, available); i++)
        drop(p, list.at[i].result, BZ_GC_SIZE);
}

static int find_records(struct bz_gc_plan *p, struct bz_err *err)
{
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *h = NULL;
    size_t n = p->v->results.len, records = 0;
    int rc = bz_digest_hasher_new(&h, err);

    p->record = bz_mem_array(n + 1, sizeof(*p->record));
    p->led = bz_mem_array(n + 1, sizeof(*p->led));
    for (size_t i = 0; i < n; i++) {
        p->record[i] = BZ_INVENTORY_NONE;
        p->led[i] = false;
        records += p->v->results.at[i].record;
    }
    for (size_t i = 0; rc == 0 && records > 0 && i < n; i++) {
        struct bz_digest key;
        uint32_t at;

        bz_action_record_key(h, &p->v->results.at[i].key, &key);
        at = bz_inventory_find_result(p->v, &key);
        if (at == BZ_INVENTORY_NONE || !p->v->results.at[at].record)
            continue;
        p->record[i] = at;
        p->led[at] = true;
    }
    return rc;
}

int bz_gc_plan_make(struct bz_inventory *v, const struct bz_gc_policy *policy,
                    int64_t now, int64_t limit, uint64_t available,
                    struct bz_gc_plan *out, struct bz_err *err)
{
    int rc;

    *out = (struct bz_gc_plan){.v = v, .limit = limit, .left = v->bytes};
    out->why = bz_mem_array(v->results.len + 1, sizeof(*out->why));
    for (size_t i = 0; i < v->results.len; i++)
        out->why[i] = BZ_GC_KEPT;
    rc = find_records(out, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < v->results.len; i++)
        bz_inventory_count(v, &v->results.at[i], true, NULL, NULL);
    for (size_t i = 0; i < v->blobs.len; i++)
        if (v->blobs.at[i].refs == 0)
            turned(out, &v->blobs.at[i]);
    drop_broken_and_old(out, policy, now);
    if (policy->keep_last > 0)
        drop_all_but_last(out, policy->keep_last);
    drop_by_score(out, policy, now, available);
    return 0;
}

void bz_gc_plan_release(struct bz_gc_plan *p)
{
    free(p->why);
    free(p->record);
    free(p->led);
    *p = (struct bz_gc_plan){0};
}
