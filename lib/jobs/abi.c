/* The functions of bitzel/jobs.h, each over one of this module. */
#include <bitzel/jobs.h>
#include <dlfcn.h>
#include <stdio.h>

#include "base/mem.h"
#include "jobs/attach.h"
#include "jobs/handlers.h"
#include "jobs/inbox.h"
#include "jobs/server.h"
#include "jobs/watch.h"
#include "os/clock.h"

enum { RESULTS = 1024, SOCKET_MAX = 108 };

/* A handler of the program's, as the service calls it. */
struct own_handler {
    struct bz_handler handler;
    bitzel_handler_fn run;
    void *user_data;
    char name[BZ_REQUEST_NAME + 1];
    struct own_handler *next;
};

struct bitzel_jobs {
    struct bz_jobconf conf;
    struct bz_dispatch *dispatch;
    struct bz_symbols symbols;
    struct bz_handlers handlers;
    struct own_handler *own;
    struct bz_service *service;
    struct bz_inbox *inbox;
    struct bz_client *client;
    struct bz_server *server;
    struct bz_watch *watch;
    struct bz_attach *attach; /* a service elsewhere; then all of the above is not */
};

/* What a program sees of a result is in its memory: the first part of this. */
struct shown {
    bitzel_result result;
    struct bz_result *inner;
};

static void say(char *error, size_t n, const struct bz_err *err)
{
    if (error && n > 0)
        snprintf(error, n, "%s", err->msg);
}

static bitzel_result *show(struct bz_result *r)
{
    struct shown *s;

    if (!r)
        return NULL;
    s = bz_mem_zalloc(sizeof(*s));
    s->inner = r;
    s->result.task_id = r->id;
    s->result.status = r->status;
    s->result.final = r->final;
    s->result.data = r->data;
    s->result.data_size = r->size;
    snprintf(s->result.error_msg, sizeof(s->result.error_msg), "%s", r->error);
    return &s->result;
}

void bitzel_result_free(bitzel_result *result)
{
    struct shown *s = (struct shown *)result;

    if (!s)
        return;
    free(s->inner);
    free(s);
}

/* ---- handlers ---- */

struct bitzel_call {
    struct bz_call inner;
};

static int run_own(struct bz_call *call, void *ctx)
{
    struct own_handler *h = ctx;

    return h->run((bitzel_call *)call, h->user_data);
}

static int add_handler(bitzel_jobs *jobs, const char *name, bitzel_handler_fn run,
                       void *user_data, int flags, struct bz_err *err)
{
    struct own_handler *h = bz_mem_zalloc(sizeof(*h));
    int rc;

    snprintf(h->name, sizeof(h->name), "%s", name);
    h->run = run;
    h->user_data = user_data;
    h->handler = (struct bz_handler){h->name, run_own, h, flags & BITZEL_BLOCKS,
                                     flags & BITZEL_PROCESS};
    h->next = jobs->own;
    jobs->own = h;
    rc = strlen(name) > BZ_REQUEST_NAME
             ? bz_fail(err, BZ_E_INVAL, "the name of a handler is too long")
             : bz_dispatch_offer(jobs->dispatch, &h->handler, err);
    return rc;
}

int bitzel_jobs_register(bitzel_jobs *jobs, const char *name, bitzel_handler_fn handler,
                         void *user_data, int flags)
{
    struct bz_err err;

    if (jobs->service || jobs->attach)
        return -1;
    return add_handler(jobs, name, handler, user_data, flags, &err) < 0 ? -1 : 0;
}

const char *bitzel_call_args(bitzel_call *call, size_t *size)
{
    if (size)
        *size = call->inner.args.n;
    return call->inner.args.n > 0 ? call->inner.args.p : "";
}

uint64_t bitzel_call_id(bitzel_call *call)
{
    return call->inner.task->id;
}

int bitzel_call_reply(bitzel_call *call, const void *data, size_t size)
{
    return bz_call_reply(&call->inner, data, size);
}

int bitzel_call_emit(bitzel_call *call, const void *data, size_t size)
{
    return bz_call_emit(&call->inner, data, size);
}

int bitzel_call_fail(bitzel_call *call, int status, const char *message)
{
    return bz_call_fail(&call->inner, status < 0 ? status : BZ_TASK_FAILED, "%s",
                        message);
}

int bitzel_call_symbol(bitzel_call *call, const char *name, int access, void **p,
                       size_t *size)
{
    const struct bz_symbol *s = NULL;
    int status = bz_call_symbol(&call->inner, bz_str_from(name), (unsigned)access, &s);

    if (status < 0)
        return status;
    *p = s->p;
    *size = s->size;
    return 0;
}

int bitzel_call_check(bitzel_call *call)
{
    return bz_call_check(&call->inner);
}

/* ---- setting it up ---- */

/* The object stays: its handlers may be called until the program ends. They are not
 * trusted with this process unless the config file says so. */
static int load_object(bitzel_jobs *jobs, struct bz_str path, struct bz_err *err)
{
    void *object = dlopen(path.p, RTLD_NOW | RTLD_LOCAL);
    const bitzel_handler_row *rows = object ? dlsym(object, "bitzel_handlers") : NULL;
    int rc = 0;

    if (!rows)
        return bz_fail(err, BZ_E_INVAL, "%s", dlerror());
    for (; rows->name && rc == 0; rows++)
        rc = add_handler(jobs, rows->name, rows->handler, rows->user_data,
                         rows->flags | BITZEL_PROCESS, err);
    return rc < 0 ? bz_err_wrap(err, "%s", path.p) : 0;
}

static int bind_one(bitzel_jobs *jobs, const struct bz_jobconf_binding *b,
                    struct bz_err *err)
{
    int rc = bz_dispatch_bind(jobs->dispatch, b->opcode, b->name, err);

    if (rc == 0 && (b->isolate || b->here))
        bz_dispatch_isolate(jobs->dispatch, b->opcode, b->isolate);
    return rc;
}

static int configure(bitzel_jobs *jobs, const char *path, struct bz_err *err)
{
    const struct bz_jobconf *c = &jobs->conf;
    int rc = path ? bz_jobconf_read(&jobs->conf, path, err) : 0;
    unsigned line = 0;

    if (rc < 0 || !path)
        return rc;
    for (size_t i = 0; i < c->loads.len && rc == 0; i++) {
        line = c->load_lines.at[i];
        rc = load_object(jobs, c->loads.at[i], err);
    }
    for (size_t i = 0; i < c->bindings.len && rc == 0; i++) {
        line = c->bindings.at[i].line;
        rc = bind_one(jobs, &c->bindings.at[i], err);
    }
    return rc < 0 ? bz_err_wrap(err, "%s:%u", path, line) : 0;
}

bitzel_jobs *bitzel_jobs_new(void)
{
    bitzel_jobs *jobs = bz_mem_zalloc(sizeof(*jobs));
    struct bz_err err;

    jobs->dispatch = bz_dispatch_new();
    jobs->handlers.roots = &jobs->conf.roots;
    /* The table is empty: no name is taken. */
    if (bz_handlers_offer(&jobs->handlers, jobs->dispatch, &err) < 0) {
        bitzel_jobs_shutdown(jobs);
        return NULL;
    }
    return jobs;
}

static int watch(bitzel_jobs *jobs, const char *dir, struct bz_err *err)
{
    if (jobs->watch || !jobs->service)
        return bz_fail(err, BZ_E_BUSY, "it watches already, or was not started");
    return bz_watch_new(
        &(struct bz_watch_opts){.service = jobs->service,
                                .dir = dir,
                                .results = (unsigned)jobs->conf.results},
        &jobs->watch, err);
}

int bitzel_jobs_start(bitzel_jobs *jobs, const char *config_path, char *error,
                      size_t error_size)
{
    const struct bz_jobconf *c = &jobs->conf;
    struct bz_service_opts opts;
    struct bz_err err;
    int rc = jobs->service || jobs->attach
                 ? bz_fail(&err, BZ_E_BUSY, "it was started already")
                 : configure(jobs, config_path, &err);

    opts = (struct bz_service_opts){.threads = c->threads,
                                    .io_threads = c->io_threads,
                                    .tasks = c->tasks,
                                    .tasks_max = c->tasks_max,
                                    .mail = c->mail,
                                    .timeout = c->timeout,
                                    .dispatch = jobs->dispatch,
                                    .symbols = &jobs->symbols};
    if (rc == 0)
        rc = bz_service_new(&opts, &jobs->service, &err);
    if (rc < 0) {
        say(error, error_size, &err);
        return -1;
    }
    jobs->inbox = bz_inbox_new();
    jobs->client =
        bz_client_new(jobs->service, c->results ? (unsigned)c->results : RESULTS,
                      bz_inbox_put, jobs->inbox);
    jobs->inbox->client = jobs->client;
    if (c->watches.len > 0)
        rc = watch(jobs, c->watches.at[0].p, &err);
    if (rc < 0)
        say(error, error_size, &err);
    return rc < 0 ? -1 : 0;
}

bitzel_jobs *bitzel_jobs_create(const char *config_path, char *error, size_t error_size)
{
    bitzel_jobs *jobs = bitzel_jobs_new();

    if (jobs && bitzel_jobs_start(jobs, config_path, error, error_size) < 0) {
        bitzel_jobs_shutdown(jobs);
        return NULL;
    }
    return jobs;
}

void bitzel_jobs_shutdown(bitzel_jobs *jobs)
{
    if (!jobs)
        return;
    bz_attach_free(jobs->attach);
    if (jobs->service)
        bz_service_stop(jobs->service);
    bz_server_free(jobs->server);
    bz_watch_free(jobs->watch);
    bz_client_free(jobs->client);
    bz_service_free(jobs->service);
    bz_handlers_release(&jobs->handlers);
    bz_inbox_free(jobs->inbox);
    bz_dispatch_free(jobs->dispatch);
    bz_symbols_release(&jobs->symbols);
    bz_jobconf_release(&jobs->conf);
    while (jobs->own) {
        struct own_handler *next = jobs->own->next;

        free(jobs->own);
        jobs->own = next;
    }
    free(jobs);
}

/* A name without a '/' is that of a socket in the user's own directory. */
static int find_socket(const char *name, char *path, size_t size, struct bz_err *err)
{
    const char *dir = getenv("XDG_RUNTIME_DIR");
    int n;

    if (strchr(name, '/'))
        n = snprintf(path, size, "%s", name);
    else if (dir && *dir)
        n = snprintf(path, size, "%s/bitzel/%s.sock", dir, name);
    else
        return bz_fail(err, BZ_E_INVAL,
                       "XDG_RUNTIME_DIR is not set: give the path of a socket, not %s",
                       name);
    return (size_t)n >= size
               ? bz_fail(err, BZ_E_INVAL, "%s is too long for a socket", name)
               : 0;
}

int bitzel_jobs_listen(bitzel_jobs *jobs, const char *socket_path, char *error,
                       size_t error_size)
{
    char path[SOCKET_MAX];
    struct bz_err err;
    int rc = jobs->server || !jobs->service
                 ? bz_fail(&err, BZ_E_BUSY, "it listens already, or was not started")
                 : find_socket(socket_path, path, sizeof(path), &err);

    if (rc == 0)
        rc = bz_server_new(
            &(struct bz_server_opts){.service = jobs->service,
                                     .path = path,
                                     .fd = -1,
                                     .results = (unsigned)jobs->conf.results},
            &jobs->server, &err);

    if (rc < 0)
        say(error, error_size, &err);
    return rc < 0 ? -1 : 0;
}

int bitzel_jobs_watch(bitzel_jobs *jobs, const char *dir, char *error,
                      size_t error_size)
{
    struct bz_err err;
    int rc = watch(jobs, dir, &err);

    if (rc < 0)
        say(error, error_size, &err);
    return rc < 0 ? -1 : 0;
}

bitzel_jobs *bitzel_attach(const char *name, char *error, size_t error_size)
{
    bitzel_jobs *jobs = bz_mem_zalloc(sizeof(*jobs));
    char path[SOCKET_MAX];
    struct bz_err err;
    int rc = find_socket(name, path, sizeof(path), &err);

    if (rc == 0)
        rc = bz_attach_new(path, &jobs->attach, &err);
    if (rc == 0)
        return jobs;
    say(error, error_size, &err);
    free(jobs);
    return NULL;
}

/* ---- requests and results ---- */

/* From submission to the last result. */
struct callback {
    bitzel_result_fn fn;
    void *user_data;
};

static void call_back(struct bz_result *r, void *ctx)
{
    struct callback *c = ctx;
    bool final = r->final;

    c->fn(show(r), c->user_data);
    if (final)
        free(c);
}

static int reason_of(int rc)
{
    switch (rc) {
    case BZ_E_EXISTS:
        return BITZEL_ID_IN_USE;
    case BZ_E_LIMIT:
        return BITZEL_TOO_LARGE;
    case BZ_E_CANCELED:
        return BITZEL_STOPPED;
    case BZ_E_NOSUP:
        return BITZEL_UNSUPPORTED;
    default:
        return BITZEL_BUSY;
    }
}

static int submit(bitzel_jobs *jobs, struct bz_str text, struct callback *c,
                  uint64_t *id)
{
    struct bz_client_extra extra = {.callback = call_back, .ctx = c};
    struct bz_err err;

    if (text.n > BZ_REQUEST_MAX)
        return BZ_E_LIMIT;
    if (jobs->attach) /* there is no thread of the pool here */
        return c ? BZ_E_NOSUP : bz_attach_submit(jobs->attach, text, id, &err);
    return bz_client_submit(jobs->client, text, c ? &extra : NULL, id, &err);
}

uint64_t bitzel_jobs_submit_or_why(bitzel_jobs *jobs, const char *json,
                                   bitzel_result_fn callback, void *user_data, int *why)
{
    struct callback *c = NULL;
    uint64_t id = 0;
    int rc;

    if (callback) {
        c = bz_mem_zalloc(sizeof(*c));
        *c = (struct callback){callback, user_data};
    }
    rc = submit(jobs, bz_str_from(json), c, &id);
    if (rc == 0)
        return id;
    free(c);
    if (why)
        *why = reason_of(rc);
    return 0;
}

uint64_t bitzel_jobs_submit(bitzel_jobs *jobs, const char *json)
{
    return bitzel_jobs_submit_or_why(jobs, json, NULL, NULL, NULL);
}

uint64_t bitzel_jobs_submit_with_callback(bitzel_jobs *jobs, const char *json,
                                          bitzel_result_fn callback, void *user_data)
{
    return bitzel_jobs_submit_or_why(jobs, json, callback, user_data, NULL);
}

bitzel_result *bitzel_jobs_poll(bitzel_jobs *jobs, uint64_t task_id)
{
    return show(jobs->attach ? bz_attach_poll(jobs->attach, task_id)
                             : bz_inbox_poll(jobs->inbox, task_id));
}

bitzel_result *bitzel_jobs_wait(bitzel_jobs *jobs, uint64_t task_id,
                                uint32_t timeout_ms)
{
    int64_t deadline = bz_clock_in((int64_t)timeout_ms * BZ_CLOCK_MS);

    return show(jobs->attach ? bz_attach_wait(jobs->attach, task_id, deadline)
                             : bz_inbox_wait(jobs->inbox, task_id, deadline));
}

int bitzel_jobs_cancel(bitzel_jobs *jobs, uint64_t task_id)
{
    return jobs->attach ? bz_attach_cancel(jobs->attach, task_id)
                        : bz_client_cancel(jobs->client, task_id);
}

int bitzel_jobs_register_symbol(bitzel_jobs *jobs, const char *name, void *p,
                                size_t size, int access)
{
    struct bz_err err;

    if (jobs->attach)
        return -1; /* memory of ours is not the service's */
    return bz_symbols_add(&jobs->symbols, name, p, size, (unsigned)access, &err) < 0
               ? -1
               : 0;
}

int bitzel_jobs_unregister_symbol(bitzel_jobs *jobs, const char *name)
{
    struct bz_err err;

    return bz_symbols_remove(&jobs->symbols, name, &err) < 0 ? -1 : 0;
}
