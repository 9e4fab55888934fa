/* eventlog.h - what happens in a build, one JSON object a line, as it happens.
 *
 * eventkey.h has all kinds of objects and what they have, bitzel-events(5) tells of it.
 * Readers skip events and fields that they do not know; the version changes when known
 * ones change their meaning.
 *
 * A line is written by one call, and those of `unneeded` with the one after them. A
 * failure to write ends the log, not the build.
 */
#ifndef BZ_REPORT_EVENTLOG_H
#define BZ_REPORT_EVENTLOG_H

#include "exec/event.h"
#include "graph/tgraph.h"

#define BZ_EVENTLOG_VERSION 1

struct bz_eventlog_opts {
    const char *version;           /* of bitzel */
    const struct bz_tgraph *graph; /* or NULL, if no task starts */
    const struct bz_str *names;    /* [tasks] */
    const struct bz_need *need;    /* the recipes of the graph, or NULL */
    const char *const *targets;    /* as they were asked for */
    size_t ntargets;
    unsigned jobs;
    int64_t wall; /* when the build began; os/clock.h */
    /* Gives a descriptor, which the log closes, when the first line is to be written;
     * with `lazy` that is when a task starts, or the build ends and none has. */
    int (*open)(void *ctx, int *fd, struct bz_err *err);
    void *open_ctx;
    bool lazy;
};

struct bz_eventlog;

/* What `opts` refers to must outlive it. */
struct bz_eventlog *bz_eventlog_new(const struct bz_eventlog_opts *opts);

void bz_eventlog_write(struct bz_eventlog *log, const struct bz_event *e);

/* Frees it; NULL is fine. Fails if something could not be written. */
int bz_eventlog_close(struct bz_eventlog *log, struct bz_err *err) BZ_MUST_CHECK;

#endif
