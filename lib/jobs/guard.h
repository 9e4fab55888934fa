/* guard.h - runs a function that may crash.
 *
 * SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT that a guarded function raises on its own
 * thread end that function, not the process. What it held (memory, locks) stays held:
 * good enough to go on and say so, not to rely on a handler that does it often; a
 * process of its own is the way for these.
 *
 * Elsewhere the signals do what they did before bz_guard_open.
 */
#ifndef BZ_JOBS_GUARD_H
#define BZ_JOBS_GUARD_H

#include "base/err.h"

/* Once for each user of this; the handlers stay until the last has closed. */
int bz_guard_open(struct bz_err *err) BZ_MUST_CHECK;
void bz_guard_close(void);

/* Calls fn(arg). Returns 0, or the number of the signal that ended it. Not to be
 * nested.
 */
int bz_guard_run(void (*fn)(void *arg), void *arg) BZ_MUST_CHECK;

#endif
