/* action.h - results of actions by an opaque key.
 *
 * A result lies on the shelf `ac` of a store and refers to blobs by digest. Blobs are
 * published first and the result last: whoever sees a result may expect its blobs,
 * though a cache may have dropped them since.
 *
 * A result that we wrote is sealed (codec/reapi.h). One that is not may have been
 * written by another program, or be one of ours cut short.
 *
 * It also names the key that it was filed under, in auxiliary metadata of type
 * BZ_ACTION_KEY that other readers ignore: the 32 bytes of the key. A result that
 * somebody has filed under another key is no result there. Results of earlier versions
 * name none: they are not used either, and replaced when their task has run again.
 */
#ifndef BZ_CACHE_ACTION_H
#define BZ_CACHE_ACTION_H

#include "cache/cas.h"

/* Auxiliary metadata that labels a result: texts that mean nothing here. */
#define BZ_ACTION_RECIPE "bitzel/recipe"
#define BZ_ACTION_TASK "bitzel/task"
#define BZ_ACTION_KEY "bitzel/key"

enum bz_action_bound {
    BZ_ACTION_BOUND, /* it names this key */
    BZ_ACTION_UNBOUND,
    BZ_ACTION_ELSEWHERE, /* it names another one */
};
enum bz_action_bound bz_action_bound(const struct bz_reapi_result *r,
                                     const struct bz_digest *key);
/* The result, naming the key; what it takes is in the arena. One that names it already
 * stays as it is, and so do its signatures (trust.h). */
struct bz_reapi_result bz_action_bind(struct bz_arena *a,
                                      const struct bz_reapi_result *r,
                                      const struct bz_digest *key);

/* A record says what a result was made from. It is a result of its own, labelled with
 * the recipe and, in place of a task, with this; its one output is a file of that
 * name. It lies under a key made from the result's, and is dropped with it (gc.h). */
#define BZ_ACTION_RECORD "record"
void bz_action_record_key(struct bz_digest_hasher *h, const struct bz_digest *key,
                          struct bz_digest *out);

enum bz_action_from {
    BZ_ACTION_OURS,   /* sealed results that name their key; others are damaged */
    BZ_ACTION_ANYONE, /* also those without a seal or key */
};

/* Why a result does not count. */
#define BZ_ACTION_MISFILED "is the result of another key"
#define BZ_ACTION_OLD "names no key: an older version has stored it"

enum bz_action_put {
    BZ_ACTION_STORED,
    BZ_ACTION_SAME,     /* the same result was there */
    BZ_ACTION_DIFFERENT /* another result was there and stays: not reproducible */
};

bool bz_action_has(const struct bz_cas *cas, const struct bz_digest *key);

/* *how tells what was found under the key. One that names blobs which are gone, or no
 * key, is put aside: it would be a miss for ever. The result is bound to the key. */
int bz_action_put(struct bz_cas *cas, struct bz_digest_hasher *h,
                  const struct bz_digest *key, const struct bz_reapi_result *r,
                  enum bz_action_put *how, struct bz_err *err) BZ_MUST_CHECK;

/* The result, in the arena. BZ_E_NOENT if there is none; a damaged one is put aside and
 * counts as none. Whoever gets it has claimed it (shelf.h), and with it the blobs that
 * it names. */
int bz_action_get(struct bz_cas *cas, struct bz_digest_hasher *h,
                  const struct bz_digest *key, enum bz_action_from from,
                  struct bz_arena *a, struct bz_reapi_result *out,
                  struct bz_err *err) BZ_MUST_CHECK;

/* What two results that are the same may differ in: when and where they were made, and
 * what was printed meanwhile. */
bool bz_action_same(const struct bz_reapi_result *a, const struct bz_reapi_result *b);

#endif
