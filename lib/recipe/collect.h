/* collect.h - all recipes there are: what BBFILES finds and BBMASK leaves.
 *
 * In BitBake's order: the patterns of BBFILES by the priority of the layer they
 * point into, and within a pattern by name. A later recipe of the same file
 * name hides an earlier one. One thread at a time: asking for appends counts them.
 */
#ifndef BZ_RECIPE_COLLECT_H
#define BZ_RECIPE_COLLECT_H

#include "recipe/layer.h"
#include "recipe/library.h"
#include "recipe/meta.h"

struct bz_collect_recipe {
    struct bz_str path;
    const struct bz_layer *layer; /* or NULL */
    bool hidden;                  /* by one of the same name in a stronger layer */
};

struct bz_collect_append {
    struct bz_str path;
    struct bz_str base; /* its file name with .bb; may contain one '%' */
    size_t recipes;     /* it applies to; counted by bz_collect_appends */
    size_t next;        /* the next one that is found by the same name, from 1; or 0 */
};

struct bz_collect {
    struct bz_arena arena;
    struct bz_collect_recipes BZ_VEC(struct bz_collect_recipe) recipes;
    struct bz_collect_all_appends BZ_VEC(struct bz_collect_append) appends;
    size_t masked;
    struct bz_meta_names looked_at; /* directories and files, each perhaps repeatedly */
    struct bz_map by_name;          /* base of an append -> the first of them, from 1 */
    struct bz_collect_lengths BZ_VEC(size_t) prefixes; /* lengths before a '%' */
};

int bz_collect_read(struct bz_collect *c, struct bz_meta *config,
                    const struct bz_layers *layers, struct bz_library *library,
                    struct bz_err *err) BZ_MUST_CHECK;
void bz_collect_release(struct bz_collect *c);

/* The appends of one recipe, in the order they apply, added to `out`. */
void bz_collect_appends(struct bz_collect *c, struct bz_str recipe,
                        struct bz_meta_names *out);

#endif
