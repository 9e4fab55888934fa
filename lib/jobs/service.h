/* service.h - turns requests into results, on the pool.
 *
 * A request is put into a mailbox. Updaters take mail out, read what it asks for and
 * put it on the task list; workers take tasks from there, each exactly once, and run
 * their handlers. Each updater has a domain, a share of the mailboxes. There is always
 * one; when one finds more mail than it gets done another is added, and one that finds
 * none retires. An updater has no thread of its own: workers that look for work do its
 * work first.
 *
 * Workers are items on the pool: they end when there is nothing to do, and come back
 * when there is (the pool's threads sleep meanwhile). Handlers that block run on the
 * pool's io lane, with a task list of their own, and so never keep others waiting.
 *
 * One client has no more than three quarters of the threads that block and, if it is
 * one of several, a few tasks on the list of those who compute; what it asks for beyond
 * is held back (share.h).
 *
 * A task whose time is up gets its result then, wherever it is; what its handler says
 * later is dropped. If that has not ended BZ_SERVICE_GRACE later another worker takes
 * the place of the one that runs it, up to BZ_GANG_SPARE of either kind.
 *
 * Any thread may call anything.
 */
#ifndef BZ_JOBS_SERVICE_H
#define BZ_JOBS_SERVICE_H

#include "jobs/client.h"
#include "jobs/dispatch.h"
#include "jobs/symbols.h"
#include "os/clock.h"
#include "pool/pool.h"

#define BZ_SERVICE_GRACE (250 * BZ_CLOCK_MS)

struct bz_service_opts {
    unsigned threads;    /* that compute; 0: as many as this process may use CPUs */
    unsigned io_threads; /* that may block, at most; 0: 16 */
    size_t tasks;        /* room on the task list at first; 0: 256 */
    size_t tasks_max;    /* and at most; 0: 1048576 */
    size_t mail;         /* room in a mailbox; 0: 1024 */
    uint32_t timeout;    /* of tasks that name none, milliseconds; 0: none */
    bz_task_alloc alloc; /* for requests and results; NULL: malloc */
    const struct bz_dispatch *dispatch;
    struct bz_symbols *symbols; /* or NULL */
};

struct bz_service;

/* What opts points to must outlive it. */
int bz_service_new(const struct bz_service_opts *opts, struct bz_service **out,
                   struct bz_err *err) BZ_MUST_CHECK;

/* Its clients are gone. NULL is fine. */
void bz_service_free(struct bz_service *s);

/* From now on requests are refused. */
void bz_service_stop(struct bz_service *s);

struct bz_service_stats {
    uint64_t done;     /* tasks */
    unsigned updaters; /* now */
    unsigned updaters_most;
    size_t waiting; /* mail and tasks, about */
};
/* Where its work is done. */
struct bz_pool *bz_service_pool(struct bz_service *s);

void bz_service_stats(const struct bz_service *s, struct bz_service_stats *out);

bz_task_alloc bz_service_alloc(const struct bz_service *s);
uint32_t bz_service_timeout(const struct bz_service *s); /* by default */

/* For clients: changes, and wakes all, when a client that waits for that has one task
 * less. A futex. */
atomic_uint *bz_service_ended(struct bz_service *s);

/* For clients: there is one more, or less. */
void bz_service_enter(struct bz_service *s);
void bz_service_leave(struct bz_service *s);

/* For clients. BZ_E_BUSY if all mailboxes are full, BZ_E_CANCELED if it is stopped. */
int bz_service_post(struct bz_service *s, struct bz_mail *mail, struct bz_str text,
                    struct bz_err *err) BZ_MUST_CHECK;

/* For clients: has a task that only says its refusal go before others, on a thread that
 * may block; or, if it is NULL, has all mail read there, so that what was canceled is
 * found. */
void bz_service_hurry(struct bz_service *s, struct bz_task *t);

#endif
