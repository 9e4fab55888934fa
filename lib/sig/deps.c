#include "sig/deps.h"

#include "sig/deps_item.h"

static void add_words(struct bz_map *m, struct bz_str list)
{
    struct bz_str word;

    while (bz_str_next_word(&list, &word))
        (void)bz_map_put(m, word);
}

/* The names that a call in code may mean; those with two underscores are BitBake's. */
static int read_keys(struct bz_deps *d, struct bz_err *err)
{
    const struct bz_str *names;
    size_t n;
    int rc = bz_vars_names(d->vars, &names, &n, err);

    for (size_t i = 0; rc == 0 && i < n; i++)
        if (!bz_str_starts(names[i], BZ_STR("__")))
            (void)bz_map_put(&d->keys, names[i]);
    return rc;
}

/* BB_HASH_CODEPARSER_VALS has NAME=value words: what code is to be parsed with, where
 * the real value would only lead to other commands and never to another meaning. */
static int force_values(struct bz_deps *d, struct bz_err *err)
{
    struct bz_str list, word, name, value;
    int rc = bz_vars_get(d->vars, BZ_STR("BB_HASH_CODEPARSER_VALS"), 0, &list, err);

    while (rc == 0 && bz_str_next_word(&list, &word)) {
        if (!bz_str_cut(word, '=', &name, &value))
            return bz_fail(err, BZ_E_INVAL,
                           "BB_HASH_CODEPARSER_VALS: expected NAME=value, not '%.*s'",
                           BZ_STR_ARG(word));
        if (d->code_vars == d->vars)
            d->code_vars = bz_vars_new(d->vars);
        rc = bz_vars_set(d->code_vars, name, value, 0, NULL, err);
    }
    return rc;
}

int bz_deps_open(struct bz_deps *d, struct bz_vars *v, const struct bz_deps_opts *opts,
                 struct bz_err *err)
{
    struct bz_str flags = {0};
    int rc;

    *d = (struct bz_deps){.vars = v, .code_vars = v, .opts = *opts};
    add_words(&d->ignored, opts->ignored);
    rc = bz_vars_get(v, BZ_STR("BB_SIGNATURE_EXCLUDE_FLAGS"), 0, &flags, err);
    if (rc == 0)
        rc = bz_vars_exported(v, &d->exported, &d->nexported, err);
    if (rc == 0)
        rc = read_keys(d, err);
    if (rc < 0)
        return rc;
    add_words(&d->skipped_flags, flags);
    return force_values(d, err);
}

void bz_deps_close(struct bz_deps *d)
{
    if (d->code_vars != d->vars)
        bz_vars_free(d->code_vars);
    bz_map_release(&d->ignored);
    bz_map_release(&d->keys);
    bz_map_release(&d->skipped_flags);
    bz_map_release(&d->index);
    bz_vec_release(&d->items);
    bz_arena_release(&d->arena);
    *d = (struct bz_deps){0};
}

/* The item of a name, which is looked at later if it is new. */
static struct bz_deps_id item_of(struct bz_deps *d, struct bz_str name)
{
    uint32_t before = d->index.len;
    struct bz_map_entry *e = bz_map_put(&d->index, name);

    if (d->index.len > before) {
        e->key = bz_arena_dup(&d->arena, name);
        e->u = d->items.len;
        BZ_VEC_PUSH(&d->items, (struct bz_deps_item){.name = e->key});
    }
    return (struct bz_deps_id){(uint32_t)e->u};
}

static int by_bytes(const void *a, const void *b)
{
    return bz_str_cmp(*(const struct bz_str *)a, *(const struct bz_str *)b);
}

/* Looks at the item number `at`. */
static int look_at(struct bz_deps *d, size_t at, struct bz_err *err)
{
    BZ_CLEANUP(bz_vec_release) struct BZ_VEC(struct bz_str) names = {0};
    BZ_CLEANUP(bz_map_release) struct bz_map deps = {0};
    struct bz_deps_item *item = &d->items.at[at];
    struct bz_deps_id *ids;
    int rc = bz_deps_item_read(d, item->name, &deps, &item->value, err);

    if (rc < 0)
        return bz_err_wrap(err, "%.*s", BZ_STR_ARG(item->name));
    for (const struct bz_map_entry *e = bz_map_next(&deps, NULL); e;
         e = bz_map_next(&deps, e))
        BZ_VEC_PUSH(&names, e->key);
    BZ_VEC_SORT(&names, by_bytes);
    ids = BZ_ARENA_ARRAY(&d->arena, struct bz_deps_id, names.len);
    for (size_t i = 0; i < names.len; i++)
        ids[i] = item_of(d, names.at[i]);
    item = &d->items.at[at]; /* they may have moved */
    item->deps = ids;
    item->n = names.len;
    item->done = true;
    return 0;
}

int bz_deps_find(struct bz_deps *d, struct bz_str name, struct bz_deps_id *id,
                 struct bz_err *err)
{
    *id = item_of(d, name);
    while (d->ndone < d->items.len) {
        int rc = look_at(d, d->ndone, err);

        if (rc < 0)
            return rc;
        d->ndone++;
    }
    return 0;
}

void bz_deps_reach(const struct bz_deps *d, struct bz_deps_id id, struct bz_bitset *all)
{
    BZ_CLEANUP(bz_vec_release) struct BZ_VEC(struct bz_deps_id) next = {0};

    BZ_VEC_PUSH(&next, id);
    while (next.len > 0) {
        const struct bz_deps_item *item = &BZ_VEC_AT(&d->items, BZ_VEC_POP(&next).i);

        for (size_t i = 0; i < item->n; i++) {
            if (bz_bitset_test(all, item->deps[i].i))
                continue;
            bz_bitset_set(all, item->deps[i].i);
            BZ_VEC_PUSH(&next, item->deps[i]);
        }
    }
}
