/* deps_item.h - what one variable, function or flag depends on; a part of deps.c. */
#ifndef BZ_SIG_DEPS_ITEM_H
#define BZ_SIG_DEPS_ITEM_H

#include "sig/deps.h"

/* Fills *deps with the names, and *value; both live as long as *d and its store. */
int bz_deps_item_read(struct bz_deps *d, struct bz_str name, struct bz_map *deps,
                      struct bz_str *value, struct bz_err *err) BZ_MUST_CHECK;

#endif
