/* layer_depend.h - layers that need each other: LAYERDEPENDS and LAYERRECOMMENDS.
 *
 * For layer.c. A layer that is needed must be there, in a version that fits; one that
 * is only recommended counts if it is. Both decide about priorities that are not given.
 */
#ifndef BZ_RECIPE_LAYER_DEPEND_H
#define BZ_RECIPE_LAYER_DEPEND_H

#include "recipe/layer.h"

/* Checks what the layers need and works out the priorities that are missing. BZ_E_INVAL
 * for a layer that is not there or too old, and for a circle. Of several problems all
 * but the last are logged. */
int bz_layer_depend_resolve(struct bz_layers *l, struct bz_err *err) BZ_MUST_CHECK;

#endif
