/* filter.h - the system calls that nothing in a sandbox may make.
 *
 * A list of what is refused, not of what is allowed: a build may use whatever a program
 * uses, but not what changes mounts, namespaces, the kernel or other programs' keys,
 * nor kinds of sockets that reach past a network namespace. Refused calls fail with
 * EPERM; clone3, whose flags cannot be looked at, with ENOSYS, upon which the C library
 * falls back to clone.
 */
#ifndef BZ_SANDBOX_FILTER_H
#define BZ_SANDBOX_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>

#include "base/err.h"

struct bz_filter {
    struct sock_fprog prog; /* for seccomp(2); ours to free */
};

/* For the machine it is called on, and for its 32-bit programs. */
int bz_filter_make(struct bz_filter *f, struct bz_err *err) BZ_MUST_CHECK;

/* Where there are no namespaces, it has to keep programs from the network, and from
 * what listens on this machine: sockets of local services are refused in any case;
 * those of the internet, unless `network`, init refuses to the task (init.c).
 * `truncates`: also truncate(2), for which there may be no other guard. */
int bz_filter_make_bare(struct bz_filter *f, bool network, bool truncates,
                        struct bz_err *err) BZ_MUST_CHECK;
void bz_filter_release(struct bz_filter *f);

#endif
