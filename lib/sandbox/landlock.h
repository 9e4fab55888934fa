/* landlock.h - what a program may reach of the file system where there is no root of
 * its own for it: rules on the host's paths.
 *
 * Landlock keeps a program, and all that it starts, from opening, making and removing
 * files but where a rule allows it. Modes and times it does not guard, nor whether a
 * name exists. Kernels before Linux 5.19 let no file be moved or linked between
 * directories then, which builds cannot do without.
 */
#ifndef BZ_SANDBOX_LANDLOCK_H
#define BZ_SANDBOX_LANDLOCK_H

#include "sandbox/spec.h"

/* The first version that is of use, and that which guards truncate(2). */
#define BZ_LANDLOCK_REFER 2
#define BZ_LANDLOCK_TRUNCATE 3

/* The version that this kernel has, in *abi. BZ_E_NOSUP if it has none that is of use;
 * the message says why. */
int bz_landlock_find(int *abi, struct bz_err *err) BZ_MUST_CHECK;

/* Rules as near to a spec as paths of the host allow, for landlock_restrict_self(2):
 * what the spec shows is read at its own place, whatever the place it has inside; what
 * is to be made inside is not there. Regular files among `streams` may be opened anew.
 * The caller closes *fd. */
int bz_landlock_make(const struct bz_spec *spec, int abi, const int streams[3], int *fd,
                     struct bz_err *err) BZ_MUST_CHECK;

#endif
