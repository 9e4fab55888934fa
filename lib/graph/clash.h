/* clash.h - recipes of one graph that provide the same name.
 *
 * What they build would be put in the same place. BitBake refuses two versions of one
 * recipe, and complains about recipes of different names unless
 * BB_MULTI_PROVIDER_ALLOWED has the name they share.
 */
#ifndef BZ_GRAPH_CLASH_H
#define BZ_GRAPH_CLASH_H

#include "graph/tgraph.h"

struct bz_clash {
    size_t names;  /* that more than one recipe of the graph provides */
    bool versions; /* two of them are versions of one recipe */
};

/* Adds to `out` for each such name which recipes they are, what waits for each, and
 * what to set. */
struct bz_clash bz_clash_find(const struct bz_tgraph *g, const struct bz_need *need,
                              struct bz_buf *out);

#endif
