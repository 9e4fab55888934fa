/* running.h - tasks that run, from the start to a filed result.
 *
 * For the files of this module only.
 */
#ifndef BZ_EXEC_RUNNING_H
#define BZ_EXEC_RUNNING_H

#include "exec/state.h"

/* Starts what is ready, as far as there is room. */
void bz_running_start(struct bz_exec *x);

/* Files the result of one task whose script has ended, after others had the chance to
 * take its place; false if there is none. What waits for it may be ready then. */
bool bz_running_file(struct bz_exec *x);

/* Goes on with what has ended on other threads. */
void bz_running_take(struct bz_exec *x);

/* Waits for the other threads, if there is no time for what they do any more. */
void bz_running_settle(struct bz_exec *x);

/* Frees those that were killed, once their processes are gone. */
void bz_running_drop(struct bz_exec *x);

/* Stops the scripts that run, and nothing starts any more. They have failed because of
 * `why`, which lives as long as the build. */
void bz_running_stop(struct bz_exec *x, const char *why);

/* Files a result that was found by its content key under the task's own key as well. */
void bz_running_keep_same(struct bz_exec *x, uint32_t t);

#endif
