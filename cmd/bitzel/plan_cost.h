/* plan_cost.h - how long tasks take, for people. */
#ifndef BZ_CMD_PLAN_COST_H
#define BZ_CMD_PLAN_COST_H

#include "base/buf.h"

/* Appends "3m10s", "1h02m", "4.2s", "80ms". */
void bz_plan_cost_text(int64_t ns, struct bz_buf *out);

#endif
