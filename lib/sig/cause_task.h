/* cause_task.h - what changed one task by itself; a part of cause.c. */
#ifndef BZ_SIG_CAUSE_TASK_H
#define BZ_SIG_CAUSE_TASK_H

#include "sig/cause.h"

/* Adds the causes of a task of both records. False if it has none: only what it waits
 * for has changed. */
bool bz_cause_task_explain(struct bz_causes *c, uint32_t task,
                           const struct bz_record_task *was,
                           const struct bz_record_task *is);

#endif
