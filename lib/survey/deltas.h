/* deltas.h - the evaluation that the catalog remembers: a base and the deltas after it.
 *
 * The family "evaluation" of the catalog (codec/entries.h) has two halves. The hot half
 * is read by every command: facts and inputs of all recipes, as one image (snapshot.h),
 * the base, and a delta for each survey since that evaluated some of the recipes again.
 * So a survey after an edit writes O(what was edited). A new base replaces both when
 * recipes come or go, the configuration says something else, or the deltas have grown
 * to a fraction of the base. The cold half, tables and signatures, is read per recipe
 * (survey.h, sig/memo.h). recall.h has the rule of validity.
 *
 * A delta has the key that follows from all before it. So a chain ends at a delta that
 * is lost or damaged, never skips one, and two writers at a time do not mix theirs: the
 * survey that finds less evaluates more.
 */
#ifndef BZ_SURVEY_DELTAS_H
#define BZ_SURVEY_DELTAS_H

#include "codec/entry_kinds.h"
#include "survey/snapshot.h"

#define BZ_DELTAS_MAX 64 /* after one base */

struct bz_snapshot_write;

/* Where a recipe is. */
struct bz_deltas_place {
    struct bz_snapshot *image;
    const struct bz_snapshot_recipe *record;
};

struct bz_deltas {
    struct bz_deltas_images
        BZ_VEC(struct bz_snapshot) images; /* the base first; none: it is not open */
    struct bz_deltas_place *recipes; /* [recipes of the base]; NULL: all in the base */
    struct bz_entries_key last;      /* names all of it: the key of the next delta */
    struct bz_entries_key keys[BZ_DELTAS_MAX]; /* of the deltas */
    size_t bytes;                              /* of the deltas */
};

/* BZ_E_NOENT or BZ_E_CORRUPT if there is no base. The catalog must outlive it. */
int bz_deltas_open(struct bz_deltas *d, struct bz_entries *catalog,
                   struct bz_err *err) BZ_MUST_CHECK;
void bz_deltas_close(struct bz_deltas *d);

/* NULL: it is not open. */
static inline const struct bz_snapshot *bz_deltas_base(const struct bz_deltas *d)
{
    return d->images.len > 0 ? &d->images.at[0] : NULL;
}

/* Recipe i as it was evaluated last; false if there is none. */
bool bz_deltas_recipe(const struct bz_deltas *d, size_t i, struct bz_deltas_place *out);

/* Whether a delta of so many bytes may follow; else a new base is due. */
bool bz_deltas_may_grow(const struct bz_deltas *d, size_t bytes);

/* Adds a delta, or a new base in place of all. The catalog is not saved. What *d shows
 * does not change, but for its name. */
int bz_deltas_add(struct bz_deltas *d, struct bz_snapshot_write *w,
                  struct bz_entries *catalog, struct bz_err *err) BZ_MUST_CHECK;
int bz_deltas_replace(struct bz_deltas *d, struct bz_snapshot_write *w,
                      struct bz_str key, struct bz_entries *catalog,
                      struct bz_err *err) BZ_MUST_CHECK;

#endif
