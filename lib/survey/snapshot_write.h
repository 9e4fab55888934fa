/* snapshot_write.h - writes the image of a survey, a base or a delta (snapshot.h).
 *
 * A base: part by part its recipes, then the part. A delta: bz_snapshot_write_delta(),
 * the recipes that are others now, the inputs. Equal texts and lists are written once.
 * Of a path that is given repeatedly the first look counts.
 */
#ifndef BZ_SURVEY_SNAPSHOT_WRITE_H
#define BZ_SURVEY_SNAPSHOT_WRITE_H

#include "base/buf.h"
#include "base/map.h"
#include "codec/entries.h"
#include "survey/inputs.h"

/* Looks, and how many. */
struct bz_snapshot_write_looks {
    const struct bz_library_look *const *at;
    size_t n;
};

struct bz_snapshot_write {
    struct bz_buf tables[BZ_SNAPSHOT_TABLES];
    struct bz_map texts;   /* text -> its place, from 1 */
    struct bz_map inputs;  /* path -> its number, from 1 */
    struct bz_map tasks;   /* the address of a list -> its first record, from 1 */
    struct bz_map equal;   /* the bytes of such records -> their first, from 1 */
    struct bz_arena arena; /* keys of that */
    const struct bz_inputs *known; /* in a delta: the inputs so far */
    bool *replaced;                /* [known->n] */
    uint32_t ninputs;              /* numbers that are taken */
};

/* Makes it a delta to what has these inputs, which outlive it: those that have changed
 * are replaced by looks to come. */
void bz_snapshot_write_delta(struct bz_snapshot_write *w,
                             const struct bz_inputs *known);
/* Ends a delta: inputs with other stamps get these, and a changed input that was not
 * replaced is dropped, since nobody looks there any more. */
void bz_snapshot_write_inputs(struct bz_snapshot_write *w);

/* Notes looks that shall count before those to come. */
void bz_snapshot_write_looks(struct bz_snapshot_write *w,
                             const struct bz_snapshot_write_looks *looks);

/* Adds a recipe to the part under way, or to a delta: `replaces` is its number in the
 * base then. */
struct bz_snapshot_write_recipe {
    const struct bz_facts *facts;
    size_t n;
    struct bz_snapshot_write_looks looks;
    uint32_t replaces;
};
void bz_snapshot_write_recipe(struct bz_snapshot_write *w,
                              const struct bz_snapshot_write_recipe *recipe);

/* Ends a part: all recipes since the last one are in it. */
struct bz_snapshot_write_part {
    struct bz_str mc, settings;
    const uint8_t *digest, *config; /* [32] */
    uint64_t masked;
    struct bz_snapshot_write_looks looks;
};
void bz_snapshot_write_part(struct bz_snapshot_write *w,
                            const struct bz_snapshot_write_part *part);

/* Whether the image would be empty: a delta that says nothing. */
bool bz_snapshot_write_none(const struct bz_snapshot_write *w);

/* The image goes to the bytes of a buffer, or makes an entry of the catalog. BZ_E_LIMIT
 * if it would be too large. */
int bz_snapshot_write_bytes(struct bz_snapshot_write *w, struct bz_str key,
                            struct bz_buf *out, struct bz_err *err) BZ_MUST_CHECK;
int bz_snapshot_write_entry(struct bz_snapshot_write *w, struct bz_str key,
                            struct bz_entries *catalog, uint32_t kind,
                            const struct bz_entries_key *name,
                            struct bz_err *err) BZ_MUST_CHECK;
/* How many bytes it has, about. */
size_t bz_snapshot_write_size(const struct bz_snapshot_write *w);
void bz_snapshot_write_release(struct bz_snapshot_write *w);

#endif
