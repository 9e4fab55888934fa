/* trees.h - stored trees as directories, to be layers of sandboxes or shown to users.
 *
 * Layers lie below `trees/` of the local store, each under its digest, made of hard
 * links into the store when it is first asked for. They have all mode bits that tasks
 * gave to their files, and only the owner of the store can enter `trees/`. Directories
 * for users lie below `out/`: copies of their own, plain (cache/plain.h). All of them
 * are made below `work/` and renamed when complete. Nothing may write to them:
 * sandboxes see them as lower layers. But users can, a disk may have lost some of one
 * when the power failed, and what they link to may turn out to be damaged. So each is
 * looked at before it is used, once by each *t, and made anew if it is not what it was.
 * Collectors take those that nobody uses (cache/expanded.h).
 *
 * One thread at a time; processes may share them.
 */
#ifndef BZ_EXEC_TREES_H
#define BZ_EXEC_TREES_H

#include "cache/cache.h"
#include "plan/output.h"

struct bz_trees;

/* The cache and the pool must outlive it. */
int bz_trees_open(struct bz_cache *cache, struct bz_pool *pool, const char *store,
                  struct bz_trees **out, struct bz_err *err) BZ_MUST_CHECK;
void bz_trees_close(struct bz_trees *t); /* NULL is fine */

/* The path of the tree's directory, which lasts as long as *t. BZ_E_NOENT if the tree
 * is not in the store, or not whole. */
int bz_trees_get(struct bz_trees *t, const struct bz_reapi_digest *tree,
                 const char **path, struct bz_err *err) BZ_MUST_CHECK;

/* The same of layers that lie on each other, the topmost first. Of
 * several, what hides others is not seen itself; one alone is as it is. */
int bz_trees_merge(struct bz_trees *t, const struct bz_output_layers *layers,
                   const char **path, struct bz_err *err) BZ_MUST_CHECK;

/* The same for users, or of a part of it: what lies at a path below the layers, with
 * the directories above it; empty: all. As long as it has not changed, its layers are
 * not looked at. On failure *lost is the number of the layer that cannot be had, or 0.
 */
int bz_trees_show(struct bz_trees *t, const struct bz_output_layers *layers,
                  struct bz_str part, const char **path, size_t *lost,
                  struct bz_err *err) BZ_MUST_CHECK;

#endif
