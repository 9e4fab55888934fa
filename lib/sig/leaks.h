/* leaks.h - paths of this host that get into signatures.
 *
 * A file that says /home/me/project instead of ${TOPDIR} signs a task differently on
 * every host, and no result is shared. What is found here is where that is written.
 */
#ifndef BZ_SIG_LEAKS_H
#define BZ_SIG_LEAKS_H

#include "base/buf.h"
#include "base/map.h"
#include "sig/roots.h"

/* Adds a warning, one a line, for each place where a variable that was read in this
 * very store got a path below one of the roots. A path that got there by expansion has
 * no such place: it is named (roots.h), or comes from the environment. Variables in
 * `seen` are passed over, and added. */
void bz_leaks_find(struct bz_vars *v, const struct bz_roots *roots, struct bz_map *seen,
                   struct bz_buf *notes);

#endif
