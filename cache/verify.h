/* verify.h - whether all that lies in a store is what it says it is.
 *
 * Every blob is hashed, on all workers of a pool; every result is parsed, and the blobs
 * it needs must be there and right. Every laid-out tree (expanded.h) is compared with
 * the stored one and hashed; of a merged tree the stamp is compared (tree_stamp.h).
 * Looking counts as no use. Without `repair` nothing is changed. With it, what is
 * damaged is put aside (`bad/`), trees that are damaged or have damaged files are
 * removed, and results whose blobs are gone are dropped: all are made anew.
 *
 * What others store or remove meanwhile is no fault.
 */
#ifndef BZ_CACHE_VERIFY_H
#define BZ_CACHE_VERIFY_H

#include "cache/crew.h"
#include "cache/inventory.h"

enum bz_verify_fault {
    BZ_VERIFY_BLOB,       /* its bytes are not those of its name */
    BZ_VERIFY_RESULT,     /* no result, or a wrong seal */
    BZ_VERIFY_INCOMPLETE, /* a result without all its blobs */
    BZ_VERIFY_STRANGE,    /* no file, or no directory, where there should be one */
    BZ_VERIFY_TREE,       /* a laid-out tree that was changed */
};

const char *bz_verify_fault_text(enum bz_verify_fault fault); /* static */

struct bz_verify_opts {
    struct bz_crew_threads threads;
    struct bz_cancel *cancel; /* or NULL */
    bool repair;
    /* For each fault, on the calling thread, after the hashing; `path` is below the
     * store. May be NULL. */
    void (*fault)(void *ctx, enum bz_verify_fault fault, const char *path);
    /* How many of how many bytes are hashed; on any worker, one at a time; or NULL. */
    void (*progress)(void *ctx, uint64_t done, uint64_t of);
    void *ctx;
};

struct bz_verify_stats {
    uint64_t blobs, bytes; /* hashed */
    uint64_t results, unsealed;
    uint64_t trees; /* laid out */
    uint64_t bad_blobs, bad_results, incomplete, strange, bad_trees;
    uint64_t repaired;
};

/* How many faults there are. */
uint64_t bz_verify_faults(const struct bz_verify_stats *stats);

/* 0 also if there are faults: see the figures. BZ_E_NOSUP for a repair of a store that
 * cannot be written. */
int bz_verify_run(struct bz_cas *cas, const struct bz_verify_opts *opts,
                  struct bz_verify_stats *stats, struct bz_err *err) BZ_MUST_CHECK;

#endif
