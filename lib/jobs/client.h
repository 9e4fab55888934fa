/* client.h - whoever hands requests in, and takes results.
 *
 * A client may have so many tasks and results that it did not take, no more: when it
 * has them its requests are refused (BZ_E_BUSY), and parts of its results wait. So it
 * is with bytes: those of requests that are not done and of results that were not taken
 * count, but for small ones, of which there are not that many. Nobody else waits for
 * that.
 *
 * The id of a task is the client's own choice, or the service's; no two tasks of a
 * client that are not done have the same. Results go to the client's `deliver`, or to
 * the callback of the task, on the thread that made them. Any thread may call anything.
 */
#ifndef BZ_JOBS_CLIENT_H
#define BZ_JOBS_CLIENT_H

#include "base/map.h"
#include "base/sync.h"
#include "jobs/mailbox.h"
#include "jobs/share.h"
#include "jobs/slots.h"

struct bz_service;

/* Takes a result, which it frees at some time; it calls bz_client_taken then. */
typedef void (*bz_client_fn)(void *ctx, struct bz_result *result);

#define BZ_CLIENT_SHARDS 16
/* Ids that the service gives are above this; JSON numbers are exact up to twice that.
 */
#define BZ_CLIENT_IDS (1ULL << 52)

#define BZ_CLIENT_COUNTS 8

#define BZ_CLIENT_BYTES                                                                \
    ((size_t)64 << 20)                 /* a client may have; then it has to wait       \
                                        */
#define BZ_CLIENT_SMALL ((size_t)4096) /* what has less is not counted */

/* Ids that the client has chosen. */
struct bz_client_shard {
    BZ_PADDED struct bz_sync_mutex mutex;
    struct bz_map tickets; /* id -> ticket of the task, until its last result */
};

/* What has ended. Whoever ends something counts it where few others do, and whoever
 * begins something adds these up only when there seems to be too much. */
struct bz_client_count {
    BZ_PADDED atomic_ullong closed; /* tasks whose last result was taken */
    atomic_ullong ended;            /* tasks that are done; and BZ_CLIENT_WAITED */
};

/* Somebody waits for the last task: whoever counts one tells it. */
#define BZ_CLIENT_WAITED (1ULL << 63)

struct bz_client {
    struct bz_service *service;
    bz_client_fn deliver;
    void *ctx;
    unsigned capacity;
    size_t bytes; /* BZ_CLIENT_BYTES; may be set at the beginning, as may the next */
    /* It takes results as they come: who makes one waits for room, if it may wait. And
     * whoever hands its requests in, one thread, does so for others, too: there are no
     * pauses when memory is short, but BZ_E_BUSY at first. */
    bool in_order;
    unsigned starved;             /* how often in a row that was so */
    atomic_size_t asked, untaken; /* bytes of requests, and of results */
    atomic_bool gone;             /* it wants no results any more */
    atomic_uint odd;              /* ids it has chosen that could be the service's */
    atomic_uint named;            /* ids it has chosen */
    BZ_PADDED atomic_uint parts;  /* of results, not taken */
    atomic_uint taken;            /* changes when a part is taken: a futex */
    /* For who hands in: so many so far, of which so many had ended at some time. */
    BZ_PADDED atomic_ullong opened;
    atomic_ullong begun, known_closed, known_ended;
    struct bz_client_count counts[BZ_CLIENT_COUNTS];
    struct bz_slots slots;
    struct bz_share share; /* of those who block */
    struct bz_share turns; /* of those who compute */
    struct bz_client_shard shards[BZ_CLIENT_SHARDS];
};

/* Capacity is at least 1. */
struct bz_client *bz_client_new(struct bz_service *s, unsigned capacity,
                                bz_client_fn deliver, void *ctx);

/* Cancels what it has and drops all results from now on. True if nothing of it runs any
 * more, so that bz_client_free does not wait. */
bool bz_client_leave(struct bz_client *c);

/* Cancels what it has, waits until that has ended, and frees it. Results that come
 * meanwhile are dropped, but for those of tasks with a callback. Not from a handler or
 * callback. */
void bz_client_free(struct bz_client *c);

struct bz_client_extra {
    bz_result_fn callback; /* or NULL: `deliver` */
    void *ctx;
    uint64_t id; /* of the task, whatever the request says; 0: by the request */
};

/* The id that a request names; 0 if it has none, or none that can be read. */
uint64_t bz_client_id(struct bz_str text);

/* Hands a request in; *id is its task's. BZ_E_BUSY if the client, or the service, has
 * too much to do; BZ_E_EXISTS if it names the id of a task that is not done;
 * BZ_E_CANCELED if the service is shutting down. What else is wrong with the request
 * comes as a result. */
int bz_client_submit(struct bz_client *c, struct bz_str text,
                     const struct bz_client_extra *extra, uint64_t *id,
                     struct bz_err *err) BZ_MUST_CHECK;

/* Tasks whose last result was not taken; and those that are not done. */
unsigned bz_client_open(const struct bz_client *c);
unsigned bz_client_tasks(const struct bz_client *c);

/* Has a task end soon, with BZ_TASK_CANCELED unless it is done; one that nobody has
 * begun with is answered before this returns, or, if it has a callback, that is called
 * by the next thread that may block. False if there is no such task, or not any more.
 */
bool bz_client_cancel(struct bz_client *c, uint64_t id);

/* A result was taken: there is room for one more. */
void bz_client_taken(struct bz_client *c, const struct bz_result *result);

/* ---- for the service ---- */

/* Memory of tasks that have ended, of one worker, for those that it reads. */
struct bz_client_kept {
    struct bz_task *first;
    unsigned n;
};

#define BZ_CLIENT_KEPT 32 /* at most */

void bz_client_release(struct bz_client_kept *kept);

/* What the mail asks for, or NULL if that is not wanted any more. The text is copied.
 */
struct bz_task *bz_client_read(const struct bz_mail *mail, struct bz_str text,
                               struct bz_client_kept *kept);

/* A part of a result: waits for room. BZ_TASK_CANCELED or BZ_TASK_TIMEOUT if that is in
 * vain, 1 if there is none until the deadline (os/clock.h): then it is dropped. */
int bz_client_emit(struct bz_task *t, struct bz_result *part, int64_t deadline);

/* Before that, on a thread that may wait: until there is room for the last result, the
 * task is not wanted any more, or at once if that is not how the client takes them. */
void bz_client_await_room(struct bz_task *t);

/* The last result of a task, dropped if there was one; lets go of the task. */
void bz_client_finish(struct bz_task *t, struct bz_result *result,
                      struct bz_client_kept *kept);

/* For one that is watched: says that its time is up, unless the last thing was said
 * already. False if that has to be tried again: a part is just on its way. */
bool bz_client_expire(struct bz_task *t);

/* Lets go of a task without a word; whoever is last frees it. */
void bz_client_drop(struct bz_task *t);

/* Before a task is run: true, or false if the last thing was said already. */
static inline bool bz_client_begin(struct bz_task *t)
{
    int waiting = BZ_TASK_WAITING;

    return atomic_compare_exchange_strong(&t->said, &waiting, BZ_TASK_OPEN);
}

#endif
