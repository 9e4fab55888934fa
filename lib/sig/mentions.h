/* mentions.h - which of some names stand in a text as words of their own. */
#ifndef BZ_SIG_MENTIONS_H
#define BZ_SIG_MENTIONS_H

#include "base/bitset.h"
#include "base/map.h"

/* Sets the numbers, the values in `names`, of those that are in the text. */
void bz_mentions_find(struct bz_str text, const struct bz_map *names,
                      struct bz_bitset *found);

/* Whether a reference has another in its name: ${A_${B}}. */
bool bz_mentions_nested(struct bz_str text);

#endif
