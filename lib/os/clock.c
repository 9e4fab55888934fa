#include "os/clock.h"

#include <limits.h>
#include <time.h>

static int64_t read_clock(clockid_t id)
{
    struct timespec ts;

    clock_gettime(id, &ts);
    return ts.tv_sec * BZ_CLOCK_S + ts.tv_nsec;
}

int64_t bz_clock_now(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

int64_t bz_clock_coarse(void)
{
    return read_clock(CLOCK_MONOTONIC_COARSE);
}

int64_t bz_clock_wall(void)
{
    return read_clock(CLOCK_REALTIME);
}

int64_t bz_clock_cpu(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

int64_t bz_clock_in(int64_t ns)
{
    int64_t now = bz_clock_now();

    if (ns <= 0)
        return now;
    return ns > INT64_MAX - now ? INT64_MAX : now + ns;
}

int bz_clock_poll_ms(int64_t deadline)
{
    int64_t left, ms;

    if (deadline == BZ_CLOCK_NEVER)
        return -1;
    left = deadline - bz_clock_now();
    if (left <= 0)
        return 0;
    ms = (left - 1) / BZ_CLOCK_MS + 1;
    return ms > INT_MAX ? INT_MAX : (int)ms;
}
