/* bitzel/jobs.h - a service that turns JSON requests into results, on a pool of
 * threads.
 *
 *     bitzel_jobs *jobs = bitzel_jobs_create("config", error, sizeof(error));
 *     uint64_t id = bitzel_jobs_submit(jobs, "{\"opcode\": 3, \"args\": {...}}");
 *     bitzel_result *r = bitzel_jobs_wait(jobs, id, 5000);
 *     bitzel_result_free(r);
 *     bitzel_jobs_shutdown(jobs);
 *
 * Any thread may call anything, but shutdown is the last call. Link with -lbitzel.
 */
#ifndef BITZEL_JOBS_H
#define BITZEL_JOBS_H

#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

#define BITZEL_API __attribute__((visibility("default")))

/* What a result says. */
#define BITZEL_SUCCESS 0
#define BITZEL_UNKNOWN_OPCODE (-1)
#define BITZEL_INVALID_JSON (-2)
#define BITZEL_SYMBOL_NOT_FOUND (-3)
#define BITZEL_MALLOC_FAILED (-4)
#define BITZEL_HANDLER_CRASH (-5)
#define BITZEL_TIMEOUT (-6)
#define BITZEL_CANCELED (-7)
#define BITZEL_FAILED (-8)

typedef struct bitzel_jobs bitzel_jobs;
typedef struct bitzel_call bitzel_call;

typedef struct bitzel_result {
    uint64_t task_id;
    int32_t status;
    int32_t final;    /* 0: a part, and more follows */
    const char *data; /* data_size bytes and a NUL; NULL if there is none */
    uint32_t data_size;
    char error_msg[256]; /* if status is not 0 */
} bitzel_result;

/* ---- a service ---- */

/* A service with the built-in handlers (memory_read, memory_write, file_read,
 * file_write, http_get, http_post) by a config file, which may be NULL. NULL on
 * failure, with the reason in `error`, if that is not NULL. */
BITZEL_API bitzel_jobs *bitzel_jobs_create(const char *config_path, char *error,
                                           size_t error_size);

/* The same in two steps, for programs with handlers of their own, which are registered
 * in between. start returns 0, or -1; then only shutdown may be called. */
BITZEL_API bitzel_jobs *bitzel_jobs_new(void);
BITZEL_API int bitzel_jobs_start(bitzel_jobs *jobs, const char *config_path,
                                 char *error, size_t error_size);

/* Cancels what is not done, and frees everything. */
BITZEL_API void bitzel_jobs_shutdown(bitzel_jobs *jobs);

/* Also takes requests on a Unix socket, a line each, and from processes that attach.
 * Without a '/' it is a name: the socket is NAME.sock in "bitzel" in the user's
 * XDG_RUNTIME_DIR. 0 or -1. */
BITZEL_API int bitzel_jobs_listen(bitzel_jobs *jobs, const char *socket_path,
                                  char *error, size_t error_size);

/* Also takes requests from files in a directory of the user's own, which is made if it
 * is not there: a line that is appended to mailbox-N.json is a request, and its results
 * are lines in results-N.json. 0 or -1. */
BITZEL_API int bitzel_jobs_watch(bitzel_jobs *jobs, const char *dir, char *error,
                                 size_t error_size);

/* A service of another process, by the name or path of its socket. Requests and results
 * go through memory that both have, without a system call unless one of them sleeps.
 * submit, poll, wait, cancel and shutdown work as with a service of one's own;
 * handlers, symbols and callbacks there are none. When the service is gone, what was
 * asked for ends with BITZEL_CANCELED. NULL on failure. */
BITZEL_API bitzel_jobs *bitzel_attach(const char *name, char *error, size_t error_size);

/* ---- requests and results ---- */

/* The id of the task, or 0 if it was refused: the service has too much to do, or the
 * request names an id that is in use. What else is wrong comes as a result. */
BITZEL_API uint64_t bitzel_jobs_submit(bitzel_jobs *jobs, const char *json);

/* The callback gets each result, and frees it, on a thread of the pool. */
typedef void (*bitzel_result_fn)(bitzel_result *result, void *user_data);
BITZEL_API uint64_t bitzel_jobs_submit_with_callback(bitzel_jobs *jobs,
                                                     const char *json,
                                                     bitzel_result_fn callback,
                                                     void *user_data);

/* Why a request was refused. */
#define BITZEL_BUSY 1        /* too much is open: take results, or try again later */
#define BITZEL_ID_IN_USE 2   /* by a task that is not done */
#define BITZEL_TOO_LARGE 3   /* more than 16 MiB */
#define BITZEL_STOPPED 4     /* the service is shutting down, or gone */
#define BITZEL_UNSUPPORTED 5 /* a callback for a service elsewhere */

/* Both of the above, without a callback if that is NULL; when it returns 0 *why is one
 * of these. */
BITZEL_API uint64_t bitzel_jobs_submit_or_why(bitzel_jobs *jobs, const char *json,
                                              bitzel_result_fn callback,
                                              void *user_data, int *why);

/* The next result of a task: a part, or the last. NULL if there is none yet; wait gives
 * up after so many milliseconds. */
BITZEL_API bitzel_result *bitzel_jobs_poll(bitzel_jobs *jobs, uint64_t task_id);
BITZEL_API bitzel_result *bitzel_jobs_wait(bitzel_jobs *jobs, uint64_t task_id,
                                           uint32_t timeout_ms);
BITZEL_API void bitzel_result_free(bitzel_result *result); /* NULL is fine */

/* 1 if there was such a task, which ends soon: at once if nobody has begun with it. Its
 * callback, if it has one, is called on a thread of the pool, not by this. */
BITZEL_API int bitzel_jobs_cancel(bitzel_jobs *jobs, uint64_t task_id);

/* ---- memory that requests may name ---- */

#define BITZEL_READ 1
#define BITZEL_WRITE 2

/* 0 or -1. Unregistering waits until no task uses it. */
BITZEL_API int bitzel_jobs_register_symbol(bitzel_jobs *jobs, const char *name, void *p,
                                           size_t size, int access);
BITZEL_API int bitzel_jobs_unregister_symbol(bitzel_jobs *jobs, const char *name);

/* ---- handlers ---- */

/* Returns 0 or a status. What it replied is the result. */
typedef int (*bitzel_handler_fn)(bitzel_call *call, void *user_data);

#define BITZEL_BLOCKS 1  /* it waits for something: runs beside those that compute */
#define BITZEL_PROCESS 2 /* in a process of its own */

/* Before start. 0 or -1. */
BITZEL_API int bitzel_jobs_register(bitzel_jobs *jobs, const char *name,
                                    bitzel_handler_fn handler, void *user_data,
                                    int flags);

/* The arguments as a JSON text, or "". */
BITZEL_API const char *bitzel_call_args(bitzel_call *call, size_t *size);
BITZEL_API uint64_t bitzel_call_id(bitzel_call *call);
/* Each returns what the handler is to return: 0, or a status. */
BITZEL_API int bitzel_call_reply(bitzel_call *call, const void *data, size_t size);
BITZEL_API int bitzel_call_emit(bitzel_call *call, const void *data, size_t size);
BITZEL_API int bitzel_call_fail(bitzel_call *call, int status, const char *message);
/* The memory of that name, for BITZEL_READ, BITZEL_WRITE or both, until the call ends:
 * it is not unregistered before. A process of its own has a copy of it, and nothing to
 * write to. */
BITZEL_API int bitzel_call_symbol(bitzel_call *call, const char *name, int access,
                                  void **p, size_t *size);
/* Not 0 when the handler should end. */
BITZEL_API int bitzel_call_check(bitzel_call *call);

/* What a shared object that a config file loads exports as `bitzel_handlers`: rows up
 * to one without a name. */
typedef struct bitzel_handler_row {
    const char *name;
    bitzel_handler_fn handler;
    void *user_data;
    int flags;
} bitzel_handler_row;

#if defined(__cplusplus)
}
#endif

#endif
