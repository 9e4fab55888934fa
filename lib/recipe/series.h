/* series.h - which release series layers say they work with.
 *
 * LAYERSERIES_COMPAT_x is taken away after each layer.conf is read, so that a
 * layer cannot copy the answer of another, and set again at the end.
 */
#ifndef BZ_RECIPE_SERIES_H
#define BZ_RECIPE_SERIES_H

#include "recipe/meta.h"

struct bz_series_layer {
    struct bz_str collection, compat; /* compat.p == NULL: it does not say */
};

struct bz_series {
    struct bz_series_layers BZ_VEC(struct bz_series_layer) layers;
    struct bz_str core; /* LAYERSERIES_CORENAMES of the first layer that has it */
};

/* After a layer.conf has been read. */
int bz_series_collect(struct bz_series *s, struct bz_meta *m,
                      struct bz_err *err) BZ_MUST_CHECK;

/* After the last: fails if a layer does not fit, warns if it does not say, and
 * puts the variables back. */
int bz_series_check(struct bz_series *s, struct bz_meta *m,
                    struct bz_err *err) BZ_MUST_CHECK;
void bz_series_release(struct bz_series *s);

#endif
