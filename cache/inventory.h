/* inventory.h - what lies in a store, and what needs what.
 *
 * Made from the files alone: names, sizes and times of all blobs; all results with
 * their labels, and the blobs they name, be it through trees or directories. Nothing in
 * the store is changed by it, not even what is found damaged.
 *
 * It is a picture of something that goes on changing. What is published while it is
 * taken may be in it or not; what lies there all the time is in it.
 *
 * For a million blobs it takes 72 MB, and 4 bytes for each name in a tree (83 MB
 * resident were measured for a million blobs in a thousand trees); trees that several
 * results share count once. Time is in proportion to the bytes of results and trees and
 * to the number of files. One thread at a time.
 */
#ifndef BZ_CACHE_INVENTORY_H
#define BZ_CACHE_INVENTORY_H

#include "base/intern.h"
#include "base/vec.h"
#include "cache/action.h"

struct bz_inventory_blob {
    struct bz_digest hash;
    uint64_t bytes; /* that it takes on the disk */
    int64_t used;   /* last, ns since 1970 on the file system's clock */
    uint32_t refs;  /* of results and trees that are referred to themselves */
    uint32_t node;  /* what it names itself is nodes.at[node - 1]; 0: nothing known */
    uint64_t inode;
    uint32_t names; /* that lead to it */
    bool alone;     /* it has no other name, so that removing it frees its bytes */
    bool bad;       /* somebody found its bytes wrong; not looked at here */
};

/* The blobs that a tree or a directory names. */
struct bz_inventory_node {
    size_t first, n; /* in edges */
    bool broken;     /* it cannot be read, or a blob is not there */
    bool settled;    /* `broken` is also true of those below it */
};

struct bz_inventory_result {
    struct bz_digest key;
    uint64_t bytes;             /* of its own file */
    int64_t used;               /* as of a blob */
    int64_t duration;           /* of making it, ns */
    struct bz_sym recipe, task; /* labels; empty if there are none */
    size_t first, n;            /* the blobs it names itself, in edges */
    bool damaged;               /* it cannot be read */
    bool broken;                /* one of its blobs is not there */
    bool sealed;
    bool record; /* it says what another was made from (action.h) */
};

struct bz_inventory_blobs BZ_VEC(struct bz_inventory_blob);
struct bz_inventory_nodes BZ_VEC(struct bz_inventory_node);
struct bz_inventory_results BZ_VEC(struct bz_inventory_result);
struct bz_inventory_edges BZ_VEC(uint32_t);

struct bz_inventory {
    struct bz_inventory_blobs blobs;     /* by digest */
    struct bz_inventory_results results; /* by key */
    struct bz_inventory_nodes nodes;
    struct bz_inventory_edges edges; /* places in blobs */
    struct bz_intern names;          /* labels */
    uint64_t bytes;                  /* of all blobs and results */
    uint32_t *starts;                /* the first blob for each two leading bytes */
};

#define BZ_INVENTORY_NONE UINT32_MAX

/* Called now and then, with the number of files seen so far. */
typedef void (*bz_inventory_fn)(void *ctx, uint64_t seen);

/* `progress` may be NULL. Release *out in any case. */
int bz_inventory_take(struct bz_cas *cas, bz_inventory_fn progress, void *ctx,
                      struct bz_inventory *out, struct bz_err *err) BZ_MUST_CHECK;
void bz_inventory_release(struct bz_inventory *v);

/* The results alone, without looking for what they name: `broken` is never set. */
int bz_inventory_take_results(struct bz_cas *cas, struct bz_inventory *out,
                              struct bz_err *err) BZ_MUST_CHECK;

/* The place of a result, or BZ_INVENTORY_NONE. */
uint32_t bz_inventory_find_result(const struct bz_inventory *v,
                                  const struct bz_digest *key);

/* Finds out again what is broken, after blobs turned out to be bad. */
void bz_inventory_settle(struct bz_inventory *v);

/* The place of a blob, or BZ_INVENTORY_NONE. */
uint32_t bz_inventory_find(const struct bz_inventory *v, const struct bz_digest *hash);

/* Called with a blob that is referred to for the first time, or no longer is. */
typedef void (*bz_inventory_turn)(void *ctx, struct bz_inventory_blob *blob);

/* Counts a result's references in or out of `refs`, through trees and directories.
 * Counting all in and out takes time in proportion to the edges. `turn` may be NULL. */
void bz_inventory_count(struct bz_inventory *v, const struct bz_inventory_result *r,
                        bool in, bz_inventory_turn turn, void *ctx);

/* Looks for results once more, and counts in what those name that were not there; also
 * those that were and of which `gone` says that they had been removed since. */
typedef bool (*bz_inventory_gone)(void *ctx, uint32_t result);
int bz_inventory_look_again(struct bz_cas *cas, struct bz_inventory *v,
                            bz_inventory_gone gone, bz_inventory_turn turn, void *ctx,
                            struct bz_err *err) BZ_MUST_CHECK;

#endif
