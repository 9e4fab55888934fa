#include "jobs/call.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/json.h"
#include "jobs/client.h"
#include "jobs/guard.h"
#include "jobs/isolate.h"
#include "os/clock.h"

struct bz_call_held {
    struct bz_symbol *symbol;
    struct bz_call_held *next;
};

int bz_call_args(struct bz_call *c, const struct bz_doc **out, struct bz_err *err)
{
    return bz_json_parse(&c->arena, c->args.n > 0 ? c->args : BZ_STR("{}"), NULL, out,
                         err);
}

int bz_call_reply(struct bz_call *c, const void *data, size_t n)
{
    if (c->reply)
        return bz_call_fail(c, BZ_TASK_FAILED, "the handler replied twice");
    if (n <= UINT32_MAX)
        c->reply = bz_task_result(c->task, BZ_TASK_OK, true, data, (uint32_t)n);
    return c->reply ? BZ_TASK_OK
                    : bz_call_fail(c, BZ_TASK_NO_MEMORY, "no memory for the result");
}

int bz_call_emit(struct bz_call *c, const void *data, size_t n)
{
    return bz_call_offer(c, data, n, BZ_CLOCK_NEVER);
}

int bz_call_offer(struct bz_call *c, const void *data, size_t n, int64_t deadline)
{
    struct bz_result *part = NULL;
    int status = bz_call_check(c);

    if (status < 0)
        return status;
    if (n <= UINT32_MAX)
        part = bz_task_result(c->task, BZ_TASK_OK, false, data, (uint32_t)n);
    if (!part)
        return bz_call_fail(c, BZ_TASK_NO_MEMORY, "no memory for a part of the result");
    if (bz_call_is_alone(c)) {
        status = bz_isolate_send(c->pipe, part);
        free(part);
        return status;
    }
    status = bz_client_emit(c->task, part, deadline);
    return status < 0 ? bz_call_fail(c, status, "nobody takes the results") : status;
}

int bz_call_fail(struct bz_call *c, int status, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(c->error, sizeof(c->error), fmt, ap);
    va_end(ap);
    return status;
}

int bz_call_fail_err(struct bz_call *c, int rc, const struct bz_err *err)
{
    int status = rc == BZ_E_CANCELED  ? BZ_TASK_CANCELED
                 : rc == BZ_E_TIMEOUT ? BZ_TASK_TIMEOUT
                                      : BZ_TASK_FAILED;

    return bz_call_fail(c, status, "%s", err->msg);
}

int bz_call_symbol(struct bz_call *c, struct bz_str name, unsigned access,
                   const struct bz_symbol **out)
{
    struct bz_call_held *held = BZ_ARENA_NEW(&c->arena, struct bz_call_held);
    struct bz_err err;
    int rc;

    if (bz_call_is_alone(c) && access & BZ_SYMBOLS_WRITE)
        return bz_call_fail(c, BZ_TASK_FAILED,
                            "symbol %.*s cannot be written in a process of its own",
                            BZ_STR_ARG(name));
    rc = bz_symbols_hold(c->symbols, name, access, &held->symbol, &err);
    if (rc == BZ_E_NOENT)
        return bz_call_fail(c, BZ_TASK_UNKNOWN_SYMBOL, "%s", err.msg);
    if (rc < 0)
        return bz_call_fail(c, BZ_TASK_FAILED, "%s", err.msg);
    held->next = c->held;
    c->held = held;
    *out = held->symbol;
    return 0;
}

static void let_go(struct bz_call *c)
{
    for (; c->held; c->held = c->held->next)
        bz_symbols_let_go(c->symbols, c->held->symbol);
}

static int status_of(int rc)
{
    return rc == 0              ? BZ_TASK_OK
           : rc == BZ_E_TIMEOUT ? BZ_TASK_TIMEOUT
                                : BZ_TASK_CANCELED;
}

int bz_call_check(struct bz_call *c)
{
    int status = status_of(bz_cancel_check(&c->task->cancel));

    if (status == BZ_TASK_TIMEOUT)
        return bz_call_fail(c, status, "it took longer than it may");
    return status < 0 ? bz_call_fail(c, status, "canceled") : 0;
}

bool bz_call_is_alone(const struct bz_call *c)
{
    return c->pipe >= 0;
}

int bz_call_handle(struct bz_call *c)
{
    const struct bz_handler *h = c->task->handler;

    return h->run(c, h->ctx);
}

struct guarded {
    struct bz_call *call;
    int status;
};

static void run_handler(void *arg)
{
    struct guarded *g = arg;

    g->status = bz_call_handle(g->call);
}

static int run_here(struct bz_call *c)
{
    struct guarded g = {.call = c};
    int number = bz_guard_run(run_handler, &g);

    if (number == 0)
        return g.status;
    return bz_call_fail(c, BZ_TASK_CRASHED, "the handler crashed: signal %d (%s)",
                        number, strsignal(number));
}

struct bz_result *bz_call_run(struct bz_task *t, struct bz_symbols *symbols)
{
    struct bz_call call;
    struct bz_result *result;
    int status;

    /* One by one: most of it is room for a message. */
    call.args = t->request.args;
    call.task = t;
    call.symbols = symbols;
    call.arena = (struct bz_arena){0};
    call.reply = NULL;
    call.held = NULL;
    call.pipe = -1;
    call.error[0] = '\0';
    status = bz_call_check(&call);
    bz_task_end_args(t);
    if (status == 0)
        status = t->handler->isolate ? bz_isolate_run(&call) : run_here(&call);
    if (status == 0 && !call.reply)
        status = bz_call_reply(&call, NULL, 0);
    result = call.reply;
    if (status < 0) {
        free(result);
        result = bz_task_failure(t->id, status, call.error);
    }
    let_go(&call); /* here: a handler that crashed could not */
    bz_arena_release(&call.arena);
    return result;
}
