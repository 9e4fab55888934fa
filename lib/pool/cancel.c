#include "pool/cancel.h"

#include "base/err.h"
#include "os/clock.h"

static int64_t nearest(int64_t a, int64_t b)
{
    if (a == BZ_CLOCK_NEVER || b == BZ_CLOCK_NEVER)
        return a == BZ_CLOCK_NEVER ? b : a;
    return a < b ? a : b;
}

void bz_cancel_init(struct bz_cancel *c, struct bz_cancel *parent, int64_t deadline)
{
    c->parent = parent;
    c->deadline = nearest(deadline, bz_cancel_deadline(parent));
    atomic_init(&c->now, false);
}

void bz_cancel_now(struct bz_cancel *c)
{
    /* release: whoever sees the token canceled sees why; pairs with the check. */
    atomic_store_explicit(&c->now, true, memory_order_release);
}

int bz_cancel_check(struct bz_cancel *c)
{
    int64_t deadline = bz_cancel_deadline(c);

    for (; c; c = c->parent)
        if (atomic_load_explicit(&c->now, memory_order_acquire))
            return BZ_E_CANCELED;
    if (deadline != BZ_CLOCK_NEVER && bz_clock_now() >= deadline)
        return BZ_E_TIMEOUT;
    return 0;
}
