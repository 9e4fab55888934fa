/* tally.h - sums over the tasks of a build, by recipe and by wave. */
#ifndef BZ_REPORT_TALLY_H
#define BZ_REPORT_TALLY_H

#include "report/shape.h"

struct bz_tally_row {
    struct bz_str name; /* of the recipe; a wave has none */
    uint32_t n[BZ_ACCOUNT_STATES];
    int64_t ran;     /* ns of what ran, added */
    int64_t cpu;     /* likewise, CPU time */
    int64_t saved;   /* of what was cached or not needed, as far as known */
    uint64_t memory; /* the most that one process had */
};

struct bz_tally BZ_VEC(struct bz_tally_row);

/* Fill an empty tally; release it with bz_vec_release. Recipes: those that ran longest
 * come first, equal ones by name. Waves: the first first. */
void bz_tally_recipes(struct bz_tally *out, const struct bz_account *a);
void bz_tally_waves(struct bz_tally *out, const struct bz_account *a,
                    const struct bz_shape *s);

/* Up to `max` tasks that ran, those that took longest first. */
void bz_tally_slowest(struct bz_dag_ids *out, const struct bz_account *a,
                      const struct bz_shape *s, size_t max);

#endif
