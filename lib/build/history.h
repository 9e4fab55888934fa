/* history.h - what is kept of a build to tell later why its tasks ran. */
#ifndef BZ_BUILD_HISTORY_H
#define BZ_BUILD_HISTORY_H

#include "cache/cache.h"
#include "sig/signing.h"
#include "survey/catalog.h"

struct bz_history {
    struct bz_catalog *p;
    const struct bz_goal *goal;
    const struct bz_signing *signing;
    const struct bz_str *names;        /* [tasks] */
    const struct bz_bitset *made;      /* tasks with a result that was not there */
    const struct bz_cache_opts *store; /* what `cache` was opened with */
    struct bz_cache *cache;
    int64_t wall; /* when the build began */
    bool whole;   /* no task failed */
    bool alone;   /* there was no result before, here or in a tier */
};

/* Keeps the record of a build that ran something beside it, for `report` and, if it is
 * whole, for `why` to compare with; and beside the results that it has made, wherever
 * they are used. Of the first build in a directory also what stored results were made
 * from, if others have stored any. `s` is what the tasks were signed with. */
int bz_history_keep(const struct bz_history *b, const struct bz_signing *s,
                    struct bz_err *err) BZ_MUST_CHECK;

#endif
