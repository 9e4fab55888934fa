/* build_events.h - where the events of a build go: to whoever looks, to the log that is
 * kept of every build but a dry one, and to the file that was asked for.
 */
#ifndef BZ_CMD_BUILD_EVENTS_H
#define BZ_CMD_BUILD_EVENTS_H

#include "exec/exec.h"
#include "out.h"
#include "report/eventlog.h"

struct bz_build_events {
    /* To be set before: */
    const char *build_dir;
    const char *file; /* or NULL; "-": stdout */
    int64_t wall;     /* when the build began */
    bool dry;
    bz_event_fn view; /* or NULL */
    void *view_ctx;
    /* From here on this file's own. */
    struct bz_eventlog *kept, *asked;
    bool started;    /* some task has */
    int64_t sampled; /* when memory was looked at last */
    uint64_t memory; /* the most of the machine's that was in use then */
    bool ended;
    struct bz_event end;
    struct bz_arena arena;
};

/* Tells what went to and from the places of the cache, and then, to the logs, that the
 * build has ended, which is kept from them until then, and how many evaluations of
 * recipes it took. */
void bz_build_events_finish(struct bz_build_events *e, struct bz_cache *cache,
                            size_t evaluated);

/* `log` has all but what this file decides. */
void bz_build_events_open(struct bz_build_events *e,
                          const struct bz_eventlog_opts *log);

/* What could not be written is told as a warning. */
void bz_build_events_close(struct bz_build_events *e, struct bz_out *out);

/* A bz_event_fn; ctx is a struct bz_build_events. */
void bz_build_events_hear(void *ctx, const struct bz_event *event);

#endif
