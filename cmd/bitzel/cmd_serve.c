#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "codec/json.h"
#include "jobs/server.h"
#include "os/clock.h"
#include "os/fs.h"
#include "os/signal.h"
#include "serve_link.h"
#include "serve_ops.h"
#include "serve_request.h"
#include "serve_socket.h"

enum { IDLE = 900, IDLE_MAX = 30 * 86400, THREADS = 80 };
#define LOOK (2 * BZ_CLOCK_S)      /* how often to see whether there is a client */
#define FAREWELL (30 * BZ_CLOCK_S) /* for builds to end, and results to be read */
#define ANSWER (30 * BZ_CLOCK_S)

struct serve_values {
    const char *socket;
    int64_t idle;
    bool status, stop, json;
};

static const struct bz_opt opts[] = {
    BZ_OPT_TEXT(struct serve_values, socket, 0, "socket", "PATH",
                "Where to listen; else bitzel/serve.sock in XDG_RUNTIME_DIR or, "
                "without one, in the directory of the state"),
    BZ_OPT_NUMBER(struct serve_values, idle, 0, "idle", "SECONDS", 0, IDLE_MAX, IDLE,
                  "End after so long without a client; 0 is never"),
    BZ_OPT_FLAG(struct serve_values, status, 0, "status",
                "Show the server that is there, and what it builds"),
    BZ_OPT_FLAG(struct serve_values, stop, 0, "stop",
                "End the server that is there, and what it builds"),
    BZ_OPT_FLAG(struct serve_values, json, 0, "json",
                "Print one JSON object, with --status"),
    BZ_OPT_END,
};

static const struct bz_opt_arg args[] = {BZ_OPT_END};

/* ---- the server that is there ---- */

static void show_build(struct bz_out *out, const struct bz_doc *b)
{
    const struct bz_doc *targets = bz_doc_find(b, "targets");
    const struct bz_doc *project = bz_doc_find(b, "project");
    const struct bz_doc *state = bz_doc_find(b, "state");

    if (!targets || targets->type != BZ_DOC_LIST || !project || !state)
        return;
    bz_out_plain(out, state->text.p, state->text.n);
    bz_out_print(out, "  ");
    bz_out_plain(out, project->text.p, project->text.n);
    bz_out_print(out, " ");
    for (size_t i = 0; i < targets->count; i++) {
        bz_out_print(out, " ");
        bz_out_plain(out, targets->items[i].text.p, targets->items[i].text.n);
    }
    bz_out_print(out, "\n");
}

static int show_status(struct bz_cmd_env *env, struct bz_str text, bool json,
                       struct bz_err *err)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    const struct bz_doc *d = NULL, *builds = NULL;
    struct bz_str version = {0}, socket = {0};
    int64_t pid = 0;
    int rc;

    if (json) {
        bz_out_put(&env->out, text.p, text.n);
        bz_out_print(&env->out, "\n");
        return 0;
    }
    rc = bz_json_parse(&arena, text, NULL, &d, err);
    if (rc == 0)
        rc = bz_doc_get_str(d, "bitzel", &version, err);
    if (rc == 0)
        rc = bz_doc_get_str(d, "socket", &socket, err);
    if (rc == 0)
        rc = bz_doc_get_int(d, "pid", 0, INT64_MAX, &pid, err);
    if (rc == 0)
        rc = bz_doc_field(d, "builds", BZ_DOC_LIST, &builds, err);
    if (rc < 0)
        return bz_err_wrap(err, "what the server says is wrong");
    bz_out_print(&env->out, "bitzel %.*s serves at %.*s (pid %lld)\n",
                 BZ_STR_ARG(version), BZ_STR_ARG(socket), (long long)pid);
    for (size_t i = 0; builds && i < builds->count; i++)
        show_build(&env->out, &builds->items[i]);
    return 0;
}

static void close_link(struct bz_serve_link *l)
{
    bz_serve_link_close(l);
}

/* Until the other end closes, which it does last. */
static void wait_for_end(struct bz_serve_link *l)
{
    struct bz_err err;

    while (bz_serve_link_read(l, &err) == 0)
        bz_buf_truncate(&l->in, 0);
}

static int ask_other(struct bz_cmd_env *env, const struct serve_values *v,
                     const char *path, struct bz_err *err)
{
    BZ_CLEANUP(close_link) struct bz_serve_link link = {.fd = -1};
    struct bz_serve_reply reply = {.data = BZ_STR("")};
    int rc = bz_serve_link_open(&link, path, err);

    if (rc == 0)
        rc = bz_serve_link_ask(
            &link, v->stop ? "{\"opcode\": \"shutdown\"}" : "{\"opcode\": \"status\"}",
            bz_clock_in(ANSWER), &reply, err);
    if (rc < 0)
        return rc;
    if (!v->stop)
        return show_status(env, reply.data, v->json, err);
    wait_for_end(&link);
    return 0;
}

/* ---- the server that this is ---- */

struct house {
    struct bz_arena arena;
    struct bz_serve_ops ops;
    struct bz_signal sig;
    struct bz_dispatch *dispatch;
    struct bz_service *service;
    struct bz_server *server;
    const char *path;
    int lock, given;
};

/* Signals stay blocked: another one must not change how this ends. */
static void close_house(struct house *h)
{
    bz_server_free(h->server);
    bz_service_free(h->service);
    bz_serve_warm_close(&h->ops.warm);
    bz_dispatch_free(h->dispatch);
    bz_fs_closep(&h->lock);
    bz_arena_release(&h->arena);
}

static int open_house(struct house *h, const struct bz_cmd_env *env, struct bz_err *err)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    const char *const *variables = (const char *const *)environ;
    struct bz_service_opts service = {.io_threads = THREADS};
    struct bz_server_opts server = {.path = h->path, .claimed = true, .fd = h->given};
    int rc = h->given >= 0 ? 0 : bz_serve_socket_claim(h->path, &h->lock, err);

    h->dispatch = bz_dispatch_new();
    h->ops.global = env->global_rows;
    h->ops.env = bz_serve_request_base(&h->arena, variables);
    h->ops.socket = h->path;
    h->ops.began = bz_clock_now();
    if (rc == 0)
        rc = bz_serve_ops_offer(&h->ops, h->dispatch, err);
    /* Before there are threads. */
    if (rc == 0)
        rc = bz_signal_open(&h->sig, signals, BZ_COUNTOF(signals), err);
    service.dispatch = h->dispatch;
    if (rc == 0)
        rc = bz_service_new(&service, &h->service, err);
    server.service = h->service;
    if (rc == 0)
        rc = bz_server_new(&server, &h->server, err);
    return rc;
}

/* Until a signal comes, or nobody has for so long. The signal, or 0. */
static int wait_for_reason(struct house *h, int64_t idle)
{
    int64_t pause = idle > 0 && idle < 4 * LOOK ? idle / 4 : LOOK;
    struct bz_err err;
    int64_t last;
    int sig = 0;

    for (;;) {
        if (bz_signal_next(&h->sig, bz_clock_in(idle ? pause : FAREWELL), &sig, &err) ==
            0)
            return sig;
        if (idle > 0 && bz_server_clients(h->server, &last) == 0 &&
            bz_clock_now() - last >= idle)
            return 0;
    }
}

static void say(struct bz_cmd_env *env, const char *what, const char *path)
{
    if (env->global.quiet)
        return;
    bz_out_print(&env->log, "bitzel serve (pid %ld) %s ", (long)getpid(), what);
    bz_out_plain(&env->log, path, strlen(path));
    bz_out_print(&env->log, "\n");
    bz_out_flush(&env->log);
}

static int serve(struct bz_cmd_env *env, const struct serve_values *v, struct house *h,
                 struct bz_err *err)
{
    int rc = open_house(h, env, err);
    int sig;

    if (rc < 0)
        return rc;
    say(env, "listens on", h->path);
    sig = wait_for_reason(h, v->idle * BZ_CLOCK_S);
    bz_service_stop(h->service);
    bz_serve_desk_close(&h->ops.desk);
    bz_server_finish(h->server, bz_clock_in(FAREWELL));
    say(env, sig ? "ends at" : "has nothing to do and ends at", h->path);
    return BZ_CMD_EXIT_SUCCESS;
}

static int run(struct bz_cmd_env *env, const void *values, struct bz_err *err)
{
    const struct serve_values *v = values;
    const char *const *variables = (const char *const *)environ;
    BZ_CLEANUP(close_house) struct house h = {.lock = -1, .given = -1};
    int rc;

    if (v->status && v->stop)
        return bz_fail(err, BZ_E_INVAL, "--status and --stop contradict each other");
    rc = bz_serve_socket_path(&h.arena, variables, v->socket, &h.path, err);
    if (rc == 0 && (v->status || v->stop))
        return ask_other(env, v, h.path, err);
    if (rc == 0)
        rc = bz_serve_socket_given(variables, &h.given, err);
    return rc < 0 ? rc : serve(env, v, &h, err);
}

static const struct bz_cmd_term examples[] = {
    {"bitzel serve & bitzel build --via=auto world",
     "Start a server, and have it build"                                                             },
    {"bitzel serve --status",                        "See what it does"                              },
    {"bitzel serve --idle 0",                        "Have one that stays, whether it is used or not"},
    {NULL,                                           NULL                                            },
};

const struct bz_cmd bz_cmd_serve = {
    .name = "serve",
    .summary = "Build and answer for other programs, on a socket",
    .detail =
        "Takes requests on a Unix socket of the user, a JSON object a line, and sends "
        "results as they come: build, plan, why, getvar, graph, cache, cancel, status, "
        "shutdown. Each runs in a process of its own, with the directory and the "
        "environment of the request. Builds of one project run one after the other. A "
        "client that goes takes its builds with it. The manual, .docs/manual.md, shows "
        "how to ask.",
    .opts = opts,
    .args = args,
    .examples = examples,
    .size = sizeof(struct serve_values),
    .run = run,
};
