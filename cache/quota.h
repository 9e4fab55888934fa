/* quota.h - collects by itself when a store has outgrown its limits.
 *
 * Keeps an estimate of the store's size: from the index and of what builds have laid
 * out, once, and what this process adds. As long as that is below the limits, a note
 * costs a lock and, with min_free, one system call. Above, a collection (gc.h) brings
 * the store down to nine tenths of max_size, on the pool's io lane if there is one. Of
 * the processes of a machine one collects at a time, and none spends more than a
 * twentieth of its time on it: if everything is in use, the store stays too large, and
 * that is said once.
 *
 * A limit may be a share. That of max_size is of the room that other files leave: what
 * is free, and what the store takes. So a store that may have half of it never fills a
 * disk, and gives way to what others put there. That of min_free is of the file system.
 *
 * Any thread may note; one owner opens and closes.
 */
#ifndef BZ_CACHE_QUOTA_H
#define BZ_CACHE_QUOTA_H

#include "base/sync.h"
#include "cache/gc.h"

struct bz_quota {
    struct bz_cas *cas;
    struct bz_index *index;
    struct bz_pool *pool; /* or NULL */
    const char *lock;     /* of this machine's collectors; or NULL: there is none */
    struct bz_gc_policy policy; /* max_size is 0 if it is a share: */
    unsigned share;             /* per cent; or 0 */
    int64_t grace;              /* as of bz_gc_opts */

    struct bz_sync_mutex mu;
    struct bz_sync_cond idle;
    bool known;         /* mu; `bytes` counts all, not only what was added */
    uint64_t bytes;     /* mu */
    bool running;       /* mu */
    bool said;          /* mu */
    int64_t not_before; /* mu; bz_clock_now() */
    uint64_t runs;      /* mu */
    struct bz_pool_item item;
};

struct bz_quota_opts {
    int64_t max_size, min_free; /* 0: no limit; negative: a share, in per cent */
    int64_t max_age;            /* no reason to begin, but observed then; 0: any */
    const char *lock;           /* borrowed */
};

/* On zeroed memory. All that it is given outlives it. */
void bz_quota_open(struct bz_quota *q, struct bz_cas *cas, struct bz_index *index,
                   struct bz_pool *pool, const struct bz_quota_opts *opts);
/* Waits for a collection that is under way. Not for workers of the pool. */
void bz_quota_close(struct bz_quota *q);

/* Whether there is a limit at all: otherwise nobody needs to measure anything. */
bool bz_quota_limits(const struct bz_quota *q);

/* What a setting of max_size or min_free comes to for a store that takes `bytes`. */
uint64_t bz_quota_max_size(const struct bz_cas *cas, int64_t setting, uint64_t bytes);
uint64_t bz_quota_min_free(const struct bz_cas *cas, int64_t setting);
/* What a store takes on its disk, as far as the index knows, with what builds have laid
 * out. */
uint64_t bz_quota_estimate(struct bz_cas *cas, struct bz_index *index);

/* So many bytes were stored, some of which may have been there. Collects if it is time;
 * without a pool, before it returns. */
void bz_quota_note(struct bz_quota *q, uint64_t bytes);

#endif
