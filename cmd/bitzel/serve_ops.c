#include "serve_ops.h"

#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/xdg.h"
#include "jobs/client.h"
#include "os/clock.h"
#include "os/path.h"
#include "project/locate.h"
#include "serve_child.h"

#define LOOK                                                                           \
    (100 * BZ_CLOCK_MS)           /* how often to see whether a build is still wanted  \
                                   */
#define PATIENCE (5 * BZ_CLOCK_S) /* with one who does not read what is sent */
#define INTERRUPTED (128 + SIGINT)

static const char *const globals[] = {"project", "read",  "postread", "set",
                                      "color",   "quiet", "verbose",  NULL};
static const char *const json_only[] = {"--json", "--color=never", NULL};
static const char *const no_json[] = {"json", "color", NULL};

/* ---- what all of them need ---- */

static int read_request(struct bz_call *call, struct bz_serve_ops *ops,
                        const struct bz_serve_form *form, const struct bz_doc *args,
                        struct bz_serve_request *out)
{
    struct bz_serve_form whole = *form;
    struct bz_err err;
    char real[PATH_MAX];

    whole.global = ops->global;
    whole.globals = globals;
    if (bz_serve_request_read(&call->arena, args, &whole, ops->env, out, &err) < 0)
        return bz_call_fail(call, BZ_TASK_INVALID_JSON, "%s", err.msg);
    if (!realpath(out->project, real))
        return bz_call_fail(call, BZ_TASK_FAILED, "project: %.160s is not there",
                            out->project);
    out->project = bz_arena_dup(&call->arena, bz_str_from(real)).p;
    return 0;
}

static int read_args(struct bz_call *call, const struct bz_doc **args)
{
    struct bz_err err;

    return bz_call_args(call, args, &err) < 0
               ? bz_call_fail(call, BZ_TASK_INVALID_JSON, "%s", err.msg)
               : 0;
}

/* ---- build ---- */

struct building {
    struct bz_call *call;
    struct bz_serve_ops *ops;
    struct bz_serve_seat seat;
    int emitted;  /* a status: nobody takes the parts any more */
    int64_t lost; /* parts that were not taken in time, and not told of */
};

/* What could not be sent, if that can be said now. */
static void tell_lost(struct building *b)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_jsonw w = bz_jsonw_to(&text, 0);

    if (b->lost == 0)
        return;
    bz_jsonw_map(&w);
    bz_jsonw_cstr(bz_jsonw_key(&w, "event"), "lost");
    bz_jsonw_int(bz_jsonw_key(&w, "count"), b->lost);
    bz_jsonw_map_end(&w);
    b->emitted = bz_call_offer(b->call, text.data, text.len, bz_clock_now());
    if (b->emitted == 0)
        b->lost = 0;
}

/* A build is in the way of others of its project: it does not wait for a client that
 * does not read, but for a moment, and once. */
static void emit(struct building *b, struct bz_str text)
{
    if (b->emitted < 0)
        return;
    tell_lost(b);
    if (b->lost == 0)
        b->emitted = bz_call_offer(b->call, text.p, text.n, bz_clock_in(PATIENCE));
    b->lost += b->emitted > 0;
}

static bool take_build_line(void *ctx, bool out, struct bz_str line)
{
    struct building *b = ctx;
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_jsonw w = bz_jsonw_to(&text, 0);

    if (out) {
        if (!bz_str_starts(line, BZ_STR("{\"event\":")))
            return false; /* of the summary */
        emit(b, line);
        return true;
    }
    bz_jsonw_map(&w);
    bz_jsonw_cstr(bz_jsonw_key(&w, "event"), "message");
    bz_jsonw_str(bz_jsonw_key(&w, "text"), line);
    bz_jsonw_map_end(&w);
    emit(b, bz_buf_str(&text));
    return true;
}

static void take_build_start(void *ctx, pid_t pid)
{
    struct building *b = ctx;

    bz_serve_desk_runs(&b->ops->desk, &b->seat, pid);
}

static void tell_waiting(struct building *b, uint64_t *told)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_jsonw w = bz_jsonw_to(&text, 0);
    uint64_t whom;

    bz_jsonw_map(&w);
    bz_jsonw_cstr(bz_jsonw_key(&w, "event"), "waiting");
    bz_jsonw_key(&w, "for");
    whom = bz_serve_desk_blocker(&b->ops->desk, &b->seat, &w);
    if (whom == 0 || whom == *told)
        return;
    bz_jsonw_map_end(&w);
    emit(b, bz_buf_str(&text));
    *told = whom;
}

/* 0 when it is its turn, 1 if it was interrupted before, else a status. */
static int wait_for_turn(struct building *b)
{
    uint64_t told = 0;

    while (
        !bz_serve_desk_wait(&b->ops->desk, &b->seat, told ? bz_clock_in(LOOK) : -1)) {
        int status = bz_call_check(b->call);

        if (status < 0)
            return status;
        if (bz_serve_desk_is_interrupted(&b->ops->desk, &b->seat))
            return 1;
        tell_waiting(b, &told);
    }
    return bz_serve_desk_is_interrupted(&b->ops->desk, &b->seat);
}

/* What keeps builds apart: the project that the command finds there. */
static const char *project_of(struct bz_arena *a, const struct bz_serve_request *r)
{
    const struct bz_locate_hints hints = {
        .cwd = r->project,
        .option = r->named,
        .variable = bz_xdg_getenv(r->env, BZ_STR("BITZEL_PROJECT")),
        .builddir = bz_xdg_getenv(r->env, BZ_STR("BUILDDIR")),
        .bbpath = bz_xdg_getenv(r->env, BZ_STR("BBPATH"))};
    struct bz_locate found;
    struct bz_path path;
    struct bz_err ignored;
    char real[PATH_MAX];

    if (bz_locate_find(a, &hints, &found, &ignored) < 0)
        return r->project;
    if (found.build_dir)
        return bz_arena_dup(a, bz_str_from(realpath(found.build_dir, real)
                                               ? real
                                               : found.build_dir))
            .p;
    if (bz_path_join(bz_str_from(r->project), bz_str_from(found.files), &path,
                     &ignored) < 0)
        return r->project;
    return bz_arena_dup(a, bz_path_str(&path)).p;
}

static int reply_build(struct building *b, int exit_code, const struct bz_buf *summary)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_str all = bz_str_trim(bz_buf_str(summary));

    tell_lost(b);
    bz_buf_addf(&text, "{\"exit_code\": %d, ", exit_code);
    if (b->lost > 0)
        bz_buf_addf(&text, "\"lost\": %lld, ", (long long)b->lost);
    bz_buf_add_str(&text, BZ_STR("\"summary\": "));
    bz_buf_add_str(&text, all.n > 0 ? all : BZ_STR("null"));
    bz_buf_add_char(&text, '}');
    return bz_call_reply(b->call, text.data, text.len);
}

static int run_build(struct building *b, const struct bz_serve_request *r)
{
    BZ_CLEANUP(bz_serve_child_release)
    struct bz_serve_child child = {.call = b->call,
                                   .wake = b->seat.wake,
                                   .line = take_build_line,
                                   .started = take_build_start,
                                   .ctx = b,
                                   .exit_code = INTERRUPTED};
    struct bz_err err;
    int status = wait_for_turn(b);
    int rc = 0;

    if (status == 0) {
        rc = bz_serve_child_run(&child, r, &err);
        status = bz_call_check(b->call);
    }
    if (status < 0)
        return status;
    if (rc < 0)
        return bz_call_fail_err(b->call, rc, &err);
    return reply_build(b, child.exit_code, &child.kept);
}

static int op_build(struct bz_call *call, void *ctx)
{
    static const char *const words[] = {"build", NULL};
    static const char *const fixed[] = {"--json", "--events=-",
                                        "--via=", "--console=plain", NULL};
    static const char *const refused[] = {"console", "events", "json", "via", NULL};
    static const struct bz_serve_form build_form = {.words = words,
                                                    .fixed = fixed,
                                                    .refused = refused,
                                                    .operands = "targets",
                                                    .several = true,
                                                    .needed = true};
    struct bz_serve_form form = build_form;
    struct building b = {.call = call, .ops = ctx};
    struct bz_serve_request r = {.project = ""};
    const struct bz_doc *args = NULL;
    struct bz_err err;
    int status = read_args(call, &args);

    form.own = bz_cmd_build.opts;
    if (status == 0)
        status = read_request(call, b.ops, &form, args, &r);
    if (status < 0)
        return status;
    b.seat.client = call->task->client;
    b.seat.id = call->task->id;
    b.seat.project = project_of(&call->arena, &r);
    b.seat.targets = r.operands;
    b.seat.ntargets = r.noperands;
    if (bz_serve_desk_enter(&b.ops->desk, &b.seat, &err) < 0)
        return bz_call_fail(call, BZ_TASK_FAILED, "%s", err.msg);
    status = run_build(&b, &r);
    bz_serve_desk_leave(&b.ops->desk, &b.seat);
    bz_serve_warm_keep(&b.ops->warm, &r);
    return status;
}

/* ---- questions ---- */

/* What went wrong, as its last line tells. */
static int fail_query(struct bz_call *call, const struct bz_serve_child *child)
{
    struct bz_str rest = bz_buf_str(&child->errors), line,
                  last = BZ_STR("it says nothing");

    while (rest.n > 0 && bz_str_next_part(&rest, '\n', &line))
        if (line.n > 0 && !bz_str_starts(line, BZ_STR("help: ")))
            last = line;
    (void)bz_str_cut_prefix(&last, BZ_STR("error: "));
    return bz_call_fail(call, BZ_TASK_FAILED, "exit status %d: %.*s", child->exit_code,
                        BZ_STR_ARG(last));
}

static int run_query(struct bz_call *call, const struct bz_serve_request *r)
{
    BZ_CLEANUP(bz_serve_child_release)
    struct bz_serve_child child = {.call = call, .wake = -1};
    struct bz_err err;
    int rc = bz_serve_child_run(&child, r, &err);
    int status = bz_call_check(call);

    if (status < 0)
        return status;
    if (rc < 0)
        return bz_call_fail_err(call, rc, &err);
    if (child.exit_code != 0)
        return fail_query(call, &child);
    return bz_call_reply(call, bz_buf_text(&child.kept), child.kept.len);
}

static int query(struct bz_call *call, void *ctx, const struct bz_serve_form *form,
                 const struct bz_doc *args)
{
    struct bz_serve_ops *ops = ctx;
    struct bz_serve_request r = {0};
    int status = read_request(call, ctx, form, args, &r);

    if (status == 0)
        status = run_query(call, &r);
    if (status == 0 && form->operands) /* it is about a project, which can be read */
        bz_serve_warm_keep(&ops->warm, &r);
    return status;
}

static int query_targets(struct bz_call *call, void *ctx, const struct bz_cmd *cmd,
                         const char *const *refused)
{
    const char *const words[] = {cmd->name, NULL};
    const struct bz_serve_form form = {.words = words,
                                       .fixed = json_only,
                                       .refused = refused,
                                       .own = cmd->opts,
                                       .operands = "targets",
                                       .several = true,
                                       .needed = true};
    const struct bz_doc *args = NULL;
    int status = read_args(call, &args);

    return status < 0 ? status : query(call, ctx, &form, args);
}

static int op_plan(struct bz_call *call, void *ctx)
{
    return query_targets(call, ctx, &bz_cmd_plan, no_json);
}

static int op_why(struct bz_call *call, void *ctx)
{
    return query_targets(call, ctx, &bz_cmd_why, no_json);
}

static int op_graph(struct bz_call *call, void *ctx)
{
    static const char *const pictures[] = {"json", "color", "dot", "svg", NULL};

    return query_targets(call, ctx, &bz_cmd_graph, pictures);
}

static int op_getvar(struct bz_call *call, void *ctx)
{
    static const char *const words[] = {"getvar", NULL};
    static const char *const refused[] = {"json", "color", "value", NULL};
    const struct bz_serve_form form = {.words = words,
                                       .fixed = json_only,
                                       .refused = refused,
                                       .own = bz_cmd_getvar.opts,
                                       .operands = "variable",
                                       .needed = true};
    const struct bz_doc *args = NULL;
    int status = read_args(call, &args);

    return status < 0 ? status : query(call, ctx, &form, args);
}

/* Its members without the one that names the command. */
static struct bz_doc without(struct bz_call *call, const struct bz_doc *args,
                             const struct bz_doc *which)
{
    struct bz_doc *items = BZ_ARENA_ARRAY(&call->arena, struct bz_doc, args->count);
    struct bz_doc out = *args;

    out.count = 0;
    for (size_t i = 0; i < args->count; i++)
        if (&args->items[i] != which)
            items[out.count++] = args->items[i];
    out.items = items;
    return out;
}

static int op_cache(struct bz_call *call, void *ctx)
{
    static const struct {
        const char *name;
        const struct bz_cmd *cmd;
    } commands[] = {
        {"info", &bz_cmd_cache   },
        {"du",   &bz_cmd_cache_du},
        {"ls",   &bz_cmd_cache_ls},
    };
    const char *words[] = {"cache", "info", NULL};
    struct bz_serve_form form = {.words = words,
                                 .fixed = json_only,
                                 .refused = no_json,
                                 .own = bz_cmd_cache.opts};
    const struct bz_doc *args, *which;
    struct bz_doc rest;
    bool known = false;
    int status = read_args(call, &args);

    if (status < 0)
        return status;
    which = bz_doc_find(args, "command");
    for (size_t i = 0; which && i < BZ_COUNTOF(commands); i++)
        if (which->type == BZ_DOC_STR &&
            bz_str_eq(which->text, bz_str_from(commands[i].name))) {
            words[1] = commands[i].name;
            form.own = commands[i].cmd->opts;
            known = true;
        }
    if (which && !known)
        return bz_call_fail(call, BZ_TASK_INVALID_JSON,
                            "command: it is none of info, du and ls");
    rest = without(call, args, which);
    return query(call, ctx, &form, &rest);
}

/* ---- about the service itself ---- */

static int op_cancel(struct bz_call *call, void *ctx)
{
    struct bz_serve_ops *ops = ctx;
    struct bz_client *client = call->task->client;
    const struct bz_doc *args;
    struct bz_err err;
    int64_t id = 0;
    bool found;
    int status = read_args(call, &args);

    if (status < 0)
        return status;
    if (bz_doc_get_int(args, "task_id", 1, INT64_MAX, &id, &err) < 0 || args->count > 1)
        return bz_call_fail(call, BZ_TASK_INVALID_JSON,
                            "it takes {\"task_id\": N} and nothing else");
    found = bz_serve_desk_interrupt(&ops->desk, client, (uint64_t)id) ||
            ((uint64_t)id != call->task->id && bz_client_cancel(client, (uint64_t)id));
    return found ? bz_call_reply(call, "{\"canceled\": true}", 18)
                 : bz_call_reply(call, "{\"canceled\": false}", 19);
}

static int op_status(struct bz_call *call, void *ctx)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_serve_ops *ops = ctx;
    struct bz_jsonw w = bz_jsonw_to(&text, 0);

    bz_jsonw_map(&w);
    bz_jsonw_cstr(bz_jsonw_key(&w, "bitzel"), BZ_VERSION);
    bz_jsonw_int(bz_jsonw_key(&w, "protocol"), BZ_SERVE_OPS_PROTOCOL);
    bz_jsonw_int(bz_jsonw_key(&w, "pid"), getpid());
    bz_jsonw_cstr(bz_jsonw_key(&w, "socket"), ops->socket);
    bz_jsonw_int(bz_jsonw_key(&w, "seconds"),
                 (bz_clock_now() - ops->began) / BZ_CLOCK_S);
    bz_serve_desk_write(&ops->desk, bz_jsonw_key(&w, "builds"));
    bz_jsonw_map_end(&w);
    return bz_call_reply(call, text.data, text.len);
}

/* The same as if somebody had sent the signal: there is one way to end. */
static int op_shutdown(struct bz_call *call, void *ctx)
{
    (void)ctx;
    if (kill(getpid(), SIGTERM) < 0)
        return bz_call_fail(call, BZ_TASK_FAILED, "it cannot be told to end");
    return bz_call_reply(call, "{\"stopping\": true}", 18);
}

int bz_serve_ops_offer(struct bz_serve_ops *ops, struct bz_dispatch *d,
                       struct bz_err *err)
{
    /* In the order of their numbers, from 1. */
    const struct bz_handler rows[BZ_SERVE_OPS_COUNT] = {
        {"build",    op_build,    ops, true,  false},
        {"plan",     op_plan,     ops, true,  false},
        {"why",      op_why,      ops, true,  false},
        {"getvar",   op_getvar,   ops, true,  false},
        {"graph",    op_graph,    ops, true,  false},
        {"cache",    op_cache,    ops, true,  false},
        {"cancel",   op_cancel,   ops, false, false},
        {"status",   op_status,   ops, false, false},
        {"shutdown", op_shutdown, ops, false, false},
    };
    int rc = 0;

    for (uint32_t i = 0; i < BZ_SERVE_OPS_COUNT && rc == 0; i++) {
        ops->rows[i] = rows[i];
        rc = bz_dispatch_offer(d, &ops->rows[i], err);
        if (rc == 0)
            rc = bz_dispatch_bind(d, i + 1, bz_str_from(rows[i].name), err);
    }
    return rc;
}
