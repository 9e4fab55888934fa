/* userns.h - a user namespace, and a network namespace that has only a loopback.
 *
 * Made once and entered by one sandbox after another: making a network namespace and
 * ending it costs more than all the rest of a sandbox, and the kernel does one at a
 * time. They exist as long as their descriptors, without a process in them. Inside,
 * there is one user and one group, which are the caller's outside.
 */
#ifndef BZ_SANDBOX_USERNS_H
#define BZ_SANDBOX_USERNS_H

#include <stdbool.h>

#include "base/err.h"

struct bz_userns {
    int user;
    int net; /* -1: the host's network */
};

struct bz_userns_opts {
    unsigned id;  /* of user and group inside */
    bool network; /* the host's: no namespace for it */
};

/* `stack` is one of spawn.h. BZ_E_NOSUP if this machine does not allow it; the message
 * says what to do. */
int bz_userns_make(struct bz_userns *ns, const struct bz_userns_opts *opts, void *stack,
                   struct bz_err *err) BZ_MUST_CHECK;
/* Whether it would work, in less time: without a namespace of the network. One of the
 * host's name needs the same power, which some machines give to nobody inside.
 * BZ_E_NOSUP as above. */
int bz_userns_probe(void *stack, struct bz_err *err) BZ_MUST_CHECK;

void bz_userns_release(struct bz_userns *ns);

#endif
