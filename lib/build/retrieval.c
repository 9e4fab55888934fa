#include "build/retrieval.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "cache/inventory.h"
#include "sig/record_read.h"

#define BLOB_MAX ((size_t)64 << 20)
#define TRIES 16        /* records of a recipe that are looked at for a task */
#define MISSING_MAX 200 /* tasks without a record before anything is found */

/* A record that a store has, of some task of the recipe. */
struct held {
    struct bz_str recipe;
    struct bz_digest key;
    int64_t used;
};

/* A task that is to be found, as it was or in any form. */
struct wanted {
    struct bz_str name;
    const struct bz_digest *key; /* or NULL */
};

struct search {
    struct bz_retrieval *f;
    const struct bz_retrieval_opts *o;
    struct bz_digest_hasher *hasher;
    struct bz_arena arena;
    struct bz_map seen;  /* names of tasks */
    struct bz_map parts; /* digests of blobs -> struct bz_record *, NULL if bad */
    struct BZ_VEC(struct wanted) todo;
    struct BZ_VEC(struct held) held; /* by recipe, the last used first */
    bool listed;
};

static void search_release(struct search *s)
{
    bz_map_release(&s->seen);
    bz_map_release(&s->parts);
    bz_vec_release(&s->todo);
    bz_vec_release(&s->held);
    bz_arena_release(&s->arena);
}

/* ---- what there is ---- */

static int by_recipe(const void *a, const void *b)
{
    const struct held *x = a, *y = b;
    int cmp = bz_str_cmp(x->recipe, y->recipe);

    if (cmp == 0)
        cmp = (x->used < y->used) - (x->used > y->used);
    return cmp != 0 ? cmp : bz_digest_cmp(&x->key, &y->key);
}

static void list_store(struct search *s, struct bz_cas *cas, const char *name)
{
    BZ_CLEANUP(bz_inventory_release) struct bz_inventory v = {0};
    struct bz_err err;

    if (bz_inventory_take_results(cas, &v, &err) < 0) {
        bz_log_warn("why", "%s is left out: %s", name, err.msg);
        return;
    }
    for (size_t i = 0; i < v.results.len; i++) {
        const struct bz_inventory_result *r = &v.results.at[i];
        struct bz_str recipe = bz_intern_str(&v.names, r->recipe);

        if (r->record)
            BZ_VEC_PUSH(&s->held, (struct held){bz_arena_dup(&s->arena, recipe), r->key,
                                                r->used});
    }
}

static void list_dir(struct search *s, const char *dir)
{
    BZ_CLEANUP(bz_cas_closep) struct bz_cas *cas = NULL;
    struct bz_err err;

    /* The cache has it open as a tier. */
    if (bz_cas_open(dir, &(struct bz_cas_opts){.access = BZ_SHELF_READ_AGAIN}, &cas,
                    &err) < 0)
        bz_log_warn("why", "%s is left out: %s", dir, err.msg);
    else
        list_store(s, cas, dir);
}

static void list_all(struct search *s)
{
    if (s->listed)
        return;
    s->listed = true;
    list_store(s, bz_cache_cas(s->o->cache), "the store");
    for (size_t i = 0; i < s->o->ndirs; i++)
        list_dir(s, s->o->dirs[i]);
    BZ_VEC_SORT(&s->held, by_recipe);
}

/* The first record of a recipe, or the end. */
static size_t first_of(const struct search *s, struct bz_str recipe)
{
    size_t low = 0, high = s->held.len;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (bz_str_cmp(s->held.at[middle].recipe, recipe) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- one of them ---- */

static struct bz_record *read_blob(struct search *s, const struct bz_reapi_digest *blob)
{
    BZ_CLEANUP(bz_mem_freep) char *text = NULL;
    struct bz_record *part;
    struct bz_err err;

    if (bz_cas_read(bz_cache_cas(s->o->cache), s->hasher, blob, BLOB_MAX, &text, &err) <
        0)
        return NULL;
    part = bz_mem_zalloc(sizeof(*part));
    BZ_VEC_PUSH(&s->f->parts, (struct bz_retrieval_part){part});
    if (bz_record_read(part, bz_str_of(text, (size_t)blob->size), "a record", &err) <
        0) {
        bz_log_warn("why", "%s", err.msg);
        return NULL;
    }
    return part;
}

/* The tasks that the record filed under `key` leads to, or NULL. */
static const struct bz_record *get_part(struct search *s, const struct bz_digest *key)
{
    struct bz_reapi_result result;
    struct bz_map_entry *e;
    struct bz_str hash;
    struct bz_err ignored;

    if (bz_cache_get(s->o->cache, s->hasher, key, &s->arena, &result, &ignored) < 0 ||
        result.nfiles != 1 ||
        !bz_str_eq(result.files[0].path, BZ_STR(BZ_ACTION_RECORD)) ||
        bz_cache_fetch(s->o->cache, s->hasher, key, &result, NULL, &ignored) < 0)
        return NULL;
    hash = bz_str_of((const char *)result.files[0].digest.hash.b, BZ_DIGEST_LEN);
    e = bz_map_get(&s->parts, hash);
    if (!e) {
        struct bz_record *part = read_blob(s, &result.files[0].digest);

        e = bz_map_put(&s->parts, bz_arena_dup(&s->arena, hash));
        e->p = part;
    }
    return e->p;
}

/* As it was with that signature, or NULL. */
static const struct bz_record_task *get_task(struct search *s, struct bz_str name,
                                             const struct bz_digest *key)
{
    const struct bz_record_task *task;
    const struct bz_record *part;
    struct bz_digest record;

    bz_action_record_key(s->hasher, key, &record);
    part = get_part(s, &record);
    task = part ? bz_record_find(part, name) : NULL;
    return task && bz_digest_eq(&task->key, key) ? task : NULL;
}

/* [mc:CONFIG:]RECIPE:TASK; results are labelled with the recipe alone. */
static struct bz_str recipe_of(struct bz_str name)
{
    size_t end = bz_str_rfind_byte(name, ':');
    struct bz_str recipe = end == BZ_STR_NONE ? name : bz_str_of(name.p, end);
    size_t colon = bz_str_rfind_byte(recipe, ':');

    return colon == BZ_STR_NONE ? recipe : bz_str_drop(recipe, colon + 1);
}

/* As it was the last time that anybody wanted to know. */
static const struct bz_record_task *get_last(struct search *s, struct bz_str name)
{
    struct bz_str recipe = recipe_of(name);
    size_t first;

    list_all(s);
    first = first_of(s, recipe);
    for (size_t i = first; i < s->held.len && i < first + TRIES; i++) {
        const struct bz_record_task *task;
        const struct bz_record *part;

        if (!bz_str_eq(s->held.at[i].recipe, recipe))
            break;
        part = get_part(s, &s->held.at[i].key);
        task = part ? bz_record_find(part, name) : NULL;
        if (task)
            return task;
    }
    return NULL;
}

/* ---- all that is wanted ---- */

static void add_task(struct search *s, const struct bz_record_task *task)
{
    bz_record_add(&s->f->was, task);
    for (size_t i = 0; i < task->ndeps; i++)
        BZ_VEC_PUSH(&s->todo, (struct wanted){task->deps[i].task, &task->deps[i].key});
}

static void find(struct search *s, const struct wanted *want)
{
    const struct bz_record_task *is = bz_record_find(s->o->is, want->name);
    const struct bz_record_task *was = NULL;

    if (want->key && is && bz_digest_eq(want->key, &is->key)) {
        add_task(s, is); /* and all that it waits for: the signature says so */
        return;
    }
    if (want->key)
        was = get_task(s, want->name, want->key);
    else if (is)
        was = get_task(s, want->name, &is->key);
    if (!was)
        was = get_last(s, want->name);
    if (was) {
        add_task(s, was);
        return;
    }
    s->f->missing++;
    for (size_t i = 0; is && i < is->ndeps; i++)
        BZ_VEC_PUSH(&s->todo, (struct wanted){is->deps[i].task, NULL});
}

static int search(struct search *s, struct bz_err *err)
{
    for (size_t i = 0; i < s->o->ntargets; i++)
        BZ_VEC_PUSH(&s->todo, (struct wanted){s->o->targets[i], NULL});
    while (s->todo.len > 0 &&
           (s->f->was.tasks.len > 0 || s->f->missing < MISSING_MAX)) {
        struct wanted next = BZ_VEC_POP(&s->todo);

        if (bz_map_put(&s->seen, next.name)->u++ == 0)
            find(s, &next);
    }
    if (s->f->was.tasks.len == 0)
        return bz_fail(err, BZ_E_NOENT, "nothing is stored to compare with");
    bz_record_sort(&s->f->was);
    return 0;
}

int bz_retrieval_run(struct bz_retrieval *f, const struct bz_retrieval_opts *opts,
                     struct bz_err *err)
{
    BZ_CLEANUP(bz_digest_hasher_freep) struct bz_digest_hasher *hasher = NULL;
    BZ_CLEANUP(search_release) struct search s = {.f = f, .o = opts};
    int rc = bz_digest_hasher_new(&hasher, err);

    s.hasher = hasher;
    return rc < 0 ? rc : search(&s, err);
}

void bz_retrieval_release(struct bz_retrieval *f)
{
    bz_record_release(&f->was);
    for (size_t i = 0; i < f->parts.len; i++) {
        bz_record_release(f->parts.at[i].record);
        free(f->parts.at[i].record);
    }
    bz_vec_release(&f->parts);
    *f = (struct bz_retrieval){0};
}
