/* tree_load.h - a stored tree in memory, checked before anything is made of it.
 *
 *   1. Every directory that one names is there.
 *   2. No path is deeper than BZ_TREE_DEPTH, and unfolded it has at most
 *      BZ_TREE_ENTRIES entries: a directory may be named by several others, so that a
 *      small message could stand for a tree without end.
 */
#ifndef BZ_CACHE_TREE_LOAD_H
#define BZ_CACHE_TREE_LOAD_H

#include "cache/tree.h"

struct bz_tree_load_dir {
    struct bz_arena a; /* of it and some of those after it, decoded by one worker */
    struct bz_reapi_dir dir;
    struct bz_digest hash;
    uint32_t *subs;   /* for each of dir.dirs, its place in the tree */
    uint64_t entries; /* it and all below it, unfolded; 0 while not known */
    uint32_t height;
    struct bz_tree_stats sum; /* of the same */
};

struct bz_tree_load {
    char *bytes;
    struct bz_arena a;             /* of what joins the directories */
    struct bz_tree_load_dir *dirs; /* the root first */
    size_t ndirs;
};

/* Errors as of bz_tree_restore. */
int bz_tree_load(struct bz_cas *cas, const struct bz_reapi_digest *tree,
                 const struct bz_crew_threads *threads, struct bz_tree_load *out,
                 struct bz_err *err) BZ_MUST_CHECK;
void bz_tree_load_release(struct bz_tree_load *t); /* fine on a failed load */

/* The permission bits of a file of it. */
mode_t bz_tree_load_mode(const struct bz_reapi_file *f);

#endif
