#include "build_via.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/map.h"
#include "build_view.h"
#include "codec/json.h"
#include "codec/utf8.h"
#include "os/clock.h"
#include "os/fs.h"
#include "os/signal.h"
#include "serve_link.h"
#include "serve_ops.h"
#include "serve_request.h"
#include "serve_socket.h"

#define ANSWER (30 * BZ_CLOCK_S) /* for a server to say who it is */
#define BUILD_ID 1

struct names BZ_VEC(struct bz_str);

struct via {
    struct bz_cmd_env *env;
    const struct bz_build_via_opts *o;
    struct bz_serve_link link;
    struct bz_build_screen screen;
    struct bz_build_view view;
    struct bz_signal sig;
    int first_signal, signals;
    int events; /* a descriptor, or -1 */
    struct bz_arena arena, line;
    struct bz_map tasks; /* name -> place in names, from 1 */
    struct names names;
    struct bz_event_counts counts;
    bool begun;
    int64_t at, heard; /* of the last event: its time, and ours when it came */
    int64_t work;
    int status;
};

static void via_close(struct via *v)
{
    bz_build_screen_close(&v->screen);
    bz_serve_link_close(&v->link);
    bz_build_view_release(&v->view);
    /* As with a build here: after a signal this is about to end. */
    if (v->first_signal == 0)
        bz_signal_close(&v->sig);
    bz_fs_closep(&v->events);
    bz_map_release(&v->tasks);
    bz_vec_release(&v->names);
    bz_arena_release(&v->line);
    bz_arena_release(&v->arena);
}

/* ---- what is asked for ---- */

/* What is no text in UTF-8 cannot be told; it is left out, with a warning. */
static void write_env(struct via *v, struct bz_jsonw *w)
{
    BZ_CLEANUP(bz_map_release) struct bz_map seen = {0};

    bz_jsonw_map(bz_jsonw_key(w, "env"));
    for (char **at = environ; *at; at++) {
        struct bz_str name, value;
        uint32_t before = seen.len;

        if (!bz_str_cut(bz_str_from(*at), '=', &name, &value) || name.n == 0)
            continue;
        if (bz_utf8_valid(name) < name.n || bz_utf8_valid(value) < value.n) {
            bz_out_print(&v->env->log, "warning: the variable ");
            bz_out_plain(&v->env->log, name.p, name.n);
            bz_out_print(&v->env->log, " is no text and is not sent\n");
            continue;
        }
        bz_map_put(&seen, name);
        if (seen.len > before)
            bz_jsonw_str(bz_jsonw_key_str(w, name), value);
    }
    bz_jsonw_map_end(w);
}

static void write_options(struct via *v, struct bz_jsonw *w)
{
    static const char *const own[] = {"brief", "console", "events",
                                      "json",  "via",     NULL};
    static const char *const global[] = {"color", "directory", "help", "version", NULL};

    bz_jsonw_map(bz_jsonw_key(w, "options"));
    bz_serve_request_options(w, v->o->rows, v->o->values, own);
    bz_serve_request_options(w, v->env->global_rows, &v->env->global, global);
    bz_jsonw_cstr(bz_jsonw_key(w, "color"), v->env->log.color ? "always" : "never");
    bz_jsonw_bool(bz_jsonw_key(w, "brief"), v->screen.live);
    bz_jsonw_map_end(w);
}

static int send_build(struct via *v, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_jsonw w = bz_jsonw_to(&text, 0);
    char cwd[PATH_MAX];

    if (!getcwd(cwd, sizeof(cwd)))
        return bz_fail_sys(err, "find the working directory");
    bz_jsonw_map(&w);
    bz_jsonw_cstr(bz_jsonw_key(&w, "opcode"), "build");
    bz_jsonw_int(bz_jsonw_key(&w, "task_id"), BUILD_ID);
    bz_jsonw_map(bz_jsonw_key(&w, "args"));
    bz_jsonw_cstr(bz_jsonw_key(&w, "project"), cwd);
    bz_jsonw_list(bz_jsonw_key(&w, "targets"));
    for (size_t i = 0; i < v->o->targets->n; i++)
        bz_jsonw_cstr(&w, v->o->targets->word[i]);
    bz_jsonw_list_end(&w);
    write_options(v, &w);
    write_env(v, &w);
    bz_jsonw_map_end(&w);
    bz_jsonw_map_end(&w);
    return bz_serve_link_send(&v->link, bz_buf_str(&text), err);
}

/* ---- who is there ---- */

static int check_version(struct via *v, const char *path, struct bz_err *err)
{
    struct bz_serve_reply reply = {0};
    const struct bz_doc *d = NULL;
    struct bz_str version = {0};
    int64_t pid = 0, protocol = 0;
    int rc = bz_serve_link_ask(&v->link, "{\"opcode\": \"status\"}",
                               bz_clock_in(ANSWER), &reply, err);

    if (rc == 0)
        rc = bz_json_parse(&v->arena, reply.data, NULL, &d, err);
    if (rc == 0)
        rc = bz_doc_get_str(d, "bitzel", &version, err);
    if (rc == 0)
        rc = bz_doc_get_int(d, "pid", 0, INT64_MAX, &pid, err);
    if (rc == 0)
        rc = bz_doc_get_int(d, "protocol", 0, INT64_MAX, &protocol, err);
    if (rc < 0)
        return bz_err_wrap(err, "%s", path);
    if (protocol != BZ_SERVE_OPS_PROTOCOL ||
        !bz_str_eq(version, bz_str_from(BZ_VERSION)))
        return bz_fail(err, BZ_E_NOSUP,
                       "the server at %s is bitzel %.*s (pid %lld), this is %s: end it "
                       "with 'bitzel serve --stop' and start another, or build without "
                       "--via",
                       path, BZ_STR_ARG(version), (long long)pid, BZ_VERSION);
    return 0;
}

/* ---- what comes ---- */

static void say_message(struct via *v, const struct bz_doc *d)
{
    struct bz_str text;
    struct bz_err none;

    if (bz_doc_get_str(d, "text", &text, &none) < 0)
        return;
    /* What is to be coloured was, and control characters are gone, where it was made.
     */
    bz_out_put(&v->env->log, text.p, text.n);
    bz_out_print(&v->env->log, "\n");
    if (!v->begun)
        bz_out_flush(&v->env->log);
}

static void say_waiting(struct via *v, const struct bz_doc *d)
{
    const struct bz_doc *who = bz_doc_find(d, "for");
    const struct bz_doc *targets = who ? bz_doc_find(who, "targets") : NULL;

    if (v->env->global.quiet || !targets || targets->type != BZ_DOC_LIST)
        return;
    bz_out_print(&v->env->log, "Waiting for another build of this project:");
    for (size_t i = 0; i < targets->count; i++) {
        bz_out_print(&v->env->log, " ");
        bz_out_plain(&v->env->log, targets->items[i].text.p, targets->items[i].text.n);
    }
    bz_out_print(&v->env->log, "\n");
    bz_out_flush(&v->env->log);
}

static uint32_t task_of(struct via *v, struct bz_str name)
{
    struct bz_map_entry *e = bz_map_put(&v->tasks, name);

    if (e->u == 0) {
        e->key = bz_arena_dup(&v->arena, name);
        BZ_VEC_PUSH(&v->names, e->key);
        e->u = v->names.len;
        v->view.names = v->screen.console.names = v->names.at;
    }
    return (uint32_t)(e->u - 1);
}

static int64_t ns_of(const struct bz_doc *d, const char *key, int64_t otherwise)
{
    struct bz_err none;
    double seconds;

    if (bz_doc_get_real(d, key, &seconds, &none) < 0 || seconds < 0 || seconds > 1e9)
        return otherwise;
    return (int64_t)(seconds * 1e9);
}

static int64_t number_of(const struct bz_doc *d, const char *key, int64_t max)
{
    struct bz_err none;
    int64_t n = 0;

    return bz_doc_get_int(d, key, 0, max, &n, &none) < 0 ? 0 : n;
}

static uint32_t count_of(const struct bz_doc *d, const char *key)
{
    return (uint32_t)number_of(d, key, UINT32_MAX);
}

static bool flag_of(const struct bz_doc *d, const char *key)
{
    struct bz_err none;
    bool yes = false;

    return bz_doc_get_bool(d, key, &yes, &none) == 0 && yes;
}

static void take_counts(struct via *v, const struct bz_doc *d)
{
    v->counts = (struct bz_event_counts){.tasks = count_of(d, "tasks"),
                                         .cached = count_of(d, "cached"),
                                         .executed = count_of(d, "executed"),
                                         .failed = count_of(d, "failed"),
                                         .unneeded = count_of(d, "not_needed"),
                                         .noexec = count_of(d, "noexec"),
                                         .blocked = count_of(d, "not_started")};
}

static void hear(struct via *v, struct bz_event *e)
{
    v->at = e->at;
    v->heard = bz_clock_now();
    e->counts = v->counts;
    e->work = v->work;
    if (e->kind == BZ_EVENT_WANTED)
        bz_build_view_event(&v->view, e);
    else if (v->begun)
        bz_build_screen_hear(&v->screen, e);
}

static bool find_kind(struct bz_str name, enum bz_event_kind *out)
{
    static const struct {
        const char *name;
        enum bz_event_kind kind;
    } kinds[] = {
        {"planned",  BZ_EVENT_PLANNED },
        {"cached",   BZ_EVENT_CACHED  },
        {"started",  BZ_EVENT_STARTED },
        {"progress", BZ_EVENT_PROGRESS},
        {"done",     BZ_EVENT_DONE    },
        {"failed",   BZ_EVENT_FAILED  },
        {"end",      BZ_EVENT_ENDED   },
        {"wanted",   BZ_EVENT_WANTED  },
    };

    for (size_t i = 0; i < BZ_COUNTOF(kinds); i++)
        if (bz_str_eq(name, bz_str_from(kinds[i].name))) {
            *out = kinds[i].kind;
            return true;
        }
    return false;
}

static const char *text_of(const struct bz_doc *d, const char *key)
{
    struct bz_str text;
    struct bz_err none;

    return bz_doc_get_str(d, key, &text, &none) < 0 ? NULL : text.p;
}

static void take_event(struct via *v, const struct bz_doc *d, enum bz_event_kind kind)
{
    struct bz_event e = {.kind = kind, .at = ns_of(d, "at", v->at)};
    const char *task = text_of(d, "task"), *key = text_of(d, "key");
    struct bz_digest digest;
    struct bz_err none;

    if (kind == BZ_EVENT_PLANNED || kind == BZ_EVENT_ENDED)
        take_counts(v, d);
    else if (!task)
        return;
    if (task)
        e.task = task_of(v, bz_str_from(task));
    if (key && bz_digest_parse(bz_str_from(key), &digest, &none) == 0)
        e.key = &digest;
    else if (kind == BZ_EVENT_WANTED)
        return;
    v->counts.cached += kind == BZ_EVENT_CACHED && v->counts.tasks > 0;
    v->counts.executed += kind == BZ_EVENT_DONE;
    v->counts.failed += kind == BZ_EVENT_FAILED;
    e.unless = flag_of(d, "unless");
    e.log = text_of(d, "log");
    e.what = text_of(d, "what") ? text_of(d, "what") : "";
    e.bytes = (uint64_t)number_of(d, "bytes", INT64_MAX);
    e.total = (uint64_t)number_of(d, "total", INT64_MAX);
    e.expect = ns_of(d, "expect", 0);
    e.ahead = ns_of(d, "ahead", 0);
    v->work = ns_of(d, "work", -1);
    hear(v, &e);
}

static void begin(struct via *v, const struct bz_doc *d)
{
    if (v->begun || !v->screen.live)
        return;
    v->begun = true;
    v->heard = bz_clock_now();
    bz_build_screen_begin(&v->screen, v->names.at, count_of(d, "jobs"));
    v->screen.console.far = true;
}

/* The file of --events gets what comes, but for what is ours. */
static void keep_event(struct via *v, struct bz_str line)
{
    struct bz_err err;
    const char *name = v->o->events;

    if (v->events < 0)
        return;
    if (bz_fs_write_all(v->events, name, line.p, line.n, &err) == 0 &&
        bz_fs_write_all(v->events, name, "\n", 1, &err) == 0)
        return;
    bz_out_print(&v->env->log, "warning: --events: %s\n", err.msg);
    bz_fs_closep(&v->events);
}

static int take_part(struct via *v, struct bz_str line, struct bz_err *err)
{
    enum bz_event_kind kind;
    const struct bz_doc *d;
    struct bz_str event;
    int rc;

    bz_arena_reset(&v->line);
    rc = bz_json_parse(&v->line, line, NULL, &d, err);
    if (rc == 0)
        rc = bz_doc_get_str(d, "event", &event, err);
    if (rc < 0)
        return bz_err_wrap(err, "what the server says is wrong");
    if (bz_str_eq(event, BZ_STR("message"))) {
        say_message(v, d);
    } else if (bz_str_eq(event, BZ_STR("waiting"))) {
        say_waiting(v, d);
    } else {
        keep_event(v, line);
        if (bz_str_eq(event, BZ_STR("begin")))
            begin(v, d);
        else if (find_kind(event, &kind))
            take_event(v, d, kind);
    }
    return 0;
}

/* ---- how it ends ---- */

static void take_traffic(struct via *v, const struct bz_doc *summary)
{
    struct bz_traffic_sum *t = &v->view.traffic;

    t->downloaded = (uint64_t)number_of(summary, "downloaded_bytes", INT64_MAX);
    t->hits = (uint64_t)number_of(summary, "tier_hits", INT64_MAX);
    t->read = (uint64_t)number_of(summary, "tier_bytes_read", INT64_MAX);
    t->sent = (uint64_t)number_of(summary, "tier_bytes_written", INT64_MAX);
}

static void show_end(struct via *v, const struct bz_doc *summary)
{
    struct bz_out *out = &v->env->out;
    int64_t ns =
        number_of(summary, "milliseconds", INT64_MAX / BZ_CLOCK_MS) * BZ_CLOCK_MS;
    int rc = v->status == 0 ? 0 : v->status >= 128 ? BZ_E_CANCELED : BZ_E_TASK;

    take_counts(v, summary);
    take_traffic(v, summary);
    v->counts.wanted = (uint32_t)v->view.wanted.len;
    v->counts.unless = (uint32_t)v->view.unless.len;
    if (v->o->json)
        bz_build_view_json(out, &v->view, &v->counts, ns, rc);
    else if (v->o->dry)
        bz_build_view_dry(out, &v->counts);
    else
        bz_build_view_end(out, &v->view, &v->counts, ns, rc);
}

static int finish(struct via *v, const struct bz_serve_reply *r, struct bz_err *err)
{
    const struct bz_doc *d, *summary;
    int64_t code = 0;
    int rc;

    bz_build_screen_close(&v->screen);
    if (r->status == BZ_TASK_CANCELED)
        return bz_fail(err, BZ_E_CANCELED, "the build was interrupted");
    if (r->status < 0)
        return bz_fail(err, r->status == BZ_TASK_INVALID_JSON ? BZ_E_INVAL : BZ_E_IO,
                       "the server says: %.*s", BZ_STR_ARG(r->error));
    bz_arena_reset(&v->line);
    rc = bz_json_parse(&v->line, r->data, NULL, &d, err);
    if (rc == 0)
        rc = bz_doc_get_int(d, "exit_code", 0, 255, &code, err);
    if (rc < 0)
        return bz_err_wrap(err, "what the server says is wrong");
    v->status = (int)code;
    summary = bz_doc_find(d, "summary");
    if (summary && summary->type == BZ_DOC_MAP)
        show_end(v, summary);
    return 0;
}

/* ---- the loop ---- */

static int take_signal(struct via *v, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    int sig;

    if (bz_signal_next(&v->sig, bz_clock_in(0), &sig, err) < 0)
        return 0;
    if (v->first_signal == 0)
        v->first_signal = sig;
    bz_buf_addf(&text,
                "{\"opcode\": \"cancel\", \"task_id\": %d, \"priority\": \"high\", "
                "\"args\": {\"task_id\": %d}}",
                BUILD_ID + ++v->signals, BUILD_ID);
    return bz_serve_link_send(&v->link, bz_buf_str(&text), err);
}

/* All replies that are there; 1 after the last one of the build. */
static int take_replies(struct via *v, struct bz_err *err)
{
    struct bz_serve_reply r;
    int rc;

    while ((rc = bz_serve_link_next(&v->link, &r, err)) == 1) {
        if (r.id != BUILD_ID)
            continue; /* to a cancellation */
        rc = r.final ? finish(v, &r, err) : take_part(v, r.data, err);
        if (rc < 0 || r.final)
            return rc < 0 ? rc : 1;
    }
    return rc;
}

static void tick(struct via *v)
{
    struct bz_event e = {.kind = BZ_EVENT_TICK};
    int64_t passed = bz_clock_now() - v->heard;

    if (!v->begun)
        return;
    e.at = v->at + passed;
    e.counts = v->counts;
    e.work = v->work;
    bz_build_screen_hear(&v->screen, &e);
}

static int follow(struct via *v, struct bz_err *err)
{
    struct pollfd fds[] = {
        {v->link.fd, POLLIN, 0},
        {v->sig.fd,  POLLIN, 0},
    };
    int rc;

    while ((rc = take_replies(v, err)) == 0) {
        int ms = v->screen.live ? (int)(BZ_BUILD_SCREEN_TICK / BZ_CLOCK_MS) : -1;
        int n = poll(fds, BZ_COUNTOF(fds), ms);

        if (n < 0 && errno != EINTR)
            return bz_fail_sys(err, "wait for the server");
        if (n > 0 && fds[1].revents)
            rc = take_signal(v, err);
        if (rc == 0 && n > 0 && fds[0].revents)
            rc = bz_serve_link_read(&v->link, err);
        if (rc < 0)
            return rc;
        tick(v);
    }
    return rc < 0 ? rc : 0;
}

static int open_events(struct via *v, struct bz_err *err)
{
    const char *path = v->o->events;

    if (!path)
        return 0;
    if (strcmp(path, "-") == 0)
        v->events = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    else
        v->events =
            open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
    return v->events < 0 ? bz_fail_sys(err, "open %s", path) : 0;
}

static int run(struct via *v, const char *path, struct bz_err *err)
{
    static const int signals[] = {SIGINT, SIGTERM};
    int rc = bz_serve_link_open(&v->link, path, err);

    /* That there is no server is no query that found nothing. */
    if (rc == BZ_E_NOENT)
        err->code = rc = BZ_E_IO;
    if (rc == 0)
        rc = check_version(v, path, err);
    if (rc == 0)
        rc = open_events(v, err);
    if (rc == 0)
        rc = bz_signal_open(&v->sig, signals, BZ_COUNTOF(signals), err);
    if (rc == 0)
        rc = bz_build_screen_open(&v->screen, v->o->console, err);
    if (rc == 0)
        rc = send_build(v, err);
    return rc < 0 ? rc : follow(v, err);
}

int bz_build_via_run(struct bz_cmd_env *env, const struct bz_build_via_opts *o,
                     struct bz_err *err)
{
    BZ_CLEANUP(via_close)
    struct via v = {
        .env = env,
        .o = o,
        .link = {.fd = -1},
        .events = -1,
        .work = -1,
        .screen = {                .log = &env->log       },
        .view = { .log = &env->log,        .out = o->json ? NULL : &env->out}
    };
    const char *path;
    int rc = bz_serve_socket_path(&v.arena, (const char *const *)environ, o->socket,
                                  &path, err);

    if (rc == 0)
        rc = run(&v, path, err);
    /* As here: by the first signal, whatever it was that the build got. */
    if (v.first_signal && (rc == BZ_E_CANCELED || (rc == 0 && v.status >= 128)))
        return 128 + v.first_signal;
    return rc < 0 ? rc : v.status;
}
