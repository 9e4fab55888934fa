/* snapshot_write.h - puts what a survey found, and what it looked at, into the bytes of
 * a snapshot.
 *
 * A part at a time: begin, its recipes, end. Equal texts and lists are written once. Of
 * a path that is given repeatedly the first look counts.
 */
#ifndef BZ_SURVEY_SNAPSHOT_WRITE_H
#define BZ_SURVEY_SNAPSHOT_WRITE_H

#include "base/buf.h"
#include "base/map.h"
#include "survey/snapshot.h"

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
};

/* Notes looks that shall count before those to come. */
void bz_snapshot_write_looks(struct bz_snapshot_write *w,
                             const struct bz_snapshot_write_looks *looks);

/* Adds a recipe to the part under way. */
void bz_snapshot_write_recipe(struct bz_snapshot_write *w, const struct bz_facts *facts,
                              size_t n, const struct bz_snapshot_write_looks *looks);

/* Ends a part: all recipes since the last one are in it. */
struct bz_snapshot_write_part {
    struct bz_str mc, settings;
    const uint8_t *digest, *config; /* [32] */
    uint64_t masked;
    struct bz_snapshot_write_looks looks;
};
void bz_snapshot_write_part(struct bz_snapshot_write *w,
                            const struct bz_snapshot_write_part *part);

/* Makes the file of it, at `path`, in a directory that is made if need be. BZ_E_LIMIT
 * if it would be too large. */
int bz_snapshot_write_file(struct bz_snapshot_write *w, struct bz_str key,
                           const char *path, struct bz_err *err) BZ_MUST_CHECK;

/* The bytes of it alone. */
int bz_snapshot_write_bytes(struct bz_snapshot_write *w, struct bz_str key,
                            struct bz_buf *out, struct bz_err *err) BZ_MUST_CHECK;
void bz_snapshot_write_release(struct bz_snapshot_write *w);

/* Replaces bytes by others that are a snapshot, perhaps of the same length, at `path`:
 * sums them up first. */
int bz_snapshot_write_sealed(struct bz_buf *bytes, const char *path,
                             struct bz_err *err) BZ_MUST_CHECK;

#endif
