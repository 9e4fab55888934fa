/* refs.h - what an expansion has read: the dependencies a signature is made of.
 *
 * Variables by ${X} or getVar("X"), functions called, and, for the contains family, the
 * items that were asked for: X is then not a dependency as a whole, only whether it has
 * those items is.
 */
#ifndef BZ_VARS_REFS_H
#define BZ_VARS_REFS_H

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"

struct bz_refs {
    struct bz_arena *arena; /* the caller's; names are copied into it */
    struct bz_map reads;    /* names of variables */
    struct bz_map execs;    /* names of functions called by expressions */
    struct bz_map contains; /* variable -> struct bz_map * of items */
};

void bz_refs_init(struct bz_refs *r, struct bz_arena *arena);
void bz_refs_release(struct bz_refs *r);
void bz_refs_read(struct bz_refs *r, struct bz_str name);
void bz_refs_exec(struct bz_refs *r, struct bz_str name);
void bz_refs_contains(struct bz_refs *r, struct bz_str name, struct bz_str item);
/* Asks the variable for no item at all: it is in `contains`, with an empty map. */
void bz_refs_watch(struct bz_refs *r, struct bz_str name);
/* Forgets what the variable was asked for before. */
void bz_refs_contains_only(struct bz_refs *r, struct bz_str name, struct bz_str item);

#endif
