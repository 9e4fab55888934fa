/* proc_run.h - run one child process to its end and get what it said.
 *
 * The pump with a single child: proc_pump.h says how a child ends. Any thread may call
 * it; to run many at once, use a pump.
 */
#ifndef BZ_OS_PROC_RUN_H
#define BZ_OS_PROC_RUN_H

#include "os/proc_pump.h"

/* Succeeds when the child ran, however it ended: look at the result, and release it
 * (bz_proc_pump_release_result). */
int bz_proc_run(const struct bz_proc_spec *spec, struct bz_proc_result *result,
                struct bz_err *err) BZ_MUST_CHECK;

#endif
