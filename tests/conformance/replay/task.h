/* task.h - the lists of BitBake that are not variables here: tasks and what they wait
 * for.
 */
#ifndef BZ_CONFORMANCE_TASK_H
#define BZ_CONFORMANCE_TASK_H

#include "run.h"

/* What "__BBTASKS", or the flag "deps" of a task, is a list of; NULL if the name is not
 * that of such a list. `flag` may be NULL. */
const struct bz_taskdef_names *replay_task_list(const struct bz_meta *meta,
                                                struct bz_str name, const char *flag);

/* Whether the recorded list has these names in this order. */
enum replay_verdict replay_task_compare(struct replay_run *r, const struct bz_doc *op,
                                        const struct bz_taskdef_names *names);

/* setVar() of such a list. The list of what has ever been exported may be set to
 * nothing: the store finds that by itself. */
enum replay_verdict replay_task_set(struct replay_run *r, struct bz_meta *meta,
                                    const struct bz_doc *op);

#endif
