/* recording.h - keeps a record of what the tasks of a graph were signed with. One
 * thread. */
#ifndef BZ_SIG_RECORDING_H
#define BZ_SIG_RECORDING_H

#include "sig/record.h"
#include "sig/signing.h"

/* Fills *r, which is empty, with all tasks of the graph, by name, as they
 * were signed (listing.h). Release *r in any case. */
int bz_recording_run(struct bz_record *r, const struct bz_signing *s,
                     struct bz_catalog *p, const struct bz_goal *goal,
                     struct bz_err *err) BZ_MUST_CHECK;

#endif
