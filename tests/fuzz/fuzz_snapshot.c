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

static void check_part(struct bz_recall *r, const struct bz_snapshot_part *record)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct bz_recall_part part;
    struct bz_recall_recipe recipe;
    struct bz_vars *settings = NULL;
    struct bz_str text;
    struct bz_err err;

    if (bz_snapshot_text(&r->old, record->settings, &text) &&
        bz_recall_settings(text, &settings, &err) == 0)
        bz_vars_free(settings);
    if (!bz_snapshot_text(&r->old, record->mc, &text))
        return;
    bz_recall_part(r, text, record->digest, &part);
    for (const struct bz_map_entry *e = NULL; (e = bz_map_next(&part.recipes, e));) {
        struct bz_facts frame = {.path = e->key};

        check_text(&r->old, e->key);
        bz_recall_recipe(r, &part, &frame, &arena, &recipe);
    }
    bz_recall_part_release(&part);
}

/* The bytes follow a head that fits, so that the sum keeps nothing out. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    BZ_CLEANUP(bz_mem_freep)
    struct bz_snapshot_head *head = bz_mem_zalloc(size + sizeof(*head));
    struct bz_recall r = {0};
    struct bz_err err;

    if (size < sizeof(*head))
        return 0;
    memcpy(head, data, size);
    bz_snapshot_sign(head);
    head->size = size;
    head->sum = bz_snapshot_sum(head, size);
    if (bz_snapshot_view(&r.old, bz_str_of((const char *)head, size), &err) < 0)
        return 0;
    check_facts(&r.old);
    for (size_t i = 0; i < MOST; i++) {
        const struct bz_snapshot_part *part =
            bz_snapshot_at(&r.old, BZ_SNAPSHOT_PARTS, i);

        if (part)
            check_part(&r, part);
    }
    bz_recall_close(&r);
    return 0;
}
