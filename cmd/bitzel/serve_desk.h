/* serve_desk.h - the builds that `bitzel serve` has been asked for.
 *
 * Builds of one project are run one after the other, in the order they came; those of
 * different projects run side by side. Any thread may call anything.
 */
#ifndef BZ_CMD_SERVE_DESK_H
#define BZ_CMD_SERVE_DESK_H

#include <sys/types.h>

#include "base/sync.h"
#include "codec/jsonw.h"

#define BZ_SERVE_DESK_BUILDS 48 /* at a time, those that wait among them */
#define BZ_SERVE_DESK_EACH 16   /* of one client */

/* One build. The thread that runs it owns the memory. */
struct bz_serve_seat {
    /* To be set before: */
    const void *client;
    uint64_t id;         /* of the task, unique for its client */
    const char *project; /* what builds are kept apart by */
    const char *const *targets;
    size_t ntargets;
    /* From here on the desk's own. */
    int wake;  /* readable once for each interruption */
    pid_t pid; /* of the build, once it runs */
    bool interrupted;
    struct bz_serve_seat *next;
};

struct bz_serve_desk {
    struct bz_sync_mutex mutex;
    struct bz_sync_cond moved;
    struct bz_serve_seat *first; /* the oldest; under the mutex */
    bool closed;                 /* likewise */
};

/* BZ_E_BUSY if there are too many, BZ_E_CANCELED if it is closed. */
int bz_serve_desk_enter(struct bz_serve_desk *d, struct bz_serve_seat *s,
                        struct bz_err *err) BZ_MUST_CHECK;
/* NULL is fine. */
void bz_serve_desk_leave(struct bz_serve_desk *d, struct bz_serve_seat *s);

/* True when it is this one's turn. Waits for that until the deadline, or until it is
 * interrupted. */
bool bz_serve_desk_wait(struct bz_serve_desk *d, struct bz_serve_seat *s,
                        int64_t deadline);
bool bz_serve_desk_is_interrupted(struct bz_serve_desk *d, struct bz_serve_seat *s);

/* Writes whom it waits for, an object, and returns its number; 0: nobody, and nothing
 * is written. */
uint64_t bz_serve_desk_blocker(struct bz_serve_desk *d, const struct bz_serve_seat *s,
                               struct bz_jsonw *w);

void bz_serve_desk_runs(struct bz_serve_desk *d, struct bz_serve_seat *s, pid_t pid);

/* As Ctrl-C does, also the second time. False if there is no such build. */
bool bz_serve_desk_interrupt(struct bz_serve_desk *d, const void *client, uint64_t id);
/* All of them, and no others begin. */
void bz_serve_desk_close(struct bz_serve_desk *d);

/* A list with an object for each. */
void bz_serve_desk_write(struct bz_serve_desk *d, struct bz_jsonw *w);

#endif
