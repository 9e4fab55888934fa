/* sign.h - signatures over the task graph.
 *
 * The signature of a task is a digest of its base (base.h) and of the signatures of all
 * tasks it waits for, in the order of these: it changes when anything before the task
 * does, and with nothing else. This is the static key of a result, known before
 * anything runs.
 */
#ifndef BZ_SIG_SIGN_H
#define BZ_SIG_SIGN_H

#include "codec/digest.h"
#include "graph/dag.h"

/* base and out are [dag->n]; `order` has each task after those it waits for. */
void bz_sign_graph(const struct bz_dag *dag, const struct bz_dag_ids *order,
                   const struct bz_digest *base, struct bz_digest_hasher *hasher,
                   struct bz_digest *out);

/* Makes the base of a task another one, by a text that is used only once. */
void bz_sign_taint(struct bz_digest_hasher *hasher, struct bz_str taint,
                   struct bz_digest *base);

#endif
