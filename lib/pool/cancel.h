/* cancel.h - asking work to stop.
 *
 * A token is canceled by bz_cancel_now, by its deadline, or because the token it was
 * derived from is. It stays canceled. Work polls it at points where stopping is safe;
 * work that has not started when its token is canceled is never started.
 *
 * Any thread may call anything. A token must not outlive its parent. NULL is a token
 * that is never canceled.
 */
#ifndef BZ_POOL_CANCEL_H
#define BZ_POOL_CANCEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct bz_cancel {
    struct bz_cancel *parent;
    int64_t deadline; /* the nearest of its own and its ancestors'; os/clock.h */
    atomic_bool now;
};

/* `deadline` may be BZ_CLOCK_NEVER, `parent` NULL. */
void bz_cancel_init(struct bz_cancel *c, struct bz_cancel *parent, int64_t deadline);
void bz_cancel_now(struct bz_cancel *c);

/* 0 to go on, BZ_E_CANCELED or BZ_E_TIMEOUT to stop. */
int bz_cancel_check(struct bz_cancel *c);

/* For functions that block: when they must be back at the latest. */
static inline int64_t bz_cancel_deadline(const struct bz_cancel *c)
{
    return c ? c->deadline : 0;
}

#endif
