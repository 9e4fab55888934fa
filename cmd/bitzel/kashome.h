/* kashome.h - the home of the user who started kas.
 *
 * kas runs programs with an empty environment and a new, temporary HOME. A store below
 * it would be gone with the end of kas. So below kas the settings, the store and the
 * index are where the user has them: BITZEL_HOME is set to the HOME of kas itself, and
 * XDG_CONFIG_HOME, XDG_CACHE_HOME and XDG_STATE_HOME to those of kas. HOME stays, since
 * kas puts credentials there.
 */
#ifndef BZ_CMD_KASHOME_H
#define BZ_CMD_KASHOME_H

#include <sys/types.h>

#include "base/arena.h"

/* The environment of the kas that the process `pid` with this HOME is below, as
 * /proc/PID/environ has it. Of several the outermost counts. {0} if there is none: a
 * kas of another user does not count, nor one that gave another HOME. `proc` is /proc
 * but in tests. */
struct bz_str bz_kashome_find(struct bz_arena *a, const char *proc, pid_t pid,
                              const char *home);

/* Sets the variables, unless they are set. To be called before there are threads. */
void bz_kashome_adopt(void);

#endif
