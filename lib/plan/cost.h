/* cost.h - what the tasks of a plan took before, on this computer.
 */
#ifndef BZ_PLAN_COST_H
#define BZ_PLAN_COST_H

#include "cache/index.h"
#include "plan/plan.h"

#define BZ_COST_UNKNOWN (-1)

/* How the index knows the task. */
struct bz_index_task bz_cost_task(const struct bz_plan_in *in, uint32_t task);

/* Fills `out` [tasks] for the tasks in `which`, and BZ_COST_UNKNOWN as the duration of
 * all others and of those that nothing is known of. An index is only a file: what it
 * says is cut down to what can be added up. */
void bz_cost_find(const struct bz_plan *plan, struct bz_index *index,
                  const struct bz_bitset *which, struct bz_index_cost *out);

#endif
