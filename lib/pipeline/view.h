/* view.h - what of the layers of metadata a task gets to see: the paths that its script
 * names.
 *
 * A path is shown with all that is below it. Where the script goes on with what only
 * the shell knows, a variable or a pattern, it is the directory that has been named so
 * far. What a script does not name it does not see: a task that looks around in a layer
 * would depend on files that no signature has.
 *
 * Looks whether files exist; any thread.
 */
#ifndef BZ_PIPELINE_VIEW_H
#define BZ_PIPELINE_VIEW_H

#include "base/vec.h"
#include "exec/job.h"

struct bz_view_list BZ_VEC(struct bz_job_view);

/* `layers` [n] is where layers are, with names below BZ_JOB_LAYERS. Adds to *out, by
 * name, none below another; texts are in the arena. Of more than BZ_VIEW_MAX paths all
 * layers are shown instead. */
#define BZ_VIEW_MAX 200
void bz_view_find(struct bz_str script, const struct bz_job_view *layers, size_t n,
                  struct bz_arena *a, struct bz_view_list *out);

#endif
