/* build_record.h - what is kept of a build to tell later why its tasks ran. */
#ifndef BZ_CMD_BUILD_RECORD_H
#define BZ_CMD_BUILD_RECORD_H

#include "cache/cache.h"
#include "out.h"
#include "pipeline/pipeline.h"
#include "pipeline/signing.h"

struct bz_build_record {
    struct bz_pipeline *p;
    const struct bz_goal *goal;
    const struct bz_str *names;        /* [tasks] */
    const struct bz_bitset *made;      /* tasks with a result that was not there */
    const struct bz_cache_opts *store; /* what `cache` was opened with */
    struct bz_cache *cache;
    int64_t wall; /* when the build began */
    bool whole;   /* no task failed */
};

/* Keeps the record of a build that ran something beside it, for `report` and, if it is
 * whole, for `why` to compare with; and beside the results that it has made, wherever
 * they are used. Of the first build in a directory also what stored results were made
 * from, if others have stored any. What cannot be kept is a warning. */
void bz_build_record_keep(const struct bz_build_record *b, struct bz_out *log);

#endif
