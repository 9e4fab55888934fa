/* gc.h - what to drop from a store, and dropping it while others work with it.
 *
 * A policy names results to drop; then go the blobs that no result names any more. What
 * is big, quick to make again and long unused goes first. Works from the files alone.
 * Before any result go trees that builds have laid out (expanded.h), the longest unused
 * first, and so do those that would keep the bytes of a blob that goes. What failed
 * tasks have left goes with the trees, and after a week in any case.
 *
 * The promise: a result that is there after a collection has its blobs, also if others
 * store meanwhile, on other machines too, and if the collector is killed at any moment.
 * Why it holds:
 *
 *   1. The collector reads the file system's clock (T) and then the leases. The limit
 * is the earlier one of T and the oldest lease's begin, less a grace period that is
 *      longer than BZ_SHELF_TOUCH. What was used since the limit stays.
 *   2. A writer has its lease before it relies on anything, and until its last result
 * is published. What it relies on it published itself or claimed (shelf.h): so that was
 * used, by its access time, at most BZ_SHELF_TOUCH before.
 *   3. If the collector saw the writer's lease, that is after the limit by (1). If not,
 *      the writer began after T, and it is after the limit again, or the writer was
 *      done: then its results were there before the collector looked for results, and
 *      what they name is not dropped.
 *   4. Whether something was used is seen in the very moment in which it is taken away:
 *      a claim either comes before that, and the file comes back, or fails (trash.h).
 *      A result that comes back keeps its blobs, since blobs go after all results.
 *   5. Who gets a result has claimed it. So it stays until the getter is done with it,
 *      and with it the blobs that another result of the getter's may name.
 *   6. Results go first. A collector that is killed leaves blobs that no result names,
 *      and at most one file in the trash, which is read from there and put back.
 *
 * That counts for whoever goes by (2). Other programs in the same directory, and users
 * who may not touch each other's files, have the grace period. Who writes through a web
 * server has neither lease nor touch for a blob that he finds there: results are looked
 * for once more before blobs go, and he looks at such blobs again after his result
 * (tiers.c). What remains is a result that comes while blobs are being removed: it may
 * lose one that was removed after that second look, and is a miss.
 */
#ifndef BZ_CACHE_GC_H
#define BZ_CACHE_GC_H

#include "cache/index.h"
#include "cache/inventory.h"

#define BZ_GC_GRACE (INT64_C(2) * BZ_SHELF_TOUCH) /* seconds */
#define BZ_GC_BAD_KEPT (INT64_C(7) * 86400)       /* seconds, to look at it */
#define BZ_GC_FAILED_KEPT (INT64_C(7) * 86400)    /* likewise, of a failed task */

struct bz_gc_policy {
    uint64_t max_size;  /* bytes that the store may take; 0: any */
    uint64_t min_free;  /* bytes to be free on its file system; 0: any */
    int64_t max_age;    /* ns since the last use; 0: any */
    uint32_t keep_last; /* results for a recipe and task; 0: any number */
};

enum bz_gc_reason {
    BZ_GC_KEPT,
    BZ_GC_BROKEN, /* it or one of its blobs is missing or damaged */
    BZ_GC_AGE,
    BZ_GC_COUNT, /* others for the same recipe and task were used later */
    BZ_GC_SIZE,  /* to get below max_size or above min_free */
};

const char *bz_gc_reason_text(enum bz_gc_reason why); /* static */

struct bz_gc_opts {
    struct bz_gc_policy policy;
    int64_t grace;          /* ns; 0: BZ_GC_GRACE */
    int64_t bad_kept;       /* ns; 0: BZ_GC_BAD_KEPT */
    bool dry_run;           /* change nothing */
    struct bz_index *index; /* told what is gone; or NULL */
    /* For each result that goes; may be NULL. */
    void (*dropped)(void *ctx, const struct bz_inventory *v,
                    const struct bz_inventory_result *r, enum bz_gc_reason why);
    bz_inventory_fn progress; /* or NULL */
    void *ctx;                /* of both */
};

struct bz_gc_stats {
    uint64_t results, blobs, bytes; /* before */
    uint64_t results_gone, blobs_gone, bytes_gone;
    uint64_t bytes_freed; /* without what has other names elsewhere */
    uint64_t bytes_left;
    uint64_t bytes_recent; /* of what is left because it was used since the limit */
    uint64_t temps, bad;   /* leftovers and damaged files that went */
    uint64_t trees, trees_gone; /* directories that builds laid out; bytes count them */
    uint64_t failed, failed_gone; /* what failed tasks have left; likewise */
    bool enough;                  /* the policy is met */
};

/* BZ_E_NOSUP if the store cannot be written. */
int bz_gc_run(struct bz_cas *cas, const struct bz_gc_opts *opts,
              struct bz_gc_stats *stats, struct bz_err *err) BZ_MUST_CHECK;

#endif
