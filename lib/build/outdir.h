/* outdir.h - where people find what was built: `bitzel-out` in the build directory.
 *
 * For each target a directory of its recipe's name, in it the links `image` (what the
 * recipe installs), `work` (its work directory) and `deploy` (what is to be delivered),
 * as far as there is such a thing. They lead to copies in the store that nothing else
 * uses (exec/trees.h); they can be removed and come back with the next build.
 */
#ifndef BZ_BUILD_OUTDIR_H
#define BZ_BUILD_OUTDIR_H

#include "task/jobs.h"

/* `own` and `shared` are as exec/exec.h tells them. 1 if links lead elsewhere than
 * before, or are new. */
int bz_outdir_link(struct bz_jobs *j, uint32_t task, const char *own,
                   const char *shared, struct bz_err *err) BZ_MUST_CHECK;

/* Which part of what is not a recipe's own the links lead to: a path below the root, in
 * the arena; empty: none. */
struct bz_str bz_outdir_part(struct bz_jobs *j, uint32_t task, struct bz_arena *a);

/* Whether what the link `path` in `dir` leads to is what was laid out in the store. Of
 * links that lead to the same tree in turn the first tells: *tree is that one,
 * initially empty. True of what is no link. */
bool bz_outdir_is_untouched(int dir, const char *path, const char *store,
                            struct bz_buf *tree);

/* Appends where below the build directory the output of a recipe is to be seen. */
void bz_outdir_name(const struct bz_goal *goal, uint32_t recipe, struct bz_buf *out);

#endif
