#include "survey/deltas.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "survey/snapshot_write.h"

enum {
    FRACTION = 4,     /* of the base: what deltas may come to */
    SMALL = 64 << 10, /* bytes: what they may come to in any case */
};

static const struct bz_entries_key base_key;

/* The key that follows an entry. */
static void follow(struct bz_entries_key *key, struct bz_str bytes)
{
    uint64_t own[] = {bz_entries_sum(bytes), bytes.n};
    char all[sizeof(*key) + sizeof(own)];

    memcpy(all, key, sizeof(*key));
    memcpy(all + sizeof(*key), own, sizeof(own));
    bz_entries_key_of(bz_str_of(all, sizeof(all)), key);
}

/* Puts the recipes of a delta in the place of earlier ones. */
static bool apply(struct bz_deltas *d, struct bz_snapshot *image)
{
    uint32_t all = bz_snapshot_count(bz_deltas_base(d), BZ_SNAPSHOT_RECIPES);
    uint32_t n = bz_snapshot_count(image, BZ_SNAPSHOT_RECIPES);

    for (uint32_t i = 0; i < n; i++) {
        const struct bz_snapshot_recipe *r =
            bz_snapshot_at(image, BZ_SNAPSHOT_RECIPES, i);

        if (r->replaces >= all)
            return false;
    }
    if (!d->recipes)
        d->recipes = bz_mem_array((size_t)all + 1, sizeof(d->recipes[0]));
    for (uint32_t i = 0; i < n; i++) {
        const struct bz_snapshot_recipe *r =
            bz_snapshot_at(image, BZ_SNAPSHOT_RECIPES, i);

        d->recipes[r->replaces] = (struct bz_deltas_place){image, r};
    }
    return true;
}

static void open_deltas(struct bz_deltas *d, struct bz_entries *catalog)
{
    BZ_VEC_RESERVE(&d->images, 1 + BZ_DELTAS_MAX); /* they must not move */
    for (size_t i = 0; i < BZ_DELTAS_MAX; i++) {
        struct bz_snapshot image = {0};
        struct bz_str bytes;
        struct bz_err err;

        if (!bz_entries_find(catalog, BZ_DELTAS_KIND, &d->last, &bytes))
            return;
        if (bz_snapshot_view(&image, bytes, &err) < 0) {
            bz_log_debug("survey", "a delta is not read: %s", err.msg);
            return;
        }
        BZ_VEC_PUSH(&d->images, image);
        if (!apply(d, &BZ_VEC_LAST(&d->images))) {
            d->images.len--;
            return;
        }
        d->keys[i] = d->last;
        d->bytes += bytes.n;
        follow(&d->last, bytes);
    }
}

int bz_deltas_open(struct bz_deltas *d, struct bz_entries *catalog, struct bz_err *err)
{
    struct bz_snapshot base = {0};
    struct bz_str bytes;
    int rc;

    *d = (struct bz_deltas){0};
    if (!bz_entries_find(catalog, BZ_DELTAS_BASE_KIND, &base_key, &bytes))
        return bz_fail(err, BZ_E_NOENT, "there is no snapshot");
    rc = bz_snapshot_view(&base, bytes, err);
    if (rc < 0)
        return rc;
    BZ_VEC_PUSH(&d->images, base);
    follow(&d->last, bytes);
    open_deltas(d, catalog);
    return 0;
}

void bz_deltas_close(struct bz_deltas *d)
{
    for (size_t i = 0; i < d->images.len; i++)
        bz_snapshot_close(&d->images.at[i]);
    bz_vec_release(&d->images);
    free(d->recipes);
    *d = (struct bz_deltas){0};
}

bool bz_deltas_recipe(const struct bz_deltas *d, size_t i, struct bz_deltas_place *out)
{
    *out = (struct bz_deltas_place){0};
    if (d->images.len == 0)
        return false;
    out->image = &d->images.at[0];
    out->record = bz_snapshot_at(out->image, BZ_SNAPSHOT_RECIPES, i);
    if (out->record && d->recipes && d->recipes[i].record)
        *out = d->recipes[i];
    return out->record;
}

bool bz_deltas_may_grow(const struct bz_deltas *d, size_t bytes)
{
    size_t base = d->images.len > 0 ? d->images.at[0].size : 0;
    size_t most = base / FRACTION > SMALL ? base / FRACTION : SMALL;

    return base > 0 && d->images.len - 1 < BZ_DELTAS_MAX && d->bytes + bytes <= most;
}

int bz_deltas_add(struct bz_deltas *d, struct bz_snapshot_write *w,
                  struct bz_entries *catalog, struct bz_err *err)
{
    struct bz_entries_key key = d->last;
    struct bz_str bytes;
    int rc = bz_snapshot_write_entry(w, (struct bz_str){0}, catalog, BZ_DELTAS_KIND,
                                     &key, err);

    if (rc == 0 && bz_entries_find(catalog, BZ_DELTAS_KIND, &key, &bytes)) {
        follow(&d->last, bytes);
        d->bytes += bytes.n;
    }
    return rc;
}

int bz_deltas_replace(struct bz_deltas *d, struct bz_snapshot_write *w,
                      struct bz_str key, struct bz_entries *catalog, struct bz_err *err)
{
    struct bz_str bytes;
    int rc =
        bz_snapshot_write_entry(w, key, catalog, BZ_DELTAS_BASE_KIND, &base_key, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i + 1 < d->images.len; i++)
        bz_entries_drop(catalog, BZ_DELTAS_KIND, &d->keys[i]);
    d->last = base_key;
    if (bz_entries_find(catalog, BZ_DELTAS_BASE_KIND, &base_key, &bytes))
        follow(&d->last, bytes);
    return 0;
}
