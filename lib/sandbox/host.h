/* host.h - what every task sees of the host: the tools, and what they cannot do
 * without.
 *
 * The same list on every machine, since it enters signatures: /usr and its friends, the
 * linker's cache, Debian's alternatives, a few harmless devices, and own copies of
 * files that would tell about this machine. No home, no /etc, no /var, no /run.
 */
#ifndef BZ_SANDBOX_HOST_H
#define BZ_SANDBOX_HOST_H

#include "sandbox/spec.h"

/* Adds it to a spec that has nothing yet. With spec->network also what it takes to
 * find other hosts and to trust them. */
void bz_host_add(struct bz_spec *spec);

#endif
