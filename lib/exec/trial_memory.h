/* trial_memory.h - the outcome of the last trial of sandboxes, for commands that start
 * none.
 *
 * The outcome decides about keys (outline.h). A build tries sandboxes itself (ground.h)
 * and keeps the outcome in the build directory's catalog; commands that only tell
 * something find it there and start no process. An entry holds under the circumstances
 * it was made in: this boot, these namespaces and rights of the process, these limits
 * of the kernel, and this store on this device. Entries of other circumstances stay
 * beside it, so that a container and its host may share a build directory.
 *
 * A build never relies on an entry: a wrong one costs a wrong answer, not a wrong
 * result.
 */
#ifndef BZ_EXEC_TRIAL_MEMORY_H
#define BZ_EXEC_TRIAL_MEMORY_H

#include "codec/entry_kinds.h"
#include "exec/ground.h"

/* Fills *g; false if nothing is known for these circumstances. */
bool bz_trial_memory_find(struct bz_entries *catalog, const char *store,
                          struct bz_ground *g);

/* Adds what bz_ground_find() found out, unless that is nothing or is known. */
void bz_trial_memory_keep(struct bz_entries *catalog, const char *store,
                          const struct bz_ground *g);

#endif
