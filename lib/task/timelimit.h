/* timelimit.h - how long a task may run.
 *
 * What its flag [timeout] says, in seconds, else the command line, else the variable
 * BITZEL_TASK_TIMEOUT; 0 is no limit. None of it is part of a signature. Any thread
 * that has the variables.
 */
#ifndef BZ_TASK_TIMELIMIT_H
#define BZ_TASK_TIMELIMIT_H

#include "vars/vars.h"

#define BZ_TIMELIMIT_MAX 31536000 /* seconds: a year */

/* `asked` is the command line's, in seconds, or -1. *out is in ns. BZ_E_INVAL for what
 * is no number. */
int bz_timelimit_get(struct bz_vars *v, struct bz_str task, int64_t asked, int64_t *out,
                     struct bz_err *err) BZ_MUST_CHECK;

#endif
