/* latch.h - a flag that is set once and can be slept on by one thread.
 *
 * States and who moves them:
 *
 *     UNSET ---> SLEEPY ---> SLEEPING ---> UNSET      the waiter
 *       |           |            |
 *       +-----------+------------+-------> SET        the setter, by one exchange
 *
 * The waiter may block only after both of its steps succeeded. A setter that comes
 * before the second step makes it fail; one that comes after it sees SLEEPING and
 * knows that it has to wake the waiter. Without the step in between, a setter could
 * come after the waiter's last look and before it is recognisable as asleep.
 *
 * The setter does not touch the latch after the exchange, so the waiter may free it
 * as soon as it sees SET.
 */
#ifndef BZ_POOL_LATCH_H
#define BZ_POOL_LATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct bz_sleep;

enum {
    BZ_LATCH_UNSET,
    BZ_LATCH_SLEEPY,
    BZ_LATCH_SLEEPING,
    BZ_LATCH_SET,
};

struct bz_latch {
    atomic_uint state;
    unsigned index;         /* of the waiting worker in `sleep` */
    struct bz_sleep *sleep; /* NULL: the waiter is not a worker */
};

/* For a waiter that is worker `index` of the lane that `sleep` belongs to; it waits
 * with bz_worker_wait. A zeroed latch is for any other thread and bz_latch_wait. */
static inline void bz_latch_init(struct bz_latch *l, struct bz_sleep *sleep,
                                 unsigned index)
{
    atomic_init(&l->state, BZ_LATCH_UNSET);
    l->index = index;
    l->sleep = sleep;
}

/* True once set; what the setter did before is then visible. */
static inline bool bz_latch_probe(struct bz_latch *l)
{
    return atomic_load_explicit(&l->state, memory_order_acquire) == BZ_LATCH_SET;
}

/* Sets it and wakes the waiter if it sleeps. Any thread, once. */
void bz_latch_set(struct bz_latch *l);

/* Blocks until it is set or `deadline` (os/clock.h) passes; true if set. Only for a
 * thread that is not a worker, and one thread at a time. */
bool bz_latch_wait(struct bz_latch *l, int64_t deadline);

/* The waiter's steps, each false if the latch was set meanwhile. */
bool bz_latch_get_sleepy(struct bz_latch *l);
bool bz_latch_fall_asleep(struct bz_latch *l);
void bz_latch_wake_up(struct bz_latch *l); /* back to UNSET unless set */

#endif
