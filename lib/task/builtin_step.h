/* builtin_step.h - runs what bitzel does of a task itself (sig/builtin.h).
 *
 *   do_fetch   brings what SRC_URI names to DL_DIR, at the commits that the catalog's
 *              revisions have (fetch/revision.h), and hands on a list of what it is
 *              (fetch/identity.h), so that the same from another place changes nothing
 *   do_unpack  puts it into UNPACKDIR, or WORKDIR if that is not set; what is no longer
 *              in DL_DIR it fetches again
 *   do_patch   applies the patches among it in S, with PATCHTOOL
 */
#ifndef BZ_TASK_BUILTIN_STEP_H
#define BZ_TASK_BUILTIN_STEP_H

#include "sig/builtin.h"
#include "task/jobs.h"

/* The list that do_fetch hands on, in WORKDIR. */
#define BZ_BUILTIN_STEP_LIST ".bitzel-sources"

/* Fetching or unpacking, as a part of the job of a task; with its [dirs] and [umask].
 * `v` is the recipe's store as the task sees it. */
int bz_builtin_step_fill(struct bz_jobs *j, struct bz_vars *v, uint32_t task,
                         enum bz_builtin what, struct bz_job_fill *out,
                         struct bz_err *err) BZ_MUST_CHECK;

/* Patching, as a script; with the host's paths. */
int bz_builtin_step_patch(struct bz_jobs *j, uint32_t task, struct bz_buf *body,
                          struct bz_err *err) BZ_MUST_CHECK;

#endif
