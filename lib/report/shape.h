/* shape.h - the shape of a build: waves, what kept it waiting, and who ran beside whom.
 *
 * Everything here takes time in proportion to tasks and dependencies, but for the
 * logarithm that sorting costs. One thread.
 */
#ifndef BZ_REPORT_SHAPE_H
#define BZ_REPORT_SHAPE_H

#include "report/account.h"

#define BZ_SHAPE_NO_SLOT UINT32_MAX

struct bz_shape {
    struct bz_dag dag; /* of the tasks of the account, by number */
    struct bz_dag_ids order;
    uint32_t
        *wave; /* [tasks]: how many tasks lie before it at most, one after another */
    uint32_t nwaves;
    /* [tasks]: tasks that ran at the same time have different ones, and there are as
     * few as can be; BZ_SHAPE_NO_SLOT: it did not run. */
    uint32_t *slot;
    uint32_t nslots;
    struct bz_dag_ids by_start; /* tasks that ran */
    struct bz_dag_ids chain;    /* the critical path: tasks that ran, the first first */
    int64_t chain_took;
    int64_t busy;   /* ns of all that ran, added */
    int64_t saved;  /* likewise of all that was cached or not needed, as far as known */
    int64_t spared; /* of that: what was not needed */
    int64_t cpu;    /* likewise: CPU time */
    uint64_t memory; /* the most that one process of a task had */
};

/* Fills *s, which is {0}; the account must not change while it is used. BZ_E_INVAL if
 * tasks wait for each other. Release *s in any case. */
int bz_shape_make(struct bz_shape *s, const struct bz_account *a,
                  struct bz_err *err) BZ_MUST_CHECK;
void bz_shape_release(struct bz_shape *s);

#endif
