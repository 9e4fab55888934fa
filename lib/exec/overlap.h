/* overlap.h - tasks that do not wait for each other but write the same path
 * differently.
 *
 * Where a task sees the output of both, the one that happens to come later in the order
 * wins: a mistake of the recipes, which is told (BZ_EVENT_OVERLAP), once for each two
 * tasks, with the first path. The same content of the same kind and mode is fine, and
 * so are directories of both, unless one takes away what was there. Taking away what
 * another writes is writing it differently, too.
 *
 * Trees are looked into when they first lie beside one that is in no order with them,
 * once in a build. For the files of this module only. One thread.
 */
#ifndef BZ_EXEC_OVERLAP_H
#define BZ_EXEC_OVERLAP_H

#include "base/arena.h"
#include "base/bitset.h"
#include "base/map.h"
#include "base/vec.h"

struct bz_overlap_clash {
    uint32_t a, b; /* tasks, a before b */
    struct bz_str path;
    size_t more; /* paths */
    bool settled;
};

struct bz_overlap_clashes BZ_VEC(struct bz_overlap_clash);

struct bz_overlap {
    struct bz_arena arena;
    struct bz_map order; /* two tasks -> whether one waits for the other */
    struct bz_map read;  /* trees that were looked into, with their tasks */
    struct bz_map paths; /* who wrote what */
    struct bz_map pairs; /* two tasks -> their clash, from 1 */
    struct bz_overlap_clashes clashes;
    size_t told;
    size_t most; /* paths that are compared; 0: as many as can be expected */
    bool full;   /* there were more, which has been said */
};

struct bz_exec;
struct bz_output;

/* Tells of what a task is about to see. */
void bz_overlap_check(struct bz_exec *x, const struct bz_output *handed);
void bz_overlap_release(struct bz_overlap *o);

#endif
