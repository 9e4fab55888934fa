/* layer.h - collections: which layer a file belongs to, and which layer wins.
 *
 * A collection is a layer's name with a pattern for its files and a priority,
 * given or worked out from the layers it depends on. Read once the
 * configuration is complete; afterwards one thread at a time may ask.
 */
#ifndef BZ_RECIPE_LAYER_H
#define BZ_RECIPE_LAYER_H

#include "codec/regex.h"
#include "recipe/meta.h"

struct bz_layer_order BZ_VEC(size_t);

struct bz_layer {
    struct bz_str name;
    struct bz_str pattern;       /* BBFILE_PATTERN_name */
    struct bz_str version;       /* LAYERVERSION_name, or p == NULL */
    struct bz_str depends;       /* LAYERDEPENDS_name */
    struct bz_str recommends;    /* LAYERRECOMMENDS_name */
    struct bz_str dir;           /* of its conf/layer.conf, or p == NULL: not known */
    struct bz_layer_order below; /* the layers of these two lists that are there */
    struct bz_regex *regex;      /* NULL: the pattern is empty and matches nothing */
    int64_t priority;
    bool has_priority;
};

struct bz_layers {
    struct bz_layer_vec BZ_VEC(struct bz_layer) all; /* as in BBFILE_COLLECTIONS */
    struct bz_layer_order nested;                    /* inner layers first */
    int64_t least;                                   /* of the priorities given, or 0 */
    struct bz_arena arena;
};

/* BZ_E_INVAL for a missing or wrong pattern, a priority that is no number, and
 * a layer that depends on one that is not there or has the wrong version. */
int bz_layer_read(struct bz_layers *l, struct bz_meta *m,
                  struct bz_err *err) BZ_MUST_CHECK;
void bz_layer_release(struct bz_layers *l);

/* The layer of a file, or NULL. */
const struct bz_layer *bz_layer_of(const struct bz_layers *l, struct bz_str path);

/* Whether `path` belongs to the collection `name`, while the configuration is
 * still being read. */
int bz_layer_owns(struct bz_meta *m, struct bz_str name, struct bz_str path, bool *out,
                  struct bz_err *err) BZ_MUST_CHECK;

#endif
