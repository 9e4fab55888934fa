/* event.h - what happens in a build, as it happens.
 *
 * Everything that is shown of a build is made from these. They come from one thread, in
 * order, and last for the call.
 */
#ifndef BZ_EXEC_EVENT_H
#define BZ_EXEC_EVENT_H

#include <stdbool.h>

#include "codec/digest.h"

enum bz_event_kind {
    BZ_EVENT_PLANNED, /* the numbers of tasks are known */
    BZ_EVENT_CACHED,  /* a result was found; the task does not run */
    BZ_EVENT_STARTED,
    BZ_EVENT_DONE,   /* it ran, and its result is stored */
    BZ_EVENT_FAILED, /* it ran and failed, or its result could not be stored */
    BZ_EVENT_ENDED,  /* of the build */
};

struct bz_event_counts {
    uint32_t tasks;    /* in the graph */
    uint32_t cached;   /* results that were used */
    uint32_t executed; /* tasks that ran to a good end */
    uint32_t failed;
    uint32_t unneeded; /* only cached results would have needed them */
    uint32_t noexec;   /* there is nothing to run */
    uint32_t blocked;  /* something they wait for failed */
};

struct bz_event {
    enum bz_event_kind kind;
    uint32_t task;               /* of the graph, if it is about one */
    const struct bz_digest *key; /* its signature, likewise */
    int64_t ns;                  /* how long it ran; the build at its end */
    int exit_code;     /* of a task that failed; -1: it did not end by itself */
    int signal;        /* that ended it, or 0 */
    bool same;         /* cached: found by the trees it sees, not its signature */
    const char *log;   /* of a task that ran; NULL if there is none */
    const char *error; /* of a task that could not be run; or NULL */
    struct bz_event_counts counts;
};

typedef void (*bz_event_fn)(void *ctx, const struct bz_event *event);

#endif
