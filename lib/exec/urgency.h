/* urgency.h - how soon a task should run: the longer what has to come after it, the
 * sooner.
 *
 * A build cannot be shorter than the longest chain of its tasks, so what begins the
 * longest chain that is left goes first. How long tasks take is what they took last
 * time on this machine (cache/index.h); one that is not known takes the mean of those
 * that are. For the files of this module only.
 */
#ifndef BZ_EXEC_URGENCY_H
#define BZ_EXEC_URGENCY_H

#include "exec/state.h"

/* Once it is known which tasks wait: fills their `cost`, `ahead` and `wave`, and the
 * `work` there is. */
void bz_urgency_make(struct bz_exec *x);

/* A task that waits for nothing any more is ready. */
void bz_urgency_ready(struct bz_exec *x, uint32_t t);

/* A task that waited will not run any more, or has run. */
void bz_urgency_settle(struct bz_exec *x, uint32_t t);

/* What a task took that has run, for the next build to know. */
void bz_urgency_learn(struct bz_exec *x, uint32_t t, const struct bz_index_cost *cost);
/* What a task took elsewhere, by a result that is used. */
void bz_urgency_hear(struct bz_exec *x, uint32_t t, int64_t took);

#endif
