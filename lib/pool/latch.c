#include "pool/latch.h"

#include "os/futex.h"
#include "pool/sleep.h"

static bool step(struct bz_latch *l, unsigned from, unsigned to)
{
    /* seq_cst: the waiter's steps and the setter's exchange have one order. */
    return atomic_compare_exchange_strong_explicit(
        &l->state, &from, to, memory_order_seq_cst, memory_order_acquire);
}

bool bz_latch_get_sleepy(struct bz_latch *l)
{
    return step(l, BZ_LATCH_UNSET, BZ_LATCH_SLEEPY);
}

bool bz_latch_fall_asleep(struct bz_latch *l)
{
    return step(l, BZ_LATCH_SLEEPY, BZ_LATCH_SLEEPING);
}

void bz_latch_wake_up(struct bz_latch *l)
{
    unsigned seen = atomic_load_explicit(&l->state, memory_order_relaxed);

    /* Nobody but a setter can interfere, so one failure means SET. */
    if (seen != BZ_LATCH_SET)
        step(l, seen, BZ_LATCH_UNSET);
}

void bz_latch_set(struct bz_latch *l)
{
    struct bz_sleep *sleep = l->sleep; /* *l may be gone after the exchange */
    unsigned index = l->index;

    /* seq_cst, with release for what was done before; pairs with bz_latch_probe. */
    if (atomic_exchange_explicit(&l->state, BZ_LATCH_SET, memory_order_seq_cst) !=
        BZ_LATCH_SLEEPING)
        return;
    if (sleep)
        bz_sleep_wake(sleep, index);
    else
        bz_futex_wake(&l->state, 1);
}

bool bz_latch_wait(struct bz_latch *l, int64_t deadline)
{
    bool in_time = true;

    while (in_time && !bz_latch_probe(l)) {
        if (!bz_latch_get_sleepy(l) || !bz_latch_fall_asleep(l))
            break; /* set meanwhile */
        in_time = bz_futex_wait(&l->state, BZ_LATCH_SLEEPING, deadline);
        bz_latch_wake_up(l);
    }
    return bz_latch_probe(l);
}
