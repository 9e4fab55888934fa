/* office.h - a service with a few handlers, and a client whose results are kept.
 *
 * ThreadSanitizer loses its way when a signal handler jumps: where it watches, handlers
 * that crash are not run.
 */
#ifndef BZ_TEST_JOBS_OFFICE_H
#define BZ_TEST_JOBS_OFFICE_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "jobs/call.h"
#include "jobs/service.h"
#include "os/clock.h"
#include "tests/unit/bz_test.h"

#if defined(__SANITIZE_THREAD__)
#define OFFICE_CRASHES 0
#else
#define OFFICE_CRASHES 1
#endif

struct office {
    struct bz_dispatch *dispatch;
    struct bz_symbols symbols;
    struct bz_service *service;
    struct bz_client *client;
    struct bz_sync_mutex mutex;
    struct bz_sync_cond came;
    struct bz_result *first, **last; /* as they came */
    atomic_uint ran;                 /* tasks of "count" */
    atomic_uint emitted;             /* parts of "flood" */
    atomic_uint gate;                /* "wait" and "hang" end when it is not 0 */
    struct bz_service_opts opts;     /* of the service; before it is opened */
    struct bz_err err;
};

static inline int office_echo(struct bz_call *c, void *ctx)
{
    (void)ctx;
    return bz_call_reply(c, c->args.p, c->args.n);
}

static inline int office_count(struct bz_call *c, void *ctx)
{
    struct office *o = ctx;

    (void)c;
    atomic_fetch_add(&o->ran, 1);
    return 0;
}

static inline int office_crash(struct bz_call *c, void *ctx)
{
    (void)ctx;
    if (bz_str_find(c->args, BZ_STR("abort")) != BZ_STR_NONE)
        abort();
    raise(SIGSEGV);
    return 0;
}

static inline int office_stream(struct bz_call *c, void *ctx)
{
    int status = 0;

    (void)ctx;
    for (int i = 0; i < 5 && status == 0; i++) {
        char text[16];

        status = bz_call_emit(c, text, (size_t)snprintf(text, sizeof(text), "%d", i));
    }
    return status < 0 ? status : bz_call_reply(c, "end", 3);
}

#define OFFICE_FLOOD 100
static inline int office_flood(struct bz_call *c, void *ctx)
{
    static const char part[65536];
    struct office *o = ctx;
    int status = 0;

    for (int i = 0; i < OFFICE_FLOOD && status == 0; i++) {
        status = bz_call_emit(c, part, sizeof(part));
        atomic_fetch_add(&o->emitted, 1);
    }
    return status;
}

static inline int office_wait(struct bz_call *c, void *ctx)
{
    struct office *o = ctx;
    int status = 0;

    while (atomic_load(&o->gate) == 0 && status == 0) {
        usleep(1000);
        status = bz_call_check(c);
    }
    return status;
}

/* Does not look whether it should end. */
static inline int office_hang(struct bz_call *c, void *ctx)
{
    struct office *o = ctx;

    while (atomic_load(&o->gate) == 0)
        usleep(1000);
    return bz_call_reply(c, "late", 4);
}

/* The same, and says first that it is there. */
static inline int office_hang_told(struct bz_call *c, void *ctx)
{
    int status = bz_call_emit(c, "here", 4);

    return status < 0 ? status : office_hang(c, ctx);
}

static inline void office_take(void *ctx, struct bz_result *r)
{
    struct office *o = ctx;

    bz_sync_lock(&o->mutex);
    *o->last = r;
    o->last = &r->next;
    bz_sync_broadcast(&o->came);
    bz_sync_unlock(&o->mutex);
}

/* The next result; the test frees it. NULL after some seconds. */
static inline struct bz_result *office_next(struct office *o)
{
    int64_t end = bz_clock_in(10 * BZ_CLOCK_S);
    struct bz_result *r;

    bz_sync_lock(&o->mutex);
    while (!o->first && bz_sync_wait(&o->came, &o->mutex, end))
        ;
    r = o->first;
    if (r) {
        o->first = r->next;
        if (!o->first)
            o->last = &o->first;
    }
    bz_sync_unlock(&o->mutex);
    if (r)
        bz_client_taken(o->client, r);
    return r;
}

static inline int office_setup(void **state)
{
    struct office *o = calloc(1, sizeof(*o));

    o->last = &o->first;
    *state = o;
    return 0;
}

/* In the test itself: before it cmocka takes the signals that a service wants. */
static inline struct office *office_open(void **state)
{
    static struct bz_handler rows[] = {
        {"echo",         office_echo,      NULL, false, false},
        {"count",        office_count,     NULL, false, false},
        {"crash",        office_crash,     NULL, false, false},
        {"stream",       office_stream,    NULL, true,  false},
        {"flood",        office_flood,     NULL, true,  false},
        {"wait",         office_wait,      NULL, true,  false},
        {"crash_alone",  office_crash,     NULL, false, true },
        {"stream_alone", office_stream,    NULL, false, true },
        {"wait_alone",   office_wait,      NULL, false, true },
        {"hang",         office_hang,      NULL, false, false},
        {"hang_apart",   office_hang,      NULL, true,  false},
        {"hang_alone",   office_hang,      NULL, false, true },
        {"hang_told",    office_hang_told, NULL, false, true },
    };
    struct office *o = *state;
    struct bz_service_opts opts = o->opts;

    opts.threads = opts.threads ? opts.threads : 2;
    opts.symbols = &o->symbols;
    o->dispatch = bz_dispatch_new();
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        rows[i].ctx = o;
        assert_ok(bz_dispatch_offer(o->dispatch, &rows[i], &o->err), &o->err);
    }
    assert_ok(bz_dispatch_bind(o->dispatch, 3, BZ_STR("echo"), &o->err), &o->err);
    opts.dispatch = o->dispatch;
    assert_ok(bz_service_new(&opts, &o->service, &o->err), &o->err);
    o->client = bz_client_new(o->service, 64, office_take, o);
    return o;
}

static inline int office_teardown(void **state)
{
    struct office *o = *state;

    bz_client_free(o->client);
    bz_service_free(o->service);
    bz_dispatch_free(o->dispatch);
    bz_symbols_release(&o->symbols);
    while (o->first) {
        struct bz_result *next = o->first->next;

        free(o->first);
        o->first = next;
    }
    free(o);
    return 0;
}

static inline uint64_t office_ask(struct office *o, const char *text)
{
    uint64_t id = 0;

    assert_ok(bz_client_submit(o->client, bz_str_from(text), NULL, &id, &o->err),
              &o->err);
    return id;
}

#endif
