/* remark.h - what a task said that somebody should see although it ended well.
 *
 * bbwarn and bberror write lines to the log that begin with WARNING: and ERROR:, as in
 * BitBake; each becomes an event. A log is looked at once, when its task has ended, and
 * not beyond a bound: nobody reads thousands of warnings.
 */
#ifndef BZ_EXEC_REMARK_H
#define BZ_EXEC_REMARK_H

#include "exec/state.h"

#define BZ_REMARK_MOST 20                 /* of one task */
#define BZ_REMARK_LONGEST 1000            /* bytes of one */
#define BZ_REMARK_READ ((size_t)16 << 20) /* bytes of its log */

/* Tells of the warnings in the log of a task, and with `errors` of those, too. A log
 * that cannot be read has none. */
void bz_remark_tell(struct bz_exec *x, uint32_t task, const char *log, bool errors);

#endif
