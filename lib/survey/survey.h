/* survey.h - what there is: the facts about every recipe of a project.
 *
 * One part for each multiconfig, the default one first. Within a part recipes stand in
 * BitBake's order of files; the variants of a recipe come before it, the last by name
 * first. A recipe that fails is among them with its error, and the survey goes on.
 *
 * What was found is remembered in the catalog (deltas.h), with the variables of each
 * evaluated variant as a table (vars/vars_table.h): the cold half, an entry each, valid
 * by its key (lineage.h). If nothing has changed since, the next survey needs nothing
 * else: ask bz_survey_recall() first. Otherwise load the project and call
 * bz_survey_run(), which evaluates what it must. The result does not depend on the
 * number of threads, nor on what was remembered.
 */
#ifndef BZ_SURVEY_SURVEY_H
#define BZ_SURVEY_SURVEY_H

#include "codec/entries.h"
#include "recipe/collect.h"
#include "recipe/library.h"
#include "survey/facts.h"
#include "survey/pyfunc.h"
#include "survey/recall.h"
#include "survey/sweep.h"

/* A multiconfig, loaded: what its recipes are evaluated on. */
struct bz_survey_source {
    struct bz_str mc; /* "" for the default */
    struct bz_meta *config;
    const struct bz_layers *layers;
    struct bz_collect *recipes;
};

struct bz_survey_part {
    struct bz_str mc;
    struct bz_survey_facts BZ_VEC(struct bz_facts) facts;
    /* See bz_survey_settings. */
    struct bz_vars *settings;
    struct bz_str stored;
    bool owned;
    uint8_t config[32]; /* of all that it says, see recall.h; zero: not computed */
};

struct bz_survey {
    struct bz_survey_parts BZ_VEC(struct bz_survey_part) parts;
    size_t files;    /* recipes, each counted once for each multiconfig */
    size_t cached;   /* of these: known from an earlier run */
    size_t parsed;   /* evaluated now, also if that failed */
    size_t variants; /* facts in all parts but those with errors */
    size_t skipped;  /* of the variants */
    size_t masked;   /* files that BBMASK hides */
    size_t errors;   /* recipes that failed */
    /* Warnings, and what the parser says about wrong recipes: lines, in the order of
     * the recipes. What it says of other files is in the library. */
    struct bz_buf notes;
    struct bz_recall recall;
    struct bz_sweep_keeps keeps;
};

/* Where to remember. */
struct bz_survey_memory {
    struct bz_entries
        *catalog;      /* must outlive the survey; NULL: nothing is remembered */
    struct bz_str key; /* what else decides what the configuration says */
    struct bz_hashing *hashing; /* the one the library hashes with */
};

/* True if all is remembered and still holds: then *s has it. Otherwise *s has what
 * bz_survey_run() may use. In either case bz_survey_release must be called. */
bool bz_survey_recall(struct bz_survey *s, const struct bz_survey_memory *memory);

struct bz_survey_opts {
    const struct bz_survey_source *sources; /* must outlive the survey */
    size_t nsources;
    struct bz_sweep_opts sweep; /* the library must outlive the survey */
    struct bz_survey_memory memory;
};

/* Evaluates all recipes of the sources that have changed. On failure too,
 * bz_survey_release must be called. */
int bz_survey_run(struct bz_survey *s, const struct bz_survey_opts *opts,
                  struct bz_err *err) BZ_MUST_CHECK;
void bz_survey_release(struct bz_survey *s);

/* Adds the Python functions that are not run: of all recipes, and with `tasks` of their
 * tasks, too. Returns how many recipes have any. */
size_t bz_survey_python(const struct bz_survey *s, bool tasks,
                        struct bz_pyfunc_set *out);

/* The table of a variant, of the part that it is in, and the strings of the table
 * (vars/vars_table.h). False if there is none. They last as long as the catalog. */
bool bz_survey_table(const struct bz_survey *s, size_t part,
                     const struct bz_facts *facts, struct bz_entries *catalog,
                     struct bz_str *table, struct bz_str *strings);

/* The configuration of a part, for reading what provider choice asks: PREFERRED_*,
 * OVERRIDES and all else. Borrowed; it belongs to one thread at a time, and may be
 * copied with bz_vars_new(). */
int bz_survey_settings(struct bz_survey *s, size_t part, struct bz_vars **out,
                       struct bz_err *err) BZ_MUST_CHECK;

#endif
