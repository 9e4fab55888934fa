/* tasklist.h - the tasks that wait for a worker: a ring that grows.
 *
 * When the ring is full a larger one is put after it; nobody is stopped for that, and
 * nothing is moved. Readers look into all, the oldest first; a ring that was outgrown
 * stays, empty. A task is claimed by taking it: by one worker, exactly once.
 */
#ifndef BZ_JOBS_TASKLIST_H
#define BZ_JOBS_TASKLIST_H

#include "base/err.h"
#include "base/sync.h"
#include "jobs/ring.h"

#define BZ_TASKLIST_RINGS 24

struct bz_tasklist {
    struct bz_ring rings[BZ_TASKLIST_RINGS];
    BZ_PADDED atomic_uint nrings; /* grows only */
    size_t limit;                 /* tasks at most */
    struct bz_sync_mutex grow;
};

void bz_tasklist_init(struct bz_tasklist *l, size_t capacity, size_t limit);
void bz_tasklist_release(struct bz_tasklist *l);

/* False if there is no room for more. */
bool bz_tasklist_push(struct bz_tasklist *l, void *task);
void *bz_tasklist_pop(struct bz_tasklist *l);        /* NULL: there is none */
size_t bz_tasklist_len(const struct bz_tasklist *l); /* about */

#endif
