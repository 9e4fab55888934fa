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
    BZ_EVENT_PROGRESS, /* of a download */
    BZ_EVENT_DONE,     /* it ran, and its result is stored */
    BZ_EVENT_FAILED,   /* it ran and failed, or its result could not be stored */
    BZ_EVENT_ENDED,    /* of the build */
    BZ_EVENT_TICK,     /* time passes; only if asked for */
    BZ_EVENT_WANTED,   /* of a dry run: it would run */
    BZ_EVENT_FETCHED,  /* a download of a task has ended well */
    BZ_EVENT_OVERLAP,  /* two tasks in no order have written a path differently */
    BZ_EVENT_REMARK,   /* a task that has ended said something that should be seen */
    BZ_EVENT_DIFFERS,  /* it ran, and from what it saw it once made something else */
    BZ_EVENT_TRAFFIC, /* what went to and from one place of the cache; before the end */
    BZ_EVENT_UNNEEDED, /* only stored results would have needed it; before PLANNED */
};

struct bz_event_counts {
    uint32_t tasks;    /* in the graph */
    uint32_t cached;   /* results that were used */
    uint32_t executed; /* tasks that ran to a good end */
    uint32_t failed;
    uint32_t unneeded; /* only cached results would have needed them */
    uint32_t noexec;   /* there is nothing to run */
    uint32_t blocked;  /* something they wait for failed */
    uint32_t wanted;   /* that would run, of a dry run */
    uint32_t unless;   /* of these, those that run unless their inputs come out equal */
};

/* One place of the cache: the store of this machine, or a tier. */
struct bz_event_place {
    const char *name, *kind; /* "local", "directory", "http" */
    uint64_t hits, misses;   /* of results that were looked up there */
    /* Files of trees if it is local, else blobs. What is there already is not written.
     */
    uint64_t blobs_read, bytes_read;
    uint64_t blobs_written, bytes_written;
};

struct bz_event {
    enum bz_event_kind kind;
    int64_t at;                  /* when: ns since the executor began */
    uint32_t task;               /* of the graph, if it is about one */
    const struct bz_digest *key; /* its signature, likewise */
    int64_t ns;                  /* how long it ran; the build at its end */
    int64_t cpu;                 /* of a task that ran in a sandbox: CPU time */
    /* Likewise: the most that one process had, in bytes; of a build that ended: the
     * most of the machine's memory that was in use, if somebody has looked. */
    uint64_t memory;
    uint64_t evaluated; /* of a build that ended: how many times a recipe was */
    int exit_code;      /* of a task that failed; -1: it did not end by itself */
    int signal;         /* that ended it, or 0 */
    int64_t timeout;    /* ns after which it was stopped; 0: it was not */
    /* Of a task that failed: how many processes, its own or not, the kernel killed for
     * lack of memory while it ran. */
    uint64_t oom_kills;
    bool same;   /* cached: found by the trees it sees, not its signature */
    bool unless; /* wanted: only if the output of a dependency changes */
    /* Of a task that is cached or not needed: how long it took when it ran; planned:
     * all that are not needed, added. 0: not known. */
    int64_t saved;
    const char *log;     /* of a task that starts or ran; NULL if there is none */
    const char *network; /* "ADDRESS port PORT" that a task without a network tried to
                            reach; or NULL */
    const char *error;   /* of a task that could not be run; or NULL */
    /* Progress: of what (an address without secrets), how far, and how far it goes; 0:
     * not known. Of a download that has ended: `what`, `bytes` (0: not known) and `ns`.
     */
    const char *what;
    uint64_t bytes, total;
    /* Of a remark `what` is the line, "WARNING: ..." or "ERROR: ...".
     * Overlap: the other task; `what` is the path, and how many more there are. */
    uint32_t other;
    size_t more;
    /* By what tasks took before: how long this one takes, and until the last one that
     * waits for it is done; of a task that starts. */
    int64_t expect, ahead;
    int64_t work; /* all that is left to run, likewise; -1: too little is known */
    /* Time: commands of tasks and their makes that run, and that may. */
    unsigned slots_used, slots;
    struct bz_event_place place; /* of traffic */
    struct bz_event_counts counts;
};

typedef void (*bz_event_fn)(void *ctx, const struct bz_event *event);

#endif
