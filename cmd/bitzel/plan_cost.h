/* plan_cost.h - how long tasks took before.
 *
 * Asks the index of the store: for the very result, which may have been collected
 * since, and else for the one of the same recipe and task that was used last. The index
 * is opened when the first question comes; one that does not exist is not made.
 */
#ifndef BZ_CMD_PLAN_COST_H
#define BZ_CMD_PLAN_COST_H

#include "base/map.h"
#include "cache/index.h"

struct bz_plan_cost {
    const char *path; /* of the index; NULL: nothing is known */
    bool opened;
    struct bz_index *index; /* or NULL */
    struct bz_map last;     /* "recipe task" -> a duration in ns, plus one */
    struct bz_buf key;
    struct bz_arena arena;
};

void bz_plan_cost_release(struct bz_plan_cost *c);

/* Nanoseconds, or a negative number. */
int64_t bz_plan_cost_of(struct bz_plan_cost *c, const struct bz_digest *key,
                        struct bz_str recipe, struct bz_str task);

/* Appends "3m10s", "1h02m", "4.2s", "80ms". */
void bz_plan_cost_text(int64_t ns, struct bz_buf *out);

#endif
