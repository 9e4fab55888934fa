/* pick.h - one recipe by its name, without knowing all of them.
 *
 * Evaluates only recipes whose file names fit and takes the one that would be built, as
 * prefer.h says. A recipe that calls itself otherwise than its file is found if its
 * file's name is a part of its own.
 */
#ifndef BZ_GRAPH_PICK_H
#define BZ_GRAPH_PICK_H

#include "recipe/collect.h"
#include "recipe/finalize.h"
#include "recipe/library.h"

/* Where to look; all of it must outlive what is picked. */
struct bz_pick_from {
    const struct bz_meta *config;
    struct bz_library *library;
    struct bz_collect *recipes;
};

/* The recipe or variant called `name` (its PN), evaluated; the caller owns *out, and
 * *meta is the part of it that was asked for. BZ_E_NOENT if no recipe is called so, or
 * none that is not skipped or has a version that is required. Recipes that cannot be
 * evaluated are an error only if nothing else is left. */
int bz_pick_recipe(const struct bz_pick_from *from, struct bz_str name,
                   struct bz_finalize **out, struct bz_meta **meta,
                   struct bz_err *err) BZ_MUST_CHECK;

#endif
