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
    int watched;            /* 1 + a descriptor, see bz_cancel_watch(); 0: none */
    atomic_llong looked_at; /* when that was last asked */
};

/* `deadline` may be BZ_CLOCK_NEVER, `parent` NULL. */
void bz_cancel_init(struct bz_cancel *c, struct bz_cancel *parent, int64_t deadline);
void bz_cancel_now(struct bz_cancel *c);

/* Has it canceled also as soon as the descriptor is readable, which is left to whoever
 * reads it: that of signals, say, while the thread that takes them is busy. To be
 * called before others know of the token. */
void bz_cancel_watch(struct bz_cancel *c, int fd);

/* 0 to go on, BZ_E_CANCELED or BZ_E_TIMEOUT to stop. */
int bz_cancel_check(struct bz_cancel *c);

/* For functions that block: when they must be back at the latest. */
static inline int64_t bz_cancel_deadline(const struct bz_cancel *c)
{
    return c ? c->deadline : 0;
}

#endif
