/* tree_walk.h - through a loaded tree and a directory beside it, in parallel.
 *
 * What restoring a tree and checking one have in common: subdirectories and batches of
 * files are handed to whoever is free, an error names the way to where it happened, and
 * the first one stops the others.
 *
 * Functions of a walk run on workers, several at a time; a node is not shared.
 */
#ifndef BZ_CACHE_TREE_WALK_H
#define BZ_CACHE_TREE_WALK_H

#include "cache/tree_load.h"
#include "codec/reapi_name.h"

struct bz_tree_walk;

/* One place in the unfolded tree. */
struct bz_tree_walk_node {
    struct bz_tree_walk *walk;
    const struct bz_tree_walk_node *parent; /* NULL for the root */
    const struct bz_tree_load_dir *from;
    struct bz_str name;
    int fd; /* set by the walk's `enter` before it goes below */
};

struct bz_tree_walk_ops {
    /* Before a subdirectory is entered. 1: leave it out. Its name is the parent's. */
    int (*meet)(const struct bz_tree_walk_node *n, const char *name,
                struct bz_err *err);
    /* Opens the directory, does what is to be done in it, and calls
     * bz_tree_walk_below; at and name say where it is. */
    int (*enter)(struct bz_worker *w, struct bz_tree_walk_node *n, int at,
                 const char *name, struct bz_err *err);
    int (*file)(const struct bz_tree_walk_node *n, struct bz_digest_hasher *h,
                const struct bz_reapi_file *f, const char *name, struct bz_err *err);
};

struct bz_tree_walk {
    const struct bz_tree_walk_ops *ops;
    struct bz_cas *cas;
    const struct bz_tree_out *out;
    const struct bz_tree_load *tree;
    struct bz_crew crew; /* the walk's own */
};

/* All of the tree, of which `path` is the root. Returns the first error of a function.
 */
int bz_tree_walk(struct bz_tree_walk *walk, int dir, const char *path,
                 struct bz_err *err) BZ_MUST_CHECK;

/* The subdirectories and the files of a node; returns when all of them are done. */
void bz_tree_walk_below(struct bz_worker *w, const struct bz_tree_walk_node *n);

/* The permission bits that the directory of a node has to have, and a file in it. */
mode_t bz_tree_walk_mode(const struct bz_tree_walk_node *n);
mode_t bz_tree_walk_file_mode(const struct bz_tree_walk_node *n,
                              const struct bz_reapi_file *f);

/* A name as the system wants it; decoding has checked its length. */
struct bz_tree_walk_name {
    char s[BZ_REAPI_NAME_MAX + 1];
};
struct bz_tree_walk_name bz_tree_walk_name(struct bz_str s);

#endif
