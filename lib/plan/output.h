/* output.h - what a task hands on to those that wait for it.
 *
 * Two lists of trees, which lie on each other as layers: `own` has what tasks wrote
 * below their recipe's work directory and is seen by tasks of the recipe alone;
 * `shared` has what they wrote elsewhere. A list has what the task itself wrote, if
 * anything, and what it was handed on: whoever has the output of a task needs no other
 * task's.
 *
 * Stored as directories of an ActionResult, own/NNNN/TASK and shared/NNNN/TASK. What
 * the task printed is stored beside them (printed.h).
 */
#ifndef BZ_PLAN_OUTPUT_H
#define BZ_PLAN_OUTPUT_H

#include "base/vec.h"
#include "codec/reapi.h"

struct bz_output_layer {
    struct bz_str task; /* its name */
    struct bz_reapi_digest tree;
};

struct bz_output_layers BZ_VEC(struct bz_output_layer);

struct bz_output {
    struct bz_output_layers own, shared; /* the topmost first */
};

void bz_output_release(struct bz_output *o);

/* Fills r->dirs; texts are in the arena or the output's. */
void bz_output_write(const struct bz_output *o, struct bz_arena *a,
                     struct bz_reapi_result *r);
/* Fills *o; texts are the result's. BZ_E_CORRUPT for a result that is not one of a
 * task. */
int bz_output_read(struct bz_output *o, const struct bz_reapi_result *r,
                   struct bz_err *err) BZ_MUST_CHECK;

#endif
