/* choice.h - what to do about each task: use a stored result, run it, or neither.
 *
 * For the files of this module only.
 */
#ifndef BZ_EXEC_CHOICE_H
#define BZ_EXEC_CHOICE_H

#include "exec/state.h"

/* Once, before all: the place of each task in the order, and which results are never
 * used again. */
void bz_choice_rank(struct bz_exec *x);

/* From the targets down to what is stored now; fills x->queues. */
void bz_choice_make(struct bz_exec *x);

/* Whether a result that may be used is stored under the key; then it is the task's
 * output. */
bool bz_choice_find(struct bz_exec *x, uint32_t t, const struct bz_digest *key);

/* Counts it, and tells. `same`: it was found by the trees that the task sees. */
void bz_choice_use(struct bz_exec *x, uint32_t t, bool same);

/* Notes a tree that is gone: all is chosen anew then. False if there is none, or if it
 * was known: then another round would not help. */
bool bz_choice_lose(struct bz_exec *x, const struct bz_digest *tree);

#endif
