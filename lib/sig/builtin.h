/* builtin.h - tasks that bitzel carries out itself, and what counts for their keys.
 *
 * Every layer has do_fetch, do_unpack and do_patch, written in Python and much the
 * same: they call BitBake's own code. Where a task of such a name is in Python, bitzel
 * does what it is for (task/builtin_step.h), and its text counts for nothing. One in
 * shell is run like any other task. A recipe that adds to the text, or replaces it, is
 * refused before (survey/pyfunc.h).
 */
#ifndef BZ_SIG_BUILTIN_H
#define BZ_SIG_BUILTIN_H

#include "fetch/fetch.h"
#include "sig/taskspec.h"

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

/* The script that applies the patches among the sources, with the host's paths. */
int bz_builtin_patches(struct bz_fetch *fetch, struct bz_vars *v, struct bz_buf *body,
                       struct bz_err *err) BZ_MUST_CHECK;

#endif
