/* cache.h - the face of the store: results and trees, with what is known about them.
 *
 * Ties a local store to its index, and decides when bytes are checked. The default is
 * at first use: the first time this machine restores a tree since it was booted, every
 * byte is hashed; after that only what seems to have been written to.
 *
 * A cache may have tiers (tiers.h). What the local store lacks is looked for there;
 * what is stored goes there in the background. A result that came from a tier is filed
 * in the local store when all its blobs are there, by bz_cache_fetch: as long as nobody
 * needs its bytes they stay where they are.
 *
 * Any thread may call anything but close.
 */
#ifndef BZ_CACHE_CACHE_H
#define BZ_CACHE_CACHE_H

#include "cache/action.h"
#include "cache/index.h"
#include "cache/tiers.h"
#include "cache/tree.h"
#include "cache/upload.h"

struct bz_cache;

enum bz_cache_verify {
    BZ_CACHE_FIRST_USE,
    BZ_CACHE_ALWAYS,
    BZ_CACHE_NEVER,
};

struct bz_cache_opts {
    const char *root;     /* of the store */
    const char *index;    /* path of the database, on a local disk; NULL: in memory */
    struct bz_pool *pool; /* for the index to write on, or NULL */
    struct bz_cas_opts store;
    enum bz_cache_verify verify;
    struct bz_tiers_opts tiers; /* none if n is 0 */
    bool keep;                  /* what is stored here is not uploaded */
    /* Results are only looked up: a store that is not there is empty and is not made,
     * the index is not opened, nothing counts as a use. Then there is neither
     * bz_cache_cas nor bz_cache_index to rely on. */
    bool look;
    const struct bz_trust_signer *signer; /* of what is stored here; copied; or NULL */
    int64_t flush;                        /* ns to wait for uploads when it is closed */
    /* Beyond these it collects by itself, see quota.h; 0: no limit, negative: a share
     * in per cent. */
    int64_t max_size, min_free;
    int64_t max_age;
};

/* Tiers are not touched before they are needed. An index that is new is filled from the
 * store if that holds anything, with a note in the log. The caller closes *out. */
int bz_cache_open(const struct bz_cache_opts *opts, struct bz_cache **out,
                  struct bz_err *err) BZ_MUST_CHECK;
/* NULL is fine; not for workers. Waits for uploads, but not for ever. */
void bz_cache_close(struct bz_cache *c);
static inline void bz_cache_closep(struct bz_cache **c)
{
    bz_cache_close(*c);
}

/* Waits for uploads until `deadline`; true if none is left. Not for workers. */
bool bz_cache_flush(struct bz_cache *c, int64_t deadline);
/* Closing does not wait for uploads any more. */
void bz_cache_hurry(struct bz_cache *c);

/* What went to and from the i-th place since the cache was opened: 0 is the local
 * store, then come the tiers. Of the local store files of trees are counted, of the
 * others blobs that were copied. */
struct bz_cache_traffic {
    const char *name, *kind; /* "local", "directory" or "http"; the cache's */
    uint64_t hits, misses;   /* of results that were looked up */
    struct bz_tier_moved read, written;
};
size_t bz_cache_places(const struct bz_cache *c);
void bz_cache_traffic(struct bz_cache *c, size_t i, struct bz_cache_traffic *out);

struct bz_cas *bz_cache_cas(struct bz_cache *c);
struct bz_index *bz_cache_index(struct bz_cache *c);
struct bz_tiers *bz_cache_tiers(struct bz_cache *c);   /* NULL if there are none */
struct bz_upload *bz_cache_upload(struct bz_cache *c); /* NULL if nothing goes there */

/* Whether the local store has a result of the key. */
bool bz_cache_has(const struct bz_cache *c, const struct bz_digest *key);
/* Whether there is no result in the local store, and no tier. */
bool bz_cache_is_empty(const struct bz_cache *c);

/* The result of a key, from the local store or a tier, sealed. BZ_E_NOENT if there is
 * none. Counts as a use. */
int bz_cache_get(struct bz_cache *c, struct bz_digest_hasher *h,
                 const struct bz_digest *key, struct bz_arena *a,
                 struct bz_reapi_result *out, struct bz_err *err) BZ_MUST_CHECK;

/* The same, with a token that ends it: BZ_E_CANCELED. */
int bz_cache_seek(struct bz_cache *c, struct bz_digest_hasher *h,
                  const struct bz_digest *key, struct bz_cancel *cancel,
                  struct bz_arena *a, struct bz_reapi_result *out,
                  struct bz_err *err) BZ_MUST_CHECK;

/* Sees to it that all blobs of a result are in the local store, and the result too; to
 * be called before they are used. Cheap if the result is there, unless a blob was found
 * damaged: then all of them are hashed. BZ_E_NOENT if a blob is nowhere: then it is a
 * miss. `cancel` may be NULL. */
int bz_cache_fetch(struct bz_cache *c, struct bz_digest_hasher *h,
                   const struct bz_digest *key, const struct bz_reapi_result *r,
                   struct bz_cancel *cancel, struct bz_err *err) BZ_MUST_CHECK;

/* Files a result whose blobs are stored already. `labels` are kept with it (action.h)
 * and need not be in r->aux. */
struct bz_cache_labels {
    struct bz_str recipe, task;
};
int bz_cache_put(struct bz_cache *c, struct bz_digest_hasher *h,
                 const struct bz_digest *key, const struct bz_reapi_result *r,
                 const struct bz_cache_labels *labels, enum bz_action_put *how,
                 struct bz_err *err) BZ_MUST_CHECK;

/* As bz_tree_store and bz_tree_restore; out->check is the policy's. What of a tree is
 * missing or was damaged is fetched from the tiers. */
int bz_cache_store(struct bz_cache *c, int dir, const char *path,
                   const struct bz_tree_in *in, struct bz_reapi_digest *out,
                   struct bz_tree_stats *stats, struct bz_err *err) BZ_MUST_CHECK;
int bz_cache_restore(struct bz_cache *c, const struct bz_reapi_digest *tree, int dir,
                     const char *path, const struct bz_tree_out *out,
                     struct bz_tree_stats *stats, struct bz_err *err) BZ_MUST_CHECK;

/* For trees that builds lay out (expanded.h) and use for long, in place of the above:
 * makes the directory `path`, of hard links where possible, or of copies if it is
 * plain. Of `out` threads and plain count. */
int bz_cache_lay_out(struct bz_cache *c, const struct bz_reapi_digest *tree,
                     const char *path, const struct bz_tree_out *out,
                     struct bz_err *err) BZ_MUST_CHECK;
/* Whether it is still what it was, to be asked before it is used: compares its stamp
 * (tree_stamp.h). One that has changed, and by the policy each at first use in each
 * boot of the machine, is compared with the stored tree and hashed. Fails if it
 * differs, or if that cannot be told; then it is to be made anew. */
int bz_cache_inspect(struct bz_cache *c, const struct bz_reapi_digest *tree,
                     const char *path, const struct bz_tree_out *out,
                     struct bz_err *err) BZ_MUST_CHECK;
/* Whether one was inspected as often as the policy says, and has not changed since. The
 * other one says that it was inspected just now. */
bool bz_cache_believes(const struct bz_cache *c, const char *path);
void bz_cache_vouch(struct bz_cache *c, const char *path);
/* It is there from now on, and takes room. */
void bz_cache_laid_out(struct bz_cache *c, const char *path);

#endif
