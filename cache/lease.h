/* lease.h - how a process tells collectors, here and on other machines, that it is
 * using a store, and since when.
 *
 * A lease is an empty file in `leases/`, named as temporaries are (os/alive.h). Its
 * modification time is when its owner began, its change time when the owner last gave a
 * sign of life; both are on the file system's clock, whatever the machines think. A
 * lease counts until its owner is known to be gone or, where that cannot be known,
 * until it has given no sign for a day.
 *
 * A lease says that its owner may rely on whatever was used since it began. Who runs
 * for weeks should open the store anew for each piece of work.
 *
 * Any thread may renew a lease. Having none, because the disk is full say, is no error:
 * then a collector's grace period has to do.
 */
#ifndef BZ_CACHE_LEASE_H
#define BZ_CACHE_LEASE_H

#include <stdatomic.h>

#include "os/alive.h"
#include "os/fs.h"

struct bz_lease {
    int dir, fd;          /* -1: there is none */
    int64_t begun;        /* on the file system's clock, ns since 1970 */
    atomic_llong renewed; /* bz_clock_now() */
    char name[BZ_ALIVE_MAX + 32];
};

/* In the store whose directory is open as `top`. */
void bz_lease_open(struct bz_lease *l, int top, const struct bz_alive *self);
void bz_lease_close(struct bz_lease *l); /* fine without one, and twice */

/* A sign of life, if the last one is an hour old: so cheap that whoever uses the store
 * gives it. */
void bz_lease_renew(struct bz_lease *l);

/* When the first of those that still use the store began; `now`, on the file system's
 * clock, if there are none. Fails if that cannot be known: then nothing may be removed.
 * With `sweep` removes leases that no longer count. */
int bz_lease_oldest(int top, const struct bz_alive *self, int64_t now, bool sweep,
                    int64_t *out, struct bz_err *err) BZ_MUST_CHECK;

#endif
