/* trace.h - a build as Chrome trace events, which Perfetto and chrome://tracing show.
 *
 * One track for each slot, with what ran there; one for what came from the cache; and
 * arrows from a task that ran to those that waited for it.
 */
#ifndef BZ_REPORT_TRACE_H
#define BZ_REPORT_TRACE_H

#include "report/shape.h"

/* Where there are more dependencies than this, a task has one arrow, from what it
 * waited for last: an arrow takes some 180 bytes. */
#define BZ_TRACE_ARROWS_MAX 50000

/* Appends the whole of a JSON text. `title` names the build. */
void bz_trace_write(const struct bz_account *a, const struct bz_shape *s,
                    struct bz_str title, struct bz_buf *out);

#endif
