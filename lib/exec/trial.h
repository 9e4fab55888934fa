/* trial.h - whether sandboxes work here, found out by starting one.
 *
 * Namespaces alone are not enough: a container may have a /proc that hides something,
 * so that no other can be mounted, or a store on a file system that no overlay can lie
 * on. So one sandbox is made as tasks have it, with an overlay where the store is, and
 * runs nothing to speak of.
 *
 * That it worked is remembered in the store, for as long as the machine has not been
 * started anew and has the same mounts.
 */
#ifndef BZ_EXEC_TRIAL_H
#define BZ_EXEC_TRIAL_H

#include "base/err.h"

/* `store` need not exist: then an overlay is tried where it would be. BZ_E_NOSUP if
 * there can be no sandbox; the message says at which step. Other failures say nothing
 * about sandboxes: that the directory cannot be written to, say. */
int bz_trial_run(const char *store, struct bz_err *err) BZ_MUST_CHECK;

/* Likewise, but what is remembered counts. */
int bz_trial_recall(const char *store, struct bz_err *err) BZ_MUST_CHECK;

#endif
