#include "base/sync.h"

#include <errno.h>
#include <time.h>

#include "base/err.h"

/* The analysis sees only that this file passes the mutex on to pthread. */
void bz_sync_lock(struct bz_sync_mutex *mu) BZ_TSA(no_thread_safety_analysis)
{
    int rc = pthread_mutex_lock(&mu->m);

    BZ_ASSERT(rc == 0);
}

void bz_sync_unlock(struct bz_sync_mutex *mu) BZ_TSA(no_thread_safety_analysis)
{
    int rc = pthread_mutex_unlock(&mu->m);

    BZ_ASSERT(rc == 0);
}

bool bz_sync_wait(struct bz_sync_cond *cond, struct bz_sync_mutex *mu, int64_t deadline)
{
    int64_t ns = deadline > 0 ? deadline : 0;
    struct timespec at = {
        .tv_sec = (time_t)(ns / 1000000000),
        .tv_nsec = (long)(ns % 1000000000),
    };
    int rc;

    if (deadline == 0)
        rc = pthread_cond_wait(&cond->c, &mu->m);
    else
        rc = pthread_cond_clockwait(&cond->c, &mu->m, CLOCK_MONOTONIC, &at);
    BZ_ASSERT(rc == 0 || rc == ETIMEDOUT);
    return rc == 0;
}

void bz_sync_broadcast(struct bz_sync_cond *cond)
{
    pthread_cond_broadcast(&cond->c);
}
