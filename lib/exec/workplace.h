/* workdesk.h - what it takes to run anything, made when the first task runs: a
 * directory for work, the trees, the sandbox, and the loop that watches children.
 *
 * For the files of this module only.
 */
#ifndef BZ_EXEC_WORKPLACE_H
#define BZ_EXEC_WORKPLACE_H

#include "exec/state.h"

int bz_workplace_open(struct bz_exec *x, struct bz_err *err) BZ_MUST_CHECK;

/* Only the trees; they may be open. Also removes what builds that were killed have
 * left. */
int bz_workplace_trees(struct bz_exec *x, struct bz_err *err) BZ_MUST_CHECK;

void bz_workplace_close(struct bz_exec *x);

/* The user wants an end: x->o->interrupt_fd can be read. */
void bz_workplace_interrupt(struct bz_exec *x);

#endif
