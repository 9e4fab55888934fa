/* filing.h - records beside stored results: what each of them was made from.
 *
 * When a build is over, the tasks that it has made results of are filed: one blob for
 * each recipe, with all its tasks (sig/record.h), to which the record of each result
 * leads (cache/action.h). Like results they go to the tiers, are signed and are
 * collected. Tasks that are noexec have records without results: others are traced
 * through them. retrieval.h finds all this again.
 *
 * A build that is killed files nothing: its results are as good, but nobody can tell
 * what they were made from.
 */
#ifndef BZ_BUILD_FILING_H
#define BZ_BUILD_FILING_H

#include "base/bitset.h"
#include "cache/cache.h"
#include "graph/tgraph.h"
#include "sig/record.h"

/* `r` has all tasks of the graph, by name; `made` those with a new result. */
int bz_filing_put(struct bz_cache *cache, const struct bz_record *r,
                  const struct bz_tgraph *graph, const struct bz_str *names,
                  const struct bz_bitset *made, struct bz_err *err) BZ_MUST_CHECK;

#endif
