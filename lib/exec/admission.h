/* admission.h - whether there is memory for one more task beside those that run.
 *
 * By what tasks needed when they last ran here (cache/index.h), the memory that is left
 * now, and how long processes have waited for memory lately. A task whose needs are not
 * known needs nothing: the first time anything may run. If nothing runs, anything may.
 *
 * What is known of a task is its largest process, not all of them together: a make that
 * runs eight compilers needs more than the largest of them. The brake is for that.
 *
 * One thread.
 */
#ifndef BZ_EXEC_ADMISSION_H
#define BZ_EXEC_ADMISSION_H

#include <stdbool.h>

#include "os/memory.h"

/* From this percentage on nothing is started beside others. */
#define BZ_ADMISSION_PRESSURE 20

typedef void (*bz_admission_fn)(void *ctx, struct bz_memory *out);

struct bz_admission {
    bz_admission_fn read; /* NULL: of the system */
    void *ctx;
    unsigned running;
    uint64_t room;         /* bytes there were when nothing ran */
    uint64_t needed;       /* by those that run */
    struct bz_memory last; /* as read, good for a moment */
    int64_t until;
    bool full; /* the last answer was no; ask again some time */
};

/* Whether a task that needs `peak` bytes may start. */
bool bz_admission_ask(struct bz_admission *a, uint64_t peak);
/* It has started, or ended. */
void bz_admission_enter(struct bz_admission *a, uint64_t peak);
void bz_admission_leave(struct bz_admission *a, uint64_t peak);

#endif
