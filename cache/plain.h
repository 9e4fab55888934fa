/* plain.h - files without the power to change who runs them, nor to be written to.
 *
 * A task may make a file setuid or setgid: that is data, which its dependents see and
 * put into images. On the host such a file, or one with capabilities, would give its
 * owner's rights to every user who can run it. So layers lie in directories that only
 * their owner can enter (expanded.h), and trees that users look at are plain. Files of
 * these are also read-only: an edit in a build's output is lost with the next build.
 */
#ifndef BZ_CACHE_PLAIN_H
#define BZ_CACHE_PLAIN_H

#include <stdbool.h>
#include <sys/stat.h>

/* The mode without the bits for setuid and setgid, and of all but directories without
 * those for writing. A directory can be entered and emptied by its owner. */
mode_t bz_plain_mode(mode_t mode);

/* Whether a file has capabilities (security.capability). True if that cannot be told.
 */
bool bz_plain_capable(int fd);
/* The same of a name in a directory, which is not followed if it is a link. */
bool bz_plain_capable_at(int dir, const char *name);

#endif
