/* handing.h - the output layers of a task's dependencies, and the key that they give
 * it.
 */
#ifndef BZ_PLAN_HANDING_H
#define BZ_PLAN_HANDING_H

#include "plan/plan.h"

/* The layers of all its dependencies, each once, those of tasks on top of those of
 * their dependencies; their order is the same whatever else there is in the graph. To
 * be released. */
void bz_handing_collect(const struct bz_plan *plan, uint32_t task,
                        struct bz_output *out);

/* The content key: what decides the result if the keys of the dependencies are left
 * aside, namely the task's own part and the bytes that it sees. */
void bz_handing_sign(const struct bz_plan *plan, uint32_t task,
                     const struct bz_output *handed, struct bz_digest *out);

#endif
