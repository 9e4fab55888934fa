/* outline.h - what the sandboxes of tasks have wherever they run, and the line about it
 * that signatures have.
 *
 * A result is only worth something to whoever would have made it in the same
 * surroundings: the same kind of sandbox, which shows the same of the host, with or
 * without a network, as the same user. The line is the same on every machine, and says
 * what differs when it does; its last word is a digest of all that is shown. Where
 * there are no namespaces the line says so, and where the work lies: results of the two
 * are never taken for each other's.
 */
#ifndef BZ_EXEC_OUTLINE_H
#define BZ_EXEC_OUTLINE_H

#include "base/arena.h"
#include "codec/digest.h"
#include "exec/ground.h"
#include "exec/job.h"
#include "sandbox/spec.h"
#include "sig/signing.h"

/* Adds it to a spec that has nothing yet. Of the job, network and root count. */
void bz_outline_add(const struct bz_ground *ground, const struct bz_job *job,
                    struct bz_spec *spec);

/* The lines are in the arena. */
void bz_outline_describe(struct bz_signing_policy *o, const struct bz_ground *ground,
                         struct bz_digest_hasher *hasher, struct bz_arena *a);

#endif
