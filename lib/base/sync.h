/* sync.h - a mutex and a condition the compiler can check.
 *
 * Under clang, -Wthread-safety proves that a function marked BZ_REQUIRES is called
 * with its mutex held and that a field marked BZ_GUARDED is touched only then. A
 * zeroed struct is ready for use; none needs to be destroyed.
 */
#ifndef BZ_BASE_SYNC_H
#define BZ_BASE_SYNC_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/defs.h"

#if defined(__clang__)
#define BZ_TSA(x) __attribute__((x))
#else
#define BZ_TSA(x)
#endif
#define BZ_GUARDED(mu) BZ_TSA(guarded_by(mu))
#define BZ_REQUIRES(mu) BZ_TSA(requires_capability(mu))
#define BZ_ACQUIRES(mu) BZ_TSA(acquire_capability(mu))
#define BZ_RELEASES(mu) BZ_TSA(release_capability(mu))

struct BZ_TSA(capability("mutex")) bz_sync_mutex {
    pthread_mutex_t m;
};

struct bz_sync_cond {
    pthread_cond_t c;
};

void bz_sync_lock(struct bz_sync_mutex *mu) BZ_ACQUIRES(*mu);
void bz_sync_unlock(struct bz_sync_mutex *mu) BZ_RELEASES(*mu);

/* Waits until signalled or until `deadline` (CLOCK_MONOTONIC nanoseconds; 0 is never,
 * less has passed). False when the deadline passed. May return early: call it in a
 * loop. */
bool bz_sync_wait(struct bz_sync_cond *cond, struct bz_sync_mutex *mu, int64_t deadline)
    BZ_REQUIRES(*mu);
void bz_sync_broadcast(struct bz_sync_cond *cond);

#endif
