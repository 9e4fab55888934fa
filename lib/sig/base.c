#include "sig/base.h"

#include <stdlib.h>

#include "base/mem.h"
#include "sig/leftout.h"
#include "sig/roots.h"

enum tag {
    TAG_NAME = 1,
    TAG_VALUE,
    TAG_BASE,
    TAG_FILE,
    TAG_CONTENT,
    TAG_PLACES,
    TAG_POLICY,
    TAG_MODE,
    TAG_QUESTION,
    TAG_COMMIT,
    TAG_ORIGIN,
};

/* What is known of an item of bz_deps besides its text. */
struct extra {
    struct bz_digest digest; /* zero: not computed yet */
    struct bz_str value;     /* with names for directories of this host */
    struct bz_str places;    /* where these are */
    struct bz_str *leads;    /* names of what it leads to; NULL: not listed yet */
};

struct bz_base {
    struct bz_digest_hasher *hasher;
    struct bz_deps deps;
    struct bz_roots roots;
    struct bz_arena arena;
    struct extras BZ_VEC(struct extra) extras;   /* by number of the item */
    struct bz_base_order BZ_VEC(uint32_t) order; /* numbers of all items, by name */
};

int bz_base_machine(struct bz_vars *v, struct bz_str *machine, struct bz_str *distro,
                    struct bz_err *err)
{
    struct bz_str overrides, part;
    int rc = bz_vars_get(v, BZ_STR("OVERRIDES"), 0, &overrides, err);

    *machine = *distro = (struct bz_str){0};
    while (rc == 0 && overrides.n > 0 && bz_str_next_part(&overrides, ':', &part))
        if (bz_str_eq(part, BZ_STR("class-native")))
            return 0;
    if (rc == 0)
        rc = bz_vars_get(v, BZ_STR("MACHINE"), 0, machine, err);
    if (rc == 0)
        rc = bz_vars_get(v, BZ_STR("DISTRO"), 0, distro, err);
    return rc;
}

int bz_base_new(struct bz_vars *v, struct bz_digest_hasher *hasher,
                struct bz_base **out, struct bz_err *err)
{
    BZ_CLEANUP(bz_base_freep) struct bz_base *b = bz_mem_zalloc(sizeof(*b));
    struct bz_deps_opts opts = {.all = true};
    int rc = bz_deps_open(&b->deps, v, &opts, err);

    b->hasher = hasher;
    if (rc == 0)
        rc = bz_roots_open(&b->roots, v, err);
    if (rc < 0)
        return rc;
    *out = b;
    b = NULL; /* the caller owns it now */
    return 0;
}

void bz_base_free(struct bz_base *b)
{
    if (!b)
        return;
    bz_deps_close(&b->deps);
    bz_roots_close(&b->roots);
    bz_arena_release(&b->arena);
    bz_vec_release(&b->extras);
    bz_vec_release(&b->order);
    free(b);
}

void bz_base_freep(struct bz_base **b)
{
    bz_base_free(*b);
}

static void add_text(struct bz_base *b, enum tag tag, struct bz_str text)
{
    bz_digest_add_field(b->hasher, (uint8_t)tag, text.p, text.n);
}

/* What is signed of a text. Where names were put counts, too: the text might have had
 * one of them already. */
static void add_value(struct bz_base *b, enum tag tag, const struct extra *x)
{
    add_text(b, tag, x->value);
    if (x->places.n > 0)
        add_text(b, TAG_PLACES, x->places);
}

static void name_dirs(struct bz_base *b, struct bz_str value, struct extra *x)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0}, places = {0};

    x->value = value;
    if (value.n == 0 || !bz_roots_name(&b->roots, value, &out, &places))
        return;
    x->value = bz_arena_dup(&b->arena, bz_buf_str(&out));
    x->places = bz_arena_dup(&b->arena, bz_buf_str(&places));
}

/* The digest of an item, computed once for all tasks that it counts for. */
static const struct bz_digest *digest_of(struct bz_base *b, size_t item)
{
    struct extra *x;

    while (b->extras.len < b->deps.items.len)
        BZ_VEC_PUSH(&b->extras, (struct extra){.leads = NULL});
    x = &b->extras.at[item];
    if (bz_digest_is_zero(&x->digest)) {
        name_dirs(b, b->deps.items.at[item].value, x);
        bz_digest_begin(b->hasher);
        add_text(b, TAG_NAME, b->deps.items.at[item].name);
        add_value(b, TAG_VALUE, x);
        bz_digest_end(b->hasher, &x->digest);
    }
    return &x->digest;
}

/* The names of what an item leads to, listed once for all tasks. */
static const struct bz_str *leads_of(struct bz_base *b, size_t item)
{
    const struct bz_deps_item *it = &b->deps.items.at[item];
    struct extra *x = &b->extras.at[item];

    if (!x->leads) {
        x->leads = BZ_ARENA_ARRAY(&b->arena, struct bz_str, it->n);
        for (size_t i = 0; i < it->n; i++)
            x->leads[i] = b->deps.items.at[it->deps[i].i].name;
    }
    return x->leads;
}

static void note_input(struct bz_base *b, size_t item, struct bz_base_inputs *inputs)
{
    const struct bz_deps_item *it = &b->deps.items.at[item];

    BZ_VEC_PUSH(inputs,
                (struct bz_base_input){it->name, b->extras.at[item].value,
                                       *digest_of(b, item), leads_of(b, item), it->n});
}

/* Puts the items that are new since the last time in their places. */
static void order_items(struct bz_base *b)
{
    const struct bz_deps_item *items = b->deps.items.at;

    for (size_t i = b->order.len; i < b->deps.items.len; i++) {
        size_t low = 0, high = i;

        while (low < high) {
            size_t middle = low + (high - low) / 2;

            if (bz_str_cmp(items[b->order.at[middle]].name, items[i].name) < 0)
                low = middle + 1;
            else
                high = middle;
        }
        BZ_VEC_PUSH(&b->order, 0);
        memmove(&b->order.at[low + 1], &b->order.at[low],
                (i - low) * sizeof(b->order.at[0]));
        b->order.at[low] = (uint32_t)i;
    }
}

int bz_base_list(struct bz_base *b, const struct bz_str *names, size_t n,
                 struct bz_base_inputs *inputs, struct bz_err *err)
{
    BZ_CLEANUP(bz_bitset_release) struct bz_bitset all = {0};
    struct bz_deps_id first = {0}, id;
    int rc = 0;

    for (size_t i = 0; i < n && rc == 0; i++) {
        rc = bz_deps_find(&b->deps, names[i], &id, err);
        if (rc < 0)
            return rc;
        if (i == 0)
            first = id;
        bz_bitset_set(&all, id.i);
        bz_deps_reach(&b->deps, id, &all);
    }
    order_items(b);
    for (size_t i = bz_bitset_next(&all, 0); i < BZ_BITSET_END;
         i = bz_bitset_next(&all, i + 1))
        (void)digest_of(b, i);
    if (n > 0)
        note_input(b, first.i, inputs);
    for (size_t i = 0; i < b->order.len; i++) {
        size_t item = b->order.at[i];

        if (item != first.i && bz_bitset_test(&all, item))
            note_input(b, item, inputs);
    }
    return 0;
}

void bz_base_add_files(struct bz_digest_hasher *hasher,
                       const struct bz_base_files *files, struct bz_digest *digest)
{
    if (files->len == 0)
        return;
    bz_digest_begin(hasher);
    bz_digest_add_field(hasher, TAG_BASE, digest->b, BZ_DIGEST_LEN);
    for (size_t i = 0; i < files->len; i++) {
        const struct bz_base_file *f = &files->at[i];
        char content[1 + BZ_DIGEST_LEN];

        content[0] = f->executable ? 'x' : '-';
        memcpy(content + 1, f->digest.b, BZ_DIGEST_LEN);
        if (!bz_leftout("file-mode"))
            bz_digest_add_field(hasher, TAG_MODE, &f->mode, sizeof(f->mode));
        else
            content[0] = '-';
        if (!bz_leftout("file-name")) {
            bz_digest_add_field(hasher, TAG_FILE, f->name.p, f->name.n);
            bz_digest_add_field(hasher, TAG_ORIGIN, &f->origin, sizeof(f->origin));
        }
        if (!bz_leftout("file-content"))
            bz_digest_add_field(hasher, TAG_CONTENT, content,
                                f->present ? sizeof(content) : 0);
    }
    bz_digest_end(hasher, digest);
}

void bz_base_add_policy(struct bz_digest_hasher *hasher, struct bz_str policy,
                        struct bz_digest *digest)
{
    bz_digest_begin(hasher);
    bz_digest_add_field(hasher, TAG_BASE, digest->b, BZ_DIGEST_LEN);
    if (!bz_leftout("policy"))
        bz_digest_add_field(hasher, TAG_POLICY, policy.p, policy.n);
    bz_digest_end(hasher, digest);
}

void bz_base_add_commit(struct bz_digest_hasher *hasher, struct bz_str question,
                        struct bz_str commit, struct bz_digest *digest)
{
    bz_digest_begin(hasher);
    bz_digest_add_field(hasher, TAG_BASE, digest->b, BZ_DIGEST_LEN);
    if (!bz_leftout("commit")) {
        bz_digest_add_field(hasher, TAG_QUESTION, question.p, question.n);
        bz_digest_add_field(hasher, TAG_COMMIT, commit.p, commit.n);
    }
    bz_digest_end(hasher, digest);
}
