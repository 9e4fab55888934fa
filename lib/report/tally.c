#include "report/tally.h"

static void count(struct bz_tally_row *row, const struct bz_account_task *t)
{
    row->n[t->state]++;
    if (bz_account_ran(t))
        row->ran += t->end - t->start;
    if (t->state == BZ_ACCOUNT_CACHED || t->state == BZ_ACCOUNT_UNNEEDED)
        row->saved += t->saved;
    row->cpu += t->cpu;
    if (t->memory > row->memory)
        row->memory = t->memory;
}

static int by_time(const void *x, const void *y)
{
    const struct bz_tally_row *a = x, *b = y;

    if (a->ran != b->ran)
        return a->ran > b->ran ? -1 : 1;
    return bz_str_cmp(a->name, b->name);
}

void bz_tally_recipes(struct bz_tally *out, const struct bz_account *a)
{
    struct bz_map rows = {0}; /* name -> its number, from 1 */

    for (size_t i = 0; i < a->tasks.len; i++) {
        const struct bz_account_task *t = &a->tasks.at[i];
        struct bz_map_entry *it = bz_map_put(&rows, t->recipe);

        if (it->u == 0) {
            BZ_VEC_PUSH(out, (struct bz_tally_row){.name = t->recipe});
            it->u = out->len;
        }
        count(&out->at[it->u - 1], t);
    }
    bz_map_release(&rows);
    BZ_VEC_SORT(out, by_time);
}

void bz_tally_waves(struct bz_tally *out, const struct bz_account *a,
                    const struct bz_shape *s)
{
    for (uint32_t w = 0; w < s->nwaves; w++)
        BZ_VEC_PUSH(out, (struct bz_tally_row){0});
    for (size_t i = 0; i < a->tasks.len; i++)
        count(&out->at[s->wave[i]], &a->tasks.at[i]);
}

struct timed {
    int64_t took;
    uint32_t task;
};

static int longest_first(const void *x, const void *y)
{
    const struct timed *a = x, *b = y;

    return a->took != b->took ? (a->took > b->took ? -1 : 1) : 0;
}

void bz_tally_slowest(struct bz_dag_ids *out, const struct bz_account *a,
                      const struct bz_shape *s, size_t max)
{
    BZ_CLEANUP(bz_vec_release) struct BZ_VEC(struct timed) all = {0};

    for (size_t i = 0; i < s->by_start.len; i++) {
        const struct bz_account_task *t = &a->tasks.at[s->by_start.at[i]];

        BZ_VEC_PUSH(&all, (struct timed){t->end - t->start, s->by_start.at[i]});
    }
    BZ_VEC_SORT(&all, longest_first);
    for (size_t i = 0; i < all.len && i < max; i++)
        BZ_VEC_PUSH(out, all.at[i].task);
}
