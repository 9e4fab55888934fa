/* evaluate.h - the variables of a recipe of the catalog.
 *
 * A recipe is evaluated once, by the survey, which keeps its variables as a table in
 * the catalog; they are read from there. A recipe without a table is evaluated: one
 * that must not be remembered, and any if the catalog was lost. One thread, but for
 * bz_evaluate_table().
 */
#ifndef BZ_SURVEY_EVALUATE_H
#define BZ_SURVEY_EVALUATE_H

#include "survey/catalog.h"

struct bz_evaluated {
    struct bz_vars *vars;
    /* This file's own: what owns them. */
    struct bz_finalize *finalize;
    struct bz_vars *read;
};

/* The variables of a recipe that the survey has seen, `part` being its configuration.
 * Loads the configurations if they were not. BZ_E_BUSY if the recipe has changed since
 * the survey and has no table. Release *out in any case. */
int bz_evaluate_recipe(struct bz_catalog *p, size_t part, const struct bz_facts *facts,
                       struct bz_evaluated *out, struct bz_err *err) BZ_MUST_CHECK;
void bz_evaluate_release(struct bz_evaluated *e);

/* A table as the survey has it (survey/survey.h); table.p is NULL if it has none. */
struct bz_evaluate_table {
    struct bz_str table, strings;
};
void bz_evaluate_find(struct bz_catalog *p, size_t part, const struct bz_facts *facts,
                      struct bz_evaluate_table *out);

/* The variables of a table; the configurations are loaded. BZ_E_CORRUPT. Any thread. */
int bz_evaluate_read(const struct bz_catalog *p, size_t part,
                     const struct bz_evaluate_table *table, struct bz_evaluated *out,
                     struct bz_err *err) BZ_MUST_CHECK;

#endif
