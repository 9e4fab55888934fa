/* lookup.h - results by key, from the local store and its tiers.
 *
 * For the files of this module only. What the store has is read at once. Tiers are
 * asked for all others together, on the io lane, and what they have is fetched there,
 * one result after another, for many name the same blobs. The thread that has the build
 * waits, but hears the user meanwhile.
 */
#ifndef BZ_EXEC_LOOKUP_H
#define BZ_EXEC_LOOKUP_H

#include "exec/state.h"

struct bz_lookup {
    uint32_t task;
    struct bz_digest key;
    bool found;
    struct bz_reapi_result result; /* if found, as long as *x */
};

/* Fills in what is found. When the user interrupts, what is not found by then is not
 * looked for. */
void bz_lookup_all(struct bz_exec *x, struct bz_lookup *at, size_t n);

/* Of the arenas that results lie in. */
void bz_lookup_release(struct bz_exec *x);

#endif
