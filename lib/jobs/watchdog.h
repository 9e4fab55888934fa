/* watchdog.h - looks at things when their time is up.
 *
 * Entries are the caller's, in a heap by time. One item on the pool's io lane sleeps
 * until the first is due; it comes with the first entry there ever is, and stays. It
 * costs nothing while nothing is due. Any thread may call anything.
 */
#ifndef BZ_JOBS_WATCHDOG_H
#define BZ_JOBS_WATCHDOG_H

#include "base/sync.h"
#include "base/vec.h"
#include "pool/pool.h"

struct bz_watchdog_entry {
    int64_t due; /* the watchdog's, as is the next */
    size_t at;   /* its place in the heap, from 1; 0: it is in none */
};

struct bz_watchdog_place {
    struct bz_watchdog_entry *entry;
};

/* The entry is due, and in no heap. Returns when it shall be looked at again, or 0:
 * then the watchdog does not touch it any more. Without a lock. */
typedef int64_t (*bz_watchdog_fn)(void *ctx, struct bz_watchdog_entry *e, int64_t now);

struct bz_watchdog {
    struct bz_pool *pool;
    bz_watchdog_fn look;
    void *ctx;
    struct bz_sync_mutex mutex;
    struct bz_watchdog_heap BZ_VEC(struct bz_watchdog_place) heap; /* mutex */
    bool there;                                                    /* mutex */
    atomic_bool stop;
    atomic_uint changed; /* when the first one is another: a futex */
    struct bz_pool_item item;
};

void bz_watchdog_init(struct bz_watchdog *w, struct bz_pool *pool, bz_watchdog_fn look,
                      void *ctx);
/* There are no entries left. */
void bz_watchdog_release(struct bz_watchdog *w);

void bz_watchdog_add(struct bz_watchdog *w, struct bz_watchdog_entry *e, int64_t due);

/* False if it is not there: just being looked at, or not to be any more. */
bool bz_watchdog_remove(struct bz_watchdog *w, struct bz_watchdog_entry *e);

#endif
