/* recording.h - signs a graph of tasks and keeps a record of what they were signed
 * with. One thread. */
#ifndef BZ_PIPELINE_RECORDING_H
#define BZ_PIPELINE_RECORDING_H

#include "pipeline/signing.h"
#include "sig/record.h"

/* Fills *r, which is empty, with all tasks of the graph, by name. Release both *s and
 * *r in any case. */
int bz_recording_run(struct bz_record *r, struct bz_signing *s, struct bz_pipeline *p,
                     const struct bz_goal *goal, struct bz_err *err) BZ_MUST_CHECK;

#endif
