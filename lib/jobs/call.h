/* call.h - a task as its handler sees it.
 *
 * A handler reads call->args, a JSON object (with a NUL after it) or "", and may reply
 * once, or emit any number of parts before that. What it emitted when it fails has been
 * sent. One thread: the one that runs the handler.
 */
#ifndef BZ_JOBS_CALL_H
#define BZ_JOBS_CALL_H

#include "base/arena.h"
#include "codec/doc.h"
#include "jobs/dispatch.h"
#include "jobs/symbols.h"

struct bz_call {
    struct bz_str args;
    struct bz_task *task;
    struct bz_symbols *symbols;
    /* From here on this file's own. */
    struct bz_arena arena;
    struct bz_result *reply;
    struct bz_call_held *held; /* memory that it uses */
    int pipe; /* where parts go in a process of its own; -1: not in one */
    char error[BZ_TASK_ERROR];
};

/* What the arguments say; an empty object if there are none. */
int bz_call_args(struct bz_call *c, const struct bz_doc **out,
                 struct bz_err *err) BZ_MUST_CHECK;

/* The result, a copy of the bytes. Returns what the handler should return. */
int bz_call_reply(struct bz_call *c, const void *data, size_t n);

/* A part of it, sent at once. Waits while the client has too many results that it did
 * not take. Fails with a status to be returned if the client is gone or the task is
 * canceled. */
int bz_call_emit(struct bz_call *c, const void *data, size_t n) BZ_MUST_CHECK;
/* The same, but waits no longer than until the deadline (os/clock.h): 1 if it was not
 * sent then. For parts that are better lost than waited for. */
int bz_call_offer(struct bz_call *c, const void *data, size_t n,
                  int64_t deadline) BZ_MUST_CHECK;

/* Says why, and returns the status, to be returned by the handler. */
int bz_call_fail(struct bz_call *c, int status, const char *fmt, ...) BZ_PRINTF(3, 4);
/* By an error of ours: unknown symbols, time that ran out and so on have their own. */
int bz_call_fail_err(struct bz_call *c, int rc, const struct bz_err *err);

/* Memory by its name (symbols.h), until the end of the call, however that comes. 0 or a
 * status: a process of its own has a copy, and nothing to write to. */
int bz_call_symbol(struct bz_call *c, struct bz_str name, unsigned access,
                   const struct bz_symbol **out);

/* Not 0 when the handler should end: BZ_TASK_CANCELED or BZ_TASK_TIMEOUT. */
int bz_call_check(struct bz_call *c);

/* Whether this is a process of its own (isolate.h): a copy, in which no other thread
 * is. What others may have locked when it was made stays so. */
bool bz_call_is_alone(const struct bz_call *c);

/* The handler itself, without a net. */
int bz_call_handle(struct bz_call *c);

/* Runs the handler of a task whose handler and request are known, and gives its one
 * final result. */
struct bz_result *bz_call_run(struct bz_task *t, struct bz_symbols *symbols);

#endif
