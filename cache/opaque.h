/* opaque.h - how an overlay marks a directory that hides what lower layers have in it.
 *
 * The mark is an extended attribute: user.overlay.opaque for overlays that an ordinary
 * user has mounted, trusted.overlay.opaque for those of root. A store knows whether a
 * directory is marked, not how.
 */
#ifndef BZ_CACHE_OPAQUE_H
#define BZ_CACHE_OPAQUE_H

#include <stdbool.h>

#include "base/err.h"

bool bz_opaque_is(int fd);

/* Both marks, as far as they can be made: an overlay reads one or the other, depending
 * on who mounts it. */
int bz_opaque_set(int fd, struct bz_err *err) BZ_MUST_CHECK;

#endif
