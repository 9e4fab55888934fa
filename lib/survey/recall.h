/* recall.h - what an earlier survey found, as far as it still holds.
 *
 * The rule of validity of the family "evaluation" (deltas.h): a recipe's facts hold
 * while the configuration says what it said, the recipe has the same appends and layer,
 * and every input has the same content: the files that were read, the directories and
 * names that were looked for. All of it holds, and not even the configuration need be
 * read, while also the inputs of the configuration are as they were, and the key, which
 * has the rest that decides: the environment that passes through and the options.
 */
#ifndef BZ_SURVEY_RECALL_H
#define BZ_SURVEY_RECALL_H

#include "survey/inputs.h"

struct bz_recall {
    struct bz_deltas old; /* not open: there is nothing to recall */
    struct bz_inputs inputs;
    bool same_key;
};

/* What a configuration says, as a digest and as records for bz_recall_settings. Of the
 * variables in BZ_ENVIRON_VARYING and BZ_ENVIRON_USER those that are in
 * BB_HASHCONFIG_IGNORE_VARS count only in `all`, and not even there if they never count
 * for a key: those in BB_BASEHASH_IGNORE_VARS, and who builds, unless the metadata
 * says. */
struct bz_recall_config {
    uint8_t digest[32], all[32];
    struct bz_buf settings;
};

/* Opens what the catalog has, which must outlive it, and looks at the inputs. If there
 * is nothing, or it is no good, nothing is recalled. */
void bz_recall_open(struct bz_recall *r, struct bz_entries *catalog, struct bz_str key,
                    struct bz_hashing *hashing);
static inline bool bz_recall_is_open(const struct bz_recall *r)
{
    return bz_deltas_base(&r->old) != NULL;
}
void bz_recall_close(struct bz_recall *r);

/* Whether all of it holds. */
bool bz_recall_whole(const struct bz_recall *r);

/* Saves stamps that were renewed, so that they need not be again. If a delta has no
 * room for them, it is time for a new base, which takes a survey. */
bool bz_recall_may_renew(const struct bz_recall *r);
void bz_recall_renew(struct bz_recall *r, struct bz_entries *catalog);

int bz_recall_config(struct bz_meta *config, struct bz_recall_config *out,
                     struct bz_err *err) BZ_MUST_CHECK;

/* A store with these settings; the caller frees *out. BZ_E_CORRUPT. */
int bz_recall_settings(struct bz_str settings, struct bz_vars **out,
                       struct bz_err *err) BZ_MUST_CHECK;

/* A part of the base by its name, if its configuration had that digest. */
struct bz_recall_part {
    const struct bz_snapshot_part *record; /* NULL: there is none */
    struct bz_map recipes;                 /* path -> number, from 1 */
};
void bz_recall_part(struct bz_recall *r, struct bz_str mc, const uint8_t digest[32],
                    struct bz_recall_part *out);
void bz_recall_part_release(struct bz_recall_part *part);

/* What was found about a recipe: its facts, and what was looked at. */
struct bz_recall_recipe {
    struct bz_facts *facts;
    size_t nfacts;
    const struct bz_library_look **looks;
    size_t nlooks;
    bool reframed; /* what is not its own differs from what is remembered */
};

/* The number of a recipe in the base, by its path. */
bool bz_recall_number(const struct bz_recall_part *part, struct bz_str path,
                      uint32_t *out);

/* The recipe whose first facts are known, `frame`, if what was found still holds. Lies
 * in the arena and in the catalog. */
bool bz_recall_recipe(struct bz_recall *r, const struct bz_recall_part *part,
                      const struct bz_facts *frame, struct bz_arena *arena,
                      struct bz_recall_recipe *out);

#endif
