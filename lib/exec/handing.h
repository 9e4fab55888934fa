/* handing.h - what a task is handed on by those it waits for.
 *
 * For the files of this module only.
 */
#ifndef BZ_EXEC_HANDING_H
#define BZ_EXEC_HANDING_H

#include "exec/state.h"

/* The layers of all it waits for, each once, those of tasks that wait for others on top
 * of theirs; their order is the same whatever else there is in the graph. To be
 * released. */
void bz_handing_collect(const struct bz_exec *x, uint32_t t, struct bz_output *out);

#endif
