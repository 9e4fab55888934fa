/* parallel.h - where a script asks make to run several commands at a time.
 *
 * Metadata has the option in PARALLEL_MAKE and PARALLEL_MAKEINST, "-j 16" say, for each
 * task by itself. A make that is given a number takes no part in a jobserver
 * (exec/jobserver.h), which all tasks share: there the option goes. Where a recipe has
 * none, because its makefiles cannot do it, there is nothing to take away, and where
 * another program is given it, that has to do without a jobserver.
 *
 * A ninja knows jobservers since 1.13, those with a named pipe. Which one a task runs
 * only the task can find out, when it does: so the script asks, and gives the option to
 * older ones.
 *
 * Pure; any thread.
 */
#ifndef BZ_TASK_PARALLEL_H
#define BZ_TASK_PARALLEL_H

#include <stdbool.h>

#include "base/arena.h"

/* `value` is what the variable has. If in a line of *script, be it continued, a make or
 * ninja is given it, and by it more than one command at a time, *script becomes the
 * script without the option, in the arena. No line moves. */
bool bz_parallel_share(struct bz_str *script, struct bz_str value, struct bz_arena *a);

#endif
