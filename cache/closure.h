/* closure.h - all the blobs that a result needs: those it names, and those that its
 * trees name.
 *
 * A tree can only be looked into where it lies, so its Tree message must be in the
 * store that is asked. What is read was written by others and is bounded as in tree.h,
 * but for the depth: nothing is unfolded here.
 */
#ifndef BZ_CACHE_CLOSURE_H
#define BZ_CACHE_CLOSURE_H

#include "base/vec.h"
#include "cache/cas.h"

struct bz_closure_blobs BZ_VEC(struct bz_reapi_digest);

/* The blobs that a result names itself, each once: files, Tree and Directory messages,
 * what it printed. The caller releases the vector, here and below. */
void bz_closure_own(const struct bz_reapi_result *r, struct bz_closure_blobs *out);

/* Adds the blobs of the files in a tree, each once. BZ_E_NOENT if the Tree message is
 * not in the store, BZ_E_CORRUPT or BZ_E_LIMIT if it makes no sense. */
int bz_closure_tree(struct bz_cas *cas, struct bz_digest_hasher *h,
                    const struct bz_reapi_digest *tree, struct bz_closure_blobs *out,
                    struct bz_err *err) BZ_MUST_CHECK;

/* Both, for all trees of the result: the files of trees first, then what the result
 * names itself. Whoever copies in this order copies a tree after its files. */
int bz_closure_all(struct bz_cas *cas, struct bz_digest_hasher *h,
                   const struct bz_reapi_result *r, struct bz_closure_blobs *out,
                   struct bz_err *err) BZ_MUST_CHECK;

#endif
