/* view.h - what of the layers of metadata a task gets to see: the paths that its script
 * names.
 *
 * A path is shown with all that is below it. Where the script goes on with what only
 * the shell knows, a variable or a pattern, it is the directory that has been named so
 * far. What a script does not name it does not see: a task that looks around in a layer
 * would depend on files that no signature has.
 *
 * What is named counts for the task's key, by its content, or by not being there; and
 * what does not count is not shown. Any thread.
 */
#ifndef BZ_PIPELINE_VIEW_H
#define BZ_PIPELINE_VIEW_H

#include "base/vec.h"
#include "exec/job.h"
#include "pipeline/pipeline.h"

struct bz_view_list BZ_VEC(struct bz_job_view);

/* `layers` [n] is where layers are, and as what they stand in the script. Adds to *out,
 * by path on the host, none below another, whether they exist or not; texts are in the
 * arena. Of more than BZ_VIEW_MAX paths all layers are shown instead. */
#define BZ_VIEW_MAX 200
void bz_view_find(struct bz_str script, const struct bz_job_view *layers, size_t n,
                  struct bz_arena *a, struct bz_view_list *out);

/* The layers of a loaded pipeline under the names that they have on the host. */
void bz_view_layers(struct bz_pipeline *p, struct bz_arena *a,
                    struct bz_view_list *out);

/* Where in a path, which is terminated and lies in a layer, the name of the layer's
 * directory begins, and the number of the layer among those in directories of this
 * name.
 */
size_t bz_view_name_at(struct bz_str path, const struct bz_view_list *layers,
                       size_t *layer);

#endif
