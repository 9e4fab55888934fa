/* eventkey.h - what the lines of an event log have: one table for the log, which writes
 * nothing else, and for the manual page bitzel-events(5).
 */
#ifndef BZ_REPORT_EVENTKEY_H
#define BZ_REPORT_EVENTKEY_H

#include <stddef.h>
#include <stdint.h>

#include "base/defs.h"

enum bz_eventkey {
    BZ_EVENTKEY_AFTER,
    BZ_EVENTKEY_AHEAD,
    BZ_EVENTKEY_AT,
    BZ_EVENTKEY_BITZEL,
    BZ_EVENTKEY_BLOBS_READ,
    BZ_EVENTKEY_BLOBS_WRITTEN,
    BZ_EVENTKEY_BYTES,
    BZ_EVENTKEY_BYTES_READ,
    BZ_EVENTKEY_BYTES_WRITTEN,
    BZ_EVENTKEY_CACHED,
    BZ_EVENTKEY_CPU,
    BZ_EVENTKEY_ERROR,
    BZ_EVENTKEY_EVALUATED,
    BZ_EVENTKEY_EVENT,
    BZ_EVENTKEY_EXECUTED,
    BZ_EVENTKEY_EXIT_CODE,
    BZ_EVENTKEY_EXPECT,
    BZ_EVENTKEY_FAILED,
    BZ_EVENTKEY_HITS,
    BZ_EVENTKEY_JOBS,
    BZ_EVENTKEY_KEY,
    BZ_EVENTKEY_KIND,
    BZ_EVENTKEY_LOG,
    BZ_EVENTKEY_MEMORY,
    BZ_EVENTKEY_MEMORY_USED,
    BZ_EVENTKEY_MISSES,
    BZ_EVENTKEY_MORE,
    BZ_EVENTKEY_NETWORK,
    BZ_EVENTKEY_NOEXEC,
    BZ_EVENTKEY_NOT_NEEDED,
    BZ_EVENTKEY_NOT_STARTED,
    BZ_EVENTKEY_OOM_KILLS,
    BZ_EVENTKEY_OTHER,
    BZ_EVENTKEY_PATH,
    BZ_EVENTKEY_PLACE,
    BZ_EVENTKEY_SAME,
    BZ_EVENTKEY_SAVED,
    BZ_EVENTKEY_SIGNAL,
    BZ_EVENTKEY_TARGETS,
    BZ_EVENTKEY_TASK,
    BZ_EVENTKEY_TASKS,
    BZ_EVENTKEY_TEXT,
    BZ_EVENTKEY_TIME,
    BZ_EVENTKEY_TIMEOUT,
    BZ_EVENTKEY_TOOK,
    BZ_EVENTKEY_TOTAL,
    BZ_EVENTKEY_UNLESS,
    BZ_EVENTKEY_VERSION,
    BZ_EVENTKEY_WHAT,
    BZ_EVENTKEY_WORK,
    BZ_EVENTKEY_COUNT,
};

/* As it is written. */
const char *bz_eventkey_name(enum bz_eventkey key);

/* What a key of a kind of line is. */
struct bz_eventkey_field {
    enum bz_eventkey key;
    const char *help; /* a sentence without its end */
};

/* A kind of line. All have "event", and all but the first one "at". */
struct bz_eventkey_line {
    const char *name, *help;
    const struct bz_eventkey_field *fields; /* [nfields] */
    size_t nfields;
};

enum bz_eventkey_kind {
    BZ_EVENTKEY_LINE_BEGIN,
    BZ_EVENTKEY_LINE_PASSED,
    BZ_EVENTKEY_LINE_CACHED,
    BZ_EVENTKEY_LINE_UNNEEDED,
    BZ_EVENTKEY_LINE_PLANNED,
    BZ_EVENTKEY_LINE_WANTED,
    BZ_EVENTKEY_LINE_STARTED,
    BZ_EVENTKEY_LINE_PROGRESS,
    BZ_EVENTKEY_LINE_FETCHED,
    BZ_EVENTKEY_LINE_DONE,
    BZ_EVENTKEY_LINE_FAILED,
    BZ_EVENTKEY_LINE_OVERLAP,
    BZ_EVENTKEY_LINE_REMARK,
    BZ_EVENTKEY_LINE_DIFFERS,
    BZ_EVENTKEY_LINE_TRAFFIC,
    BZ_EVENTKEY_LINE_END,
    BZ_EVENTKEY_LINES,
};

const struct bz_eventkey_line *bz_eventkey_line(enum bz_eventkey_kind kind);

/* The keys that such a line may have, a bit for each. */
uint64_t bz_eventkey_mask(enum bz_eventkey_kind kind);

#endif
