/* forecast.h - how long a plan takes, in which waves, and along which chain of tasks.
 *
 * Tasks that run unless their inputs come out equal are counted as if they ran. Takes
 * time in proportion to the tasks and edges.
 */
#ifndef BZ_PLAN_FORECAST_H
#define BZ_PLAN_FORECAST_H

#include "graph/ready.h"
#include "plan/plan.h"

#define BZ_FORECAST_UNKNOWN (-1)

struct bz_forecast {
    struct bz_ready_waves waves; /* of tasks that run */
    int64_t work;                /* ns of all that run and are known */
    uint32_t unknown;            /* how many are not */
    int64_t critical;            /* the longest chain, as far as it is known */
    struct bz_dag_ids path;      /* that chain, first things first */
};

/* `cost` [tasks]: ns that each takes, or BZ_FORECAST_UNKNOWN. Release *f. */
void bz_forecast_make(struct bz_forecast *f, const struct bz_plan *plan,
                      const int64_t *cost);
void bz_forecast_release(struct bz_forecast *f);

#endif
