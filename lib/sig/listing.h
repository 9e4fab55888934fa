/* listing.h - the inputs of signed tasks, by name and value.
 *
 * The inputs are listed from the recipes' tables, as signed. Nothing is signed again,
 * and no file is looked at: files, revisions and sandboxes are those of the signing.
 * One thread.
 */
#ifndef BZ_SIG_LISTING_H
#define BZ_SIG_LISTING_H

#include "sig/signing.h"

/* The inputs of one task. Everything lasts for the call that shows it. */
struct bz_listing_view {
    const struct bz_taskspec_inputs *inputs;
    const struct bz_base_inputs *origins; /* the variables that these are made from */
    struct bz_vars *vars; /* the recipe's store: where values came from, say */
    const struct bz_base_files *files;
    struct bz_str policy; /* what its sandbox is like */
    const struct bz_signing_commits *commits;
};

typedef void (*bz_listing_fn)(void *ctx, uint32_t task,
                              const struct bz_listing_view *view);

/* Calls fn for each of the tasks, NULL: for all, in the order of the graph. A task that
 * cannot be listed as it was signed is left out, with a line in the debug log: the
 * sources of a recipe may have gone since. The message of a failure names the recipe.
 */
int bz_listing_run(const struct bz_signing *s, struct bz_catalog *p,
                   const struct bz_goal *goal, const struct bz_bitset *tasks,
                   bz_listing_fn fn, void *ctx, struct bz_err *err) BZ_MUST_CHECK;

#endif
