/* gc_plan.h - which results a policy drops: decides, and touches nothing.
 *
 * The record of a result (action.h) stays and goes with it.
 *
 * Single-threaded; time is that of sorting the results.
 */
#ifndef BZ_CACHE_GC_PLAN_H
#define BZ_CACHE_GC_PLAN_H

#include "cache/gc.h"

struct bz_gc_plan {
    struct bz_inventory *v; /* its refs are those of the results that stay */
    enum bz_gc_reason *why; /* for each result */
    uint32_t *record;       /* of each result: its record, or BZ_INVENTORY_NONE */
    bool *led;              /* for each result: it is the record of one that is there */
    int64_t limit;          /* what was used since then stays */
    uint64_t left;          /* bytes that stay */
    uint64_t freed;         /* bytes that the file system gets back */
};

/* `now` and `limit` are on the file system's clock; `available` are the bytes free now.
 * The inventory's refs are 0. Release *out in any case. */
int bz_gc_plan_make(struct bz_inventory *v, const struct bz_gc_policy *policy,
                    int64_t now, int64_t limit, uint64_t available,
                    struct bz_gc_plan *out, struct bz_err *err) BZ_MUST_CHECK;
void bz_gc_plan_release(struct bz_gc_plan *p);

/* Whether the policy is met by what is planned. */
bool bz_gc_plan_enough(const struct bz_gc_plan *p, const struct bz_gc_policy *policy,
                       uint64_t available);

/* A result that was to go stays after all. */
void bz_gc_plan_keep(struct bz_gc_plan *p, size_t result);

/* After the results: what others have filed meanwhile keeps its blobs. */
int bz_gc_plan_look_again(struct bz_gc_plan *p, struct bz_cas *cas,
                          struct bz_err *err) BZ_MUST_CHECK;

#endif
