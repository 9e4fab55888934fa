#include "os/futex.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "os/clock.h"

static bool wait(atomic_uint *word, unsigned seen, int64_t deadline, int private)
{
    struct timespec at = {
        .tv_sec = (time_t)(deadline / BZ_CLOCK_S),
        .tv_nsec = (long)(deadline % BZ_CLOCK_S),
    };
    long rc;

    /* WAIT_BITSET is the form whose timeout is an instant, not a duration. */
    rc = syscall(SYS_futex, word, FUTEX_WAIT_BITSET | private, seen,
                 deadline == BZ_CLOCK_NEVER ? NULL : &at, NULL, FUTEX_BITSET_MATCH_ANY);
    return !(rc < 0 && errno == ETIMEDOUT);
}

bool bz_futex_wait(atomic_uint *word, unsigned seen, int64_t deadline)
{
    return wait(word, seen, deadline, FUTEX_PRIVATE_FLAG);
}

void bz_futex_wake(atomic_uint *word, int count)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

bool bz_futex_wait_shared(atomic_uint *word, unsigned seen, int64_t deadline)
{
    return wait(word, seen, deadline, 0);
}

void bz_futex_wake_shared(atomic_uint *word, int count)
{
    syscall(SYS_futex, word, FUTEX_WAKE, count, NULL, NULL, 0);
}
