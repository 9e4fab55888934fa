#include "recipe/taskdef.h"

#include <string.h>

static struct bz_str full_name(struct bz_arena *arena, struct bz_str name)
{
    if (bz_str_starts(name, BZ_STR("do_")))
        return bz_arena_dup(arena, name);
    return BZ_ARENA_CONCAT(arena, BZ_STR("do_"), name);
}

static bool has(const struct bz_taskdef_names *names, struct bz_str name)
{
    for (size_t i = 0; i < names->len; i++)
        if (bz_str_eq(names->at[i], name))
            return true;
    return false;
}

static void drop(struct bz_taskdef_names *names, struct bz_str name)
{
    for (size_t i = 0; i < names->len; i++) {
        if (!bz_str_eq(names->at[i], name))
            continue;
        memmove(&names->at[i], &names->at[i + 1],
                (names->len - i - 1) * sizeof(names->at[0]));
        names->len--;
        return;
    }
}

static void put_first(struct bz_taskdef_names *names, struct bz_str name)
{
    BZ_VEC_PUSH(names, name);
    memmove(&names->at[1], &names->at[0], (names->len - 1) * sizeof(names->at[0]));
    names->at[0] = name;
}

const struct bz_taskdef *bz_taskdef_find(const struct bz_taskdefs *t,
                                         struct bz_str name)
{
    for (size_t i = 0; i < t->all.len; i++)
        if (bz_str_eq(t->all.at[i].name, name))
            return &t->all.at[i];
    return NULL;
}

/* The entry of that name, made if there is none. Valid until the next call. */
static struct bz_taskdef *entry(struct bz_taskdefs *t, struct bz_str name)
{
    for (size_t i = 0; i < t->all.len; i++)
        if (bz_str_eq(t->all.at[i].name, name))
            return &t->all.at[i];
    BZ_VEC_PUSH(&t->all, (struct bz_taskdef){.name = name});
    return &BZ_VEC_LAST(&t->all);
}

static void note_place(struct bz_taskdef *e, struct bz_str after,
                       const struct bz_taskdef_place *at)
{
    if (at && at->file)
        BZ_VEC_PUSH(&e->places, (struct bz_taskdef_place){after, at->file, at->line});
}

const struct bz_taskdef_place *bz_taskdef_place(const struct bz_taskdef *task,
                                                struct bz_str after)
{
    for (size_t i = task->places.len; i-- > 0;)
        if (bz_str_eq(task->places.at[i].after, after))
            return &task->places.at[i];
    return NULL;
}

struct bz_str bz_taskdef_add(struct bz_taskdefs *t, struct bz_arena *arena,
                             struct bz_str name, struct bz_str before,
                             struct bz_str after, const struct bz_taskdef_place *at)
{
    struct bz_str task = full_name(arena, name), word;
    struct bz_taskdef *e = entry(t, task);

    e->listed = true;
    if (!has(&t->order, task))
        BZ_VEC_PUSH(&t->order, task);
    while (bz_str_next_word(&after, &word)) {
        struct bz_str pred = full_name(arena, word);

        if (has(&e->after, pred))
            continue;
        BZ_VEC_PUSH(&e->after, pred);
        note_place(e, pred, at);
    }
    while (bz_str_next_word(&before, &word)) {
        e = entry(t, full_name(arena, word));
        if (has(&e->after, task))
            continue;
        put_first(&e->after, task);
        note_place(e, task, at);
    }
    return task;
}

/* Takes an entry out; the last one takes its place. */
static void forget(struct bz_taskdefs *t, size_t i)
{
    bz_vec_release(&t->all.at[i].after);
    bz_vec_release(&t->all.at[i].places);
    t->all.at[i] = BZ_VEC_LAST(&t->all);
    t->all.len--;
}

struct bz_str bz_taskdef_delete(struct bz_taskdefs *t, struct bz_arena *arena,
                                struct bz_str name)
{
    struct bz_str task = full_name(arena, name);

    for (size_t i = 0; i < t->all.len; i++)
        if (bz_str_eq(t->all.at[i].name, task)) {
            forget(t, i);
            break;
        }
    drop(&t->order, task);
    /* Only tasks that are listed forget it; the others are as they were. */
    for (size_t i = 0; i < t->all.len; i++)
        if (t->all.at[i].listed)
            drop(&t->all.at[i].after, task);
    return task;
}

/* Renames what is in a list, keeping each name once. */
static int rename_list(struct bz_taskdef_names *names, bz_taskdef_name_fn name_of,
                       void *ctx, struct bz_err *err)
{
    size_t n = names->len;
    int rc = 0;

    names->len = 0;
    for (size_t i = 0; i < n && rc == 0; i++) {
        struct bz_str name = names->at[i];

        rc = name_of(ctx, &name, err);
        if (rc == 0 && !has(names, name))
            names->at[names->len++] = name;
    }
    return rc;
}

static int rename_places(struct bz_taskdef_places *places, bz_taskdef_name_fn name_of,
                         void *ctx, struct bz_err *err)
{
    int rc = 0;

    for (size_t i = 0; i < places->len && rc == 0; i++)
        if (bz_str_find_byte(places->at[i].after, '$') != BZ_STR_NONE)
            rc = name_of(ctx, &places->at[i].after, err);
    return rc;
}

int bz_taskdef_rename(struct bz_taskdefs *t, bz_taskdef_name_fn name_of, void *ctx,
                      struct bz_err *err)
{
    int rc = rename_list(&t->order, name_of, ctx, err);

    /* What a task that is not listed waits for is of no account, so it is not expanded:
     * that could fail for nothing. */
    for (size_t i = t->all.len; i-- > 0 && rc == 0;) {
        struct bz_str name = t->all.at[i].name;

        if (has(&t->order, name)) {
            rc = rename_list(&t->all.at[i].after, name_of, ctx, err);
            if (rc == 0)
                rc = rename_places(&t->all.at[i].places, name_of, ctx, err);
            continue;
        }
        rc = name_of(ctx, &name, err);
        if (rc == 0 && !bz_str_eq(name, t->all.at[i].name))
            forget(t, i);
    }
    for (size_t i = 0; i < t->order.len && rc == 0; i++)
        entry(t, t->order.at[i])->listed = true;
    return rc;
}

void bz_taskdef_copy(struct bz_taskdefs *to, const struct bz_taskdefs *from)
{
    for (size_t i = 0; i < from->order.len; i++)
        BZ_VEC_PUSH(&to->order, from->order.at[i]);
    for (size_t i = 0; i < from->all.len; i++) {
        const struct bz_taskdef *f = &from->all.at[i];
        struct bz_taskdef copy = {.name = f->name, .listed = f->listed};

        for (size_t k = 0; k < f->after.len; k++)
            BZ_VEC_PUSH(&copy.after, f->after.at[k]);
        for (size_t k = 0; k < f->places.len; k++)
            BZ_VEC_PUSH(&copy.places, f->places.at[k]);
        BZ_VEC_PUSH(&to->all, copy);
    }
}

void bz_taskdef_release(struct bz_taskdefs *t)
{
    for (size_t i = 0; i < t->all.len; i++) {
        bz_vec_release(&t->all.at[i].after);
        bz_vec_release(&t->all.at[i].places);
    }
    bz_vec_release(&t->all);
    bz_vec_release(&t->order);
}
