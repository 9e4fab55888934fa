/* builtin.h - tasks that bitzel carries out itself.
 *
 * Every layer has do_fetch, do_unpack and do_patch, written in Python and much the
 * same: they call BitBake's own code. Where a task of such a name is in Python, bitzel
 * does what it is for, and what its text says counts for nothing but the signature. One
 * in shell is run like any other task. A recipe that adds to the text, or replaces it,
 * is refused before (survey/pyfunc.h).
 *
 *   do_fetch   brings what SRC_URI names to DL_DIR, at the commits that the pipeline's
 *              revisions have (fetch/revision.h), and hands on a list of what it is
 *              (fetch/identity.h), so that the same from another place changes nothing
 *   do_unpack  puts it into UNPACKDIR, or WORKDIR if that is not set; what is no longer
 *              in DL_DIR it fetches again
 *   do_patch   applies the patches among it in S, with PATCHTOOL
 */
#ifndef BZ_PIPELINE_BUILTIN_H
#define BZ_PIPELINE_BUILTIN_H

#include "pipeline/jobs.h"
#include "sig/taskspec.h"

/* The list that do_fetch hands on, in WORKDIR. */
#define BZ_BUILTIN_LIST ".bitzel-sources"

enum bz_builtin {
    BZ_BUILTIN_NONE,
    BZ_BUILTIN_FETCH,
    BZ_BUILTIN_UNPACK,
    BZ_BUILTIN_PATCH
};

int bz_builtin_of(struct bz_vars *v, struct bz_str task, enum bz_builtin *out,
                  struct bz_err *err) BZ_MUST_CHECK;

/* What such a task does, for its key: adds inputs, and to `list` (sig/files.h) what has
 * to be looked at each time: local sources, and revisions that are to be resolved. The
 * task has been listed (sig/taskspec.h). */
int bz_builtin_inputs(struct bz_taskspec *spec, enum bz_builtin what,
                      struct bz_taskspec_inputs *inputs, struct bz_buf *list,
                      struct bz_err *err) BZ_MUST_CHECK;

/* By the name alone, before anything is evaluated. */
bool bz_builtin_waits(struct bz_str task);

/* Fetching or unpacking, as a part of the job of a task; with its [dirs] and [umask].
 * `v` is the recipe's store as the task sees it. */
int bz_builtin_fill(struct bz_jobs *j, struct bz_vars *v, uint32_t task,
                    enum bz_builtin what, struct bz_job_fill *out,
                    struct bz_err *err) BZ_MUST_CHECK;

/* Patching, as a script; with the host's paths. */
int bz_builtin_patch(struct bz_jobs *j, uint32_t task, struct bz_buf *body,
                     struct bz_err *err) BZ_MUST_CHECK;

#endif
