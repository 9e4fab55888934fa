/* evaluate.h - the variables of a recipe that is in a graph.
 *
 * A graph is drawn from facts, which a snapshot may have remembered; whoever wants more
 * than these has the recipe evaluated. One thread.
 */
#ifndef BZ_PIPELINE_EVALUATE_H
#define BZ_PIPELINE_EVALUATE_H

#include "pipeline/goal.h"

/* Evaluates a recipe of the goal's graph, in its configuration; the caller frees *out,
 * and *vars, which is a part of it, lasts as long. Loads the configurations if they
 * were not. BZ_E_BUSY if the recipe has changed since and its variant is gone. */
int bz_evaluate_recipe(struct bz_pipeline *p, const struct bz_goal *goal,
                       uint32_t recipe, struct bz_finalize **out, struct bz_vars **vars,
                       struct bz_err *err) BZ_MUST_CHECK;

#endif
