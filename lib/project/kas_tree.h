/* kas_tree.h - the contents of several project files, merged into one tree.
 *
 *   1. Maps are merged key by key, at every level. Any other value, lists included,
 *      replaces what was there.
 *   2. A key keeps the position in which it was first added.
 *   3. Every value remembers the file and place it comes from; a merged map has those
 *      of the file that was added last.
 *
 * The trees of the files are not changed and have to outlive this one. Single-threaded
 * while files are added; after that any number of threads may read.
 */
#ifndef BZ_PROJECT_KAS_TREE_H
#define BZ_PROJECT_KAS_TREE_H

#include "base/arena.h"
#include "base/map.h"
#include "codec/doc.h"
#include "project/kas_place.h"

enum { BZ_KAS_TREE_NODES = 1 << 20 }; /* values added to one tree before BZ_E_LIMIT */

struct bz_kas_node {
    const struct bz_doc *doc; /* type and place; contents, unless it is a map */
    const char *file;         /* as in struct bz_kas_place */
    struct bz_map kids;       /* of a map: key to struct bz_kas_node, in order */
};

struct bz_kas_tree {
    struct bz_arena *arena;
    struct bz_kas_node *root; /* NULL until a file is added; then a map */
    size_t nodes;
};

/* A string of a project with its place; text.p is NULL if there is none. */
struct bz_kas_value {
    struct bz_str text;
    struct bz_kas_place at;
};

/* Merges a file, which is a map, over those before it. */
int bz_kas_tree_add(struct bz_kas_tree *tree, const struct bz_doc *doc,
                    const char *file, struct bz_err *err) BZ_MUST_CHECK;
void bz_kas_tree_release(struct bz_kas_tree *tree);

/* The item of a map with this key. NULL if there is none, if `map` is no map, and if it
 * is NULL, so that calls can be nested. */
const struct bz_kas_node *bz_kas_tree_get(const struct bz_kas_node *map,
                                          const char *key);
const struct bz_kas_node *bz_kas_tree_get_str(const struct bz_kas_node *map,
                                              struct bz_str key);

struct bz_kas_place bz_kas_tree_place(const struct bz_kas_node *node);

/* The string that the item of a map is; none if it is missing or anything else. */
struct bz_kas_value bz_kas_tree_value(const struct bz_kas_node *map, const char *key);

#endif
