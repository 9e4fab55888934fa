/* reindex.h - an index from what lies in the store.
 *
 * Reads names, sizes and times of all blobs, and all results and the trees they name.
 * What is damaged is passed over; what a result says about itself (labels, duration)
 * comes back, the number of hits does not.
 */
#ifndef BZ_CACHE_REINDEX_H
#define BZ_CACHE_REINDEX_H

#include "cache/cas.h"
#include "cache/index.h"
#include "pool/cancel.h"

struct bz_reindex_stats {
    uint64_t blobs, actions;
};

/* A store is indexed in parts, by the first byte of a name, and a part is noted when it
 * is done: who is stopped goes on there the next time. */

/* Does what is left. Stops soon, and succeeds, when the token, which may be NULL, says
 * so. Others may use the index meanwhile. */
int bz_reindex_fill(struct bz_cas *cas, struct bz_index *index,
                    struct bz_cancel *cancel, struct bz_reindex_stats *stats,
                    struct bz_err *err) BZ_MUST_CHECK;

/* Forgets what the index holds and fills it. */
int bz_reindex(struct bz_cas *cas, struct bz_index *index,
               struct bz_reindex_stats *stats, struct bz_err *err) BZ_MUST_CHECK;

/* Notes one result. */
void bz_reindex_result(struct bz_index *index, const struct bz_digest *key,
                       const struct bz_reapi_result *r, int64_t used);

/* What a result says about itself: a label (action.h), empty if it has none, and how
 * long it took to make, in ns, 0 if it does not tell. */
struct bz_str bz_reindex_label(const struct bz_reapi_result *r, struct bz_str type);
int64_t bz_reindex_duration(const struct bz_reapi_result *r);

#endif
