#include "pool/cancel.h"

#include <poll.h>

#include "base/err.h"
#include "os/clock.h"

#define PAUSE (5 * BZ_CLOCK_MS)

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
    c->watched = 0;
    atomic_init(&c->looked_at, 0);
}

void bz_cancel_now(struct bz_cancel *c)
{
    /* release: whoever sees the token canceled sees why; pairs with the check. */
    atomic_store_explicit(&c->now, true, memory_order_release);
}

void bz_cancel_watch(struct bz_cancel *c, int fd)
{
    c->watched = fd + 1;
}

/* Asks the kernel now and then only: tokens are checked for every file. */
static bool is_readable(struct bz_cancel *c)
{
    struct pollfd p = {.fd = c->watched - 1, .events = POLLIN};
    int64_t now = bz_clock_now();

    /* relaxed: that two threads ask, or one asks a little late, does not matter */
    if (now - atomic_load_explicit(&c->looked_at, memory_order_relaxed) < PAUSE)
        return false;
    atomic_store_explicit(&c->looked_at, now, memory_order_relaxed);
    return poll(&p, 1, 0) > 0 && (p.revents & POLLIN);
}

int bz_cancel_check(struct bz_cancel *c)
{
    int64_t deadline = bz_cancel_deadline(c);

    for (; c; c = c->parent) {
        if (atomic_load_explicit(&c->now, memory_order_acquire))
            return BZ_E_CANCELED;
        if (c->watched && is_readable(c)) {
            bz_cancel_now(c);
            return BZ_E_CANCELED;
        }
    }
    if (deadline != BZ_CLOCK_NEVER && bz_clock_now() >= deadline)
        return BZ_E_TIMEOUT;
    return 0;
}
