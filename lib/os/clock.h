/* clock.h - what time it is. Instants are nanoseconds in an int64_t. */
#ifndef BZ_OS_CLOCK_H
#define BZ_OS_CLOCK_H

#include <stdint.h>

#define BZ_CLOCK_MS INT64_C(1000000)
#define BZ_CLOCK_S INT64_C(1000000000)

/* A deadline that never comes; in every API that takes a deadline. */
#define BZ_CLOCK_NEVER INT64_C(0)

int64_t bz_clock_now(void);    /* monotonic: for deadlines and durations */
int64_t bz_clock_coarse(void); /* the same to some milliseconds, for less */
int64_t bz_clock_wall(void);   /* since 1970, UTC: for showing and storing */
int64_t bz_clock_cpu(void);    /* CPU time this process has used */

/* The instant `ns` from now. Saturates; `ns` <= 0 is the present. */
int64_t bz_clock_in(int64_t ns);

/* A deadline as the timeout of poll(2) and epoll_wait(2): rounded up, so that the
 * deadline has passed when the call times out; -1 for BZ_CLOCK_NEVER. One too far for
 * an int is cut, so look at the clock after a timeout. */
int bz_clock_poll_ms(int64_t deadline);

#endif
