/* task.h - one request on its way, and what comes of it.
 *
 * Who owns what: the bytes of a request are copied when it is handed in, and freed with
 * the task by whoever ran it; a result is made by the worker and freed by whoever takes
 * it.
 */
#ifndef BZ_JOBS_TASK_H
#define BZ_JOBS_TASK_H

#include "jobs/request.h"
#include "jobs/watchdog.h"
#include "pool/cancel.h"

/* What a result says. The first seven are as old as the interface. */
enum bz_task_status {
    BZ_TASK_OK = 0,
    BZ_TASK_UNKNOWN_OPCODE = -1,
    BZ_TASK_INVALID_JSON = -2,
    BZ_TASK_UNKNOWN_SYMBOL = -3,
    BZ_TASK_NO_MEMORY = -4,
    BZ_TASK_CRASHED = -5,
    BZ_TASK_TIMEOUT = -6,
    BZ_TASK_CANCELED = -7,
    BZ_TASK_FAILED = -8, /* the handler says so */
};

#define BZ_TASK_ERROR 256

struct bz_result {
    uint64_t id;
    int32_t status;
    bool final; /* the last one of its task */
    uint32_t size;
    char *data; /* in the same piece of memory; NULL if there is none */
    char error[BZ_TASK_ERROR];
    struct bz_result *next; /* whoever has it */
};

typedef void (*bz_result_fn)(struct bz_result *result, void *ctx);

struct bz_client;
struct bz_handler;

/* What has been said to the client of a task. */
enum bz_task_said {
    BZ_TASK_WAITING,  /* nothing: nobody has begun with it */
    BZ_TASK_OPEN,     /* not the last thing */
    BZ_TASK_EMITTING, /* a part is just being handed over */
    BZ_TASK_ANSWERED, /* the last thing */
};

/* What is known of a handler that should have ended. */
enum bz_task_hang { BZ_TASK_FINE, BZ_TASK_REPLACED, BZ_TASK_ENDED };

typedef void *(*bz_task_alloc)(size_t n);

struct bz_task {
    struct bz_client *client;
    struct bz_str text; /* of the request; a copy */
    struct bz_request request;
    uint64_t id;
    uint64_t ticket;                  /* its slot (slots.h); 0: it has none */
    const struct bz_handler *handler; /* once it is known */
    struct bz_cancel cancel;
    bz_result_fn
        callback; /* takes the results, on the thread that makes them; or NULL */
    void *callback_ctx;
    bz_task_alloc alloc;       /* for its results; NULL: malloc */
    int64_t since;             /* when it was handed in (os/clock.h), if it matters */
    atomic_int said;           /* of enum bz_task_said */
    int32_t status;            /* why it is to be refused whatever it says; or 0 */
    unsigned box;              /* the mailbox that it was in */
    bool named;                /* its id is the client's choice */
    bool is_short;             /* made by bz_task_new_short() */
    bool shared;               /* it counts towards its client's share (share.h) */
    bool turned;               /* towards its turns, likewise */
    struct bz_result *refusal; /* its result, if it is not to be run; or NULL */
    struct bz_task *next;      /* of those that are held back */
    /* For a task that has a deadline, from the time that this is known. */
    bool watched;
    atomic_uint refs; /* whoever runs it, and the watchdog */
    atomic_int hang;
    atomic_bool running;
    void *crowd; /* where it runs */
    struct bz_watchdog_entry watch;
};

/* Calls it, and a few times again, with pauses that double. NULL if that is in vain:
 * sizes that clients decide may be too much for a moment. */
void *bz_task_try(bz_task_alloc alloc, size_t n);

/* NULL if there is no memory, after having tried several times. */
struct bz_task *bz_task_new_by(bz_task_alloc alloc, struct bz_str text);
/* The same, having tried once: for a thread that others wait for. */
struct bz_task *bz_task_new_now(bz_task_alloc alloc, struct bz_str text);
/* For a text of at most BZ_TASK_SHORT bytes: memory that another such task can have
 * later. Takes that of a task that has ended, if `old` is not NULL. */
#define BZ_TASK_SHORT ((size_t)512)
struct bz_task *bz_task_new_short(struct bz_task *old, bz_task_alloc alloc,
                                  struct bz_str text);
void bz_task_free(struct bz_task *t);

/* Ends the arguments with a NUL, in the copy: what comes after them has been read. */
void bz_task_end_args(struct bz_task *t);

struct bz_result *bz_task_result(const struct bz_task *t, int32_t status, bool final,
                                 const void *data, uint32_t n);

/* A result that always can be had. */
struct bz_result *bz_task_failure(uint64_t id, int32_t status, const char *error);

#endif
