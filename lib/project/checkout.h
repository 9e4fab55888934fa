/* checkout.h - what is checked out in a repository's directory.
 *
 * Asks git, which knows every way a commit can be stored. Nothing is changed: not even
 * the index is refreshed. Mercurial is not asked.
 */
#ifndef BZ_PROJECT_CHECKOUT_H
#define BZ_PROJECT_CHECKOUT_H

#include <stdbool.h>

#include "base/arena.h"

struct bz_repo;

struct bz_checkout {
    struct bz_str commit; /* its full hash; p == NULL if there is none yet */
    struct bz_str branch; /* p == NULL if HEAD is detached */
    bool changed;         /* files that git tracks differ from the commit */
};

/* BZ_E_NOENT if the directory is no git repository (or not there), BZ_E_TIMEOUT if git
 * does not answer. The texts are in the arena. */
int bz_checkout_read(struct bz_arena *arena, const struct bz_repo *repo,
                     struct bz_checkout *out, struct bz_err *err) BZ_MUST_CHECK;

/* The commit that came from upstream: HEAD, unless kas has put patches on top of it.
 * BZ_E_INVAL if there is none. */
int bz_checkout_upstream(const struct bz_checkout *c, const struct bz_repo *repo,
                         struct bz_str *out, struct bz_err *err) BZ_MUST_CHECK;

#endif
