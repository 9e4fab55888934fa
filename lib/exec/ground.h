/* ground.h - where tasks work: in sandboxes of their own, or, on machines without
 * namespaces, on the host's ground.
 *
 * A sandbox shows the work at BZ_JOB_ROOT. Without one it lies where it is seen, so
 * that place has to be the same for all tasks and builds of a user: TOP/root, with
 * TOP/tmp for temporary files and TOP/task for the script. One build at a time has it,
 * and runs one task at a time.
 */
#ifndef BZ_EXEC_GROUND_H
#define BZ_EXEC_GROUND_H

#include <stdbool.h>

#include "base/err.h"
#include "pool/cancel.h"

struct bz_ground {
    bool bare;         /* there are no sandboxes, but there is Landlock */
    bool tried;        /* whether there are sandboxes has been found out */
    char top[40];      /* if so */
    char root[48];     /* where tasks see the work */
    char tmp[48];      /* and their temporary directory */
    struct bz_err why; /* if it is bare: what keeps us from sandboxes */
};

/* Sandboxes, whether this machine has them or not. */
void bz_ground_usual(struct bz_ground *g);

/* What this machine has; if that is nothing, sandboxes: they say what is wrong. The
 * store is where their layers would lie (trial.h); NULL: not known yet. */
void bz_ground_find(struct bz_ground *g, const char *store);

/* No sandboxes, at the place of this user; and at a directory: for tests. */
void bz_ground_here(struct bz_ground *g);
void bz_ground_bare(struct bz_ground *g, const char *top);

/* Makes the place of a bare one and locks it, for which it waits, and says so, until it
 * is canceled; closing *lock gives it up. BZ_E_INVAL if somebody else's directory is
 * there. `cancel` may be NULL. */
int bz_ground_open(const struct bz_ground *g, struct bz_cancel *cancel, int *lock,
                   struct bz_err *err) BZ_MUST_CHECK;

/* Removes what lies there. */
void bz_ground_clear(const struct bz_ground *g);

#endif
