#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

#include "base/mem.h"
#include "survey/pyfunc.h"
#include "survey/recall.h"

enum { MOST = 64 }; /* facts and parts that are read */

static void check_text(const struct bz_snapshot *s, struct bz_str text)
{
    if (!text.p)
        return;
    BZ_ASSERT(text.p >= s->bytes && text.p + text.n < s->bytes + s->size);
    BZ_ASSERT(text.p[text.n] == '\0');
}

static void check_functions(const struct bz_snapshot *s, struct bz_str list)
{
    struct bz_pyfunc f;

    check_text(s, list);
    while (bz_pyfunc_next(&list, &f))
        BZ_ASSERT(f.name.p && f.file.p);
}

static void check_facts(struct bz_snapshot *s)
{
    struct bz_facts f;
    struct bz_err err;

    for (size_t i = 0; i < MOST && bz_snapshot_fact(s, i, &f, &err) == 0; i++) {
        check_text(s, f.path);
        check_text(s, f.summary);
        check_functions(s, f.python);
        for (size_t k = 0; k < f.npackages; k++)
            check_text(s, f.packages[k].rdepends);
        for (size_t k = 0; k < f.ntasks; k++)
            check_text(s, f.tasks[k].mcdepends);
        for (size_t k = 0; k < f.ntasks; k++)
            check_functions(s, f.tasks[k].python);
    }
}

static void check_image(struct bz_recall *r, struct bz_str text)
{
    bool inside = !text.p;

    for (size_t i = 0; i < r->old.images.len; i++)
        inside |=
            text.p >= r->old.images.at[i].bytes &&
            text.p + text.n < r->old.images.at[i].bytes + r->old.images.at[i].size;
    BZ_ASSERT(inside);
}

static void check_part(struct bz_recall *r, const struct bz_snapshot_part *record)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    const struct bz_snapshot *base = bz_deltas_base(&r->old);
    struct bz_recall_part part;
    struct bz_recall_recipe recipe;
    struct bz_vars *settings = NULL;
    struct bz_str text;
    struct bz_err err;

    if (bz_snapshot_text(base, record->settings, &text) &&
        bz_recall_settings(text, &settings, &err) == 0)
        bz_vars_free(settings);
    if (!bz_snapshot_text(base, record->mc, &text))
        return;
    bz_recall_part(r, text, record->digest, &part);
    for (const struct bz_map_entry *e = NULL; (e = bz_map_next(&part.recipes, e));) {
        struct bz_facts frame = {.path = e->key};

        check_image(r, e->key);
        if (bz_recall_recipe(r, &part, &frame, &arena, &recipe))
            for (size_t i = 0; i < recipe.nlooks; i++)
                check_image(r, recipe.looks[i]->path);
    }
    bz_recall_part_release(&part);
}

/* An image of these bytes, with a head that fits, as an entry of the catalog. */
static void put_image(struct bz_entries *catalog, uint32_t kind,
                      const struct bz_entries_key *key, const uint8_t *data,
                      size_t size)
{
    BZ_CLEANUP(bz_mem_freep)
    struct bz_snapshot_head *head = bz_mem_zalloc(size + sizeof(*head));

    memcpy(head, data, size);
    bz_snapshot_sign(head);
    head->size = size;
    bz_entries_put(catalog, kind, key, bz_str_of((const char *)head, size));
}

/* The bytes are a base, and a delta to it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct bz_entries_key first;
    struct bz_entries catalog;
    struct bz_recall r = {0};
    struct bz_deltas d;
    struct bz_err err;

    if (size < sizeof(struct bz_snapshot_head))
        return 0;
    bz_entries_open(&catalog, NULL, "fuzz");
    put_image(&catalog, BZ_DELTAS_BASE_KIND, &first, data, size);
    for (int i = 0; i < 2; i++) {
        if (bz_deltas_open(&d, &catalog, &err) == 0)
            put_image(&catalog, BZ_DELTAS_KIND, &d.last, data, size);
        bz_deltas_close(&d);
    }
    if (bz_deltas_open(&r.old, &catalog, &err) == 0) {
        BZ_ASSERT(r.old.images.len <= 3);
        for (size_t i = 0; i < r.old.images.len; i++)
            check_facts(&r.old.images.at[i]);
        if (bz_inputs_read(&r.inputs, &r.old, &err) == 0)
            for (size_t i = 0; i < r.inputs.n; i++)
                check_image(&r, r.inputs.looks[i].path);
        for (size_t i = 0; i < MOST; i++) {
            const struct bz_snapshot_part *part =
                bz_snapshot_at(bz_deltas_base(&r.old), BZ_SNAPSHOT_PARTS, i);

            if (part)
                check_part(&r, part);
        }
    }
    bz_recall_close(&r);
    bz_entries_close(&catalog);
    return 0;
}
