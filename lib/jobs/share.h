/* share.h - how much of something a client may have at a time.
 *
 * So many of its tasks may wait or run; what comes beyond that is held back here, and
 * let go one by one, as those end: whoever asks for a thousand things that take their
 * time waits for them alone. Any thread may call anything.
 */
#ifndef BZ_JOBS_SHARE_H
#define BZ_JOBS_SHARE_H

#include "base/sync.h"
#include "jobs/request.h"

struct bz_task;

struct bz_share_queue {
    struct bz_task *first, *last;
};

struct bz_share {
    struct bz_sync_mutex mutex;
    unsigned in;                                       /* mutex */
    struct bz_share_queue held[BZ_REQUEST_PRIORITIES]; /* mutex */
};

/* True if it may go on. Otherwise it is held back, and comes out below. */
bool bz_share_enter(struct bz_share *s, unsigned limit, struct bz_task *t);

/* One that was let on has ended: another that may go on, or NULL. */
struct bz_task *bz_share_leave(struct bz_share *s);

#endif
