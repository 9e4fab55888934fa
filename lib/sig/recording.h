/* recording.h - signs a graph of tasks and keeps a record of what they were signed
 * with. One thread. */
#ifndef BZ_SIG_RECORDING_H
#define BZ_SIG_RECORDING_H

#include "sig/record.h"
#include "sig/signing.h"

/* Fills *r, which is empty, with all tasks of the graph, by name. `s` has signed it.
 * Release *r in any case. */
int bz_recording_run(struct bz_record *r, const struct bz_signing *s,
                     struct bz_catalog *p, const struct bz_goal *goal,
                     struct bz_err *err) BZ_MUST_CHECK;

#endif
