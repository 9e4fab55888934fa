/* finalize.h - what happens when a recipe has been read to its end, and its
 * variants.
 *
 * Deferred classes are inherited, names that contain ${...} are expanded, and
 * the task list is made. BBCLASSEXTEND gives a recipe variants (foo-native),
 * each finalized on a copy of what had been read.
 *
 * Anonymous Python functions run between these steps in BitBake. They are in
 * meta->anonymous and do not run here: survey/pyfunc.h lists them.
 */
#ifndef BZ_RECIPE_FINALIZE_H
#define BZ_RECIPE_FINALIZE_H

#include "recipe/eval.h"

struct bz_finalize_variant {
    struct bz_str name; /* "" for the recipe itself, else as in BBCLASSEXTEND */
    struct bz_meta *meta;
};

struct bz_finalize {
    struct bz_meta *read; /* the recipe before it was finalized */
    struct bz_finalize_variants BZ_VEC(struct bz_finalize_variant) variants;
};

struct bz_finalize_opts {
    struct bz_str path;                  /* of the recipe, absolute */
    struct bz_str layer;                 /* its collection, or p == NULL */
    const struct bz_meta_names *appends; /* paths in order; may be NULL */
    struct bz_buf *notes;                /* as of struct bz_eval; may be NULL */
    const struct bz_eval_watch *watch;   /* likewise */
    struct bz_str only; /* no variant but this one; "" for none, p == NULL for all */
};

/* Evaluates a recipe with its appends on a copy of the configuration, and finalizes it
 * and its variants, itself first. On success the caller owns *out; the configuration
 * and the library must outlive it. */
int bz_finalize_recipe(const struct bz_meta *config, struct bz_library *library,
                       const struct bz_finalize_opts *opts, struct bz_finalize **out,
                       struct bz_err *err) BZ_MUST_CHECK;
/* The variant of that name, "" for the recipe itself; NULL if there is none. */
struct bz_meta *bz_finalize_variant(const struct bz_finalize *f, struct bz_str name);

void bz_finalize_free(struct bz_finalize *f); /* NULL is allowed */
void bz_finalize_freep(struct bz_finalize **f);

#endif
