#include "survey/profile.h"

#include "os/clock.h"

static struct bz_profile_time *time_of(struct bz_profile_kind *k, struct bz_str name)
{
    struct bz_map_entry *it = bz_map_get(&k->times, name);
    struct bz_profile_time *t;

    if (it)
        return it->p;
    t = BZ_ARENA_NEW(&k->arena, struct bz_profile_time);
    t->name = bz_arena_dup(&k->arena, name);
    bz_map_put(&k->times, t->name)->p = t;
    return t;
}

static void begin(struct bz_profile_kind *k, struct bz_str name)
{
    BZ_VEC_PUSH(&k->stack,
                (struct bz_profile_frame){time_of(k, name), bz_clock_now(), 0});
}

static void end(struct bz_profile_kind *k)
{
    struct bz_profile_frame f = BZ_VEC_POP(&k->stack);
    int64_t took = bz_clock_now() - f.began;

    f.time->times++;
    f.time->total += took;
    f.time->own += took - f.inner;
    if (k->stack.len > 0)
        BZ_VEC_LAST(&k->stack).inner += took;
}

static void begin_file(void *ctx, const char *path)
{
    begin(&((struct bz_profile *)ctx)->files, bz_str_from(path));
}

static void end_file(void *ctx, const char *path)
{
    (void)path;
    end(&((struct bz_profile *)ctx)->files);
}

static void begin_expression(void *ctx, struct bz_str code)
{
    begin(&((struct bz_profile *)ctx)->expressions, code);
}

static void end_expression(void *ctx, struct bz_str code)
{
    (void)code;
    end(&((struct bz_profile *)ctx)->expressions);
}

const struct bz_eval_watch *bz_profile_watch(struct bz_profile *p)
{
    p->watch = (struct bz_eval_watch){
        .begin = begin_file,
        .end = end_file,
        .ctx = p,
        .expressions = {begin_expression, end_expression, p},
    };
    return &p->watch;
}

static void merge(struct bz_profile_kind *to, const struct bz_profile_kind *from)
{
    const struct bz_map_entry *e;

    for (e = bz_map_next(&from->times, NULL); e; e = bz_map_next(&from->times, e)) {
        const struct bz_profile_time *t = e->p;
        struct bz_profile_time *sum = time_of(to, t->name);

        sum->times += t->times;
        sum->own += t->own;
        sum->total += t->total;
    }
}

void bz_profile_merge(struct bz_profile *to, const struct bz_profile *from)
{
    merge(&to->files, &from->files);
    merge(&to->expressions, &from->expressions);
}

static void release(struct bz_profile_kind *k)
{
    bz_map_release(&k->times);
    bz_vec_release(&k->stack);
    bz_arena_release(&k->arena);
}

void bz_profile_release(struct bz_profile *p)
{
    release(&p->files);
    release(&p->expressions);
}

static int by_own(const void *a, const void *b)
{
    const struct bz_profile_time *x = a, *y = b;

    if (x->own != y->own)
        return x->own < y->own ? 1 : -1;
    return bz_str_cmp(x->name, y->name);
}

size_t bz_profile_top(const struct bz_map *times, struct bz_profile_time *out, size_t n)
{
    BZ_CLEANUP(bz_vec_release) struct BZ_VEC(struct bz_profile_time) all = {0};
    const struct bz_map_entry *e;

    for (e = bz_map_next(times, NULL); e; e = bz_map_next(times, e))
        BZ_VEC_PUSH(&all, *(const struct bz_profile_time *)e->p);
    BZ_VEC_SORT(&all, by_own);
    if (n > all.len)
        n = all.len;
    for (size_t i = 0; i < n; i++)
        out[i] = all.at[i];
    return n;
}
