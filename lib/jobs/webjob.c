#include "jobs/webjob.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/vec.h"
#include "codec/jsonw.h"
#include "codec/utf8.h"
#include "jobs/callargs.h"
#include "net/http.h"

/* How long a server may be silent if the task has no time of its own. */
#define SILENCE (60 * BZ_CLOCK_S)

/* One request. */
struct ask {
    struct bz_call *call;
    struct bz_http_request r;
    bool stream;
    const struct bz_symbol *memory; /* or NULL */
    uint64_t n;                     /* bytes of the body so far */
    int status;                     /* why a part could not be emitted */
    struct bz_buf body, head;
    const char *lines[BZ_WEBJOB_LINES + 2];
};

void bz_webjob_release(struct bz_webjob *w)
{
    bz_http_free(w->http);
    w->http = NULL;
}

/* Connections are kept, one for each task that runs at the same time. What failed is
 * not tried again: whoever asked is told, and knows whether to. */
static int client_of(struct bz_webjob *w, struct bz_http **out, struct bz_err *err)
{
    int rc = 0;

    bz_sync_lock(&w->mutex);
    if (!w->http)
        rc = bz_http_new(
            &(struct bz_http_opts){.concurrent = 1, .stall = SILENCE, .retries = -1},
            &w->http, err);
    *out = w->http;
    bz_sync_unlock(&w->mutex);
    return rc;
}

/* ---- the request ---- */

static bool is_name(struct bz_str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] <= ' ' || s.p[i] > '~' || strchr("()<>@,;:\\\"/[]?={}", s.p[i]))
            return false;
    return s.n > 0;
}

static bool is_value(struct bz_str s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < ' ' && s.p[i] != '\t')
            return false;
    return true;
}

/* How the body goes is not the client's business. */
static bool is_ours(struct bz_str name)
{
    static const char *const ours[] = {"connection", "content-length",    "expect",
                                       "host",       "transfer-encoding", "upgrade"};

    for (size_t i = 0; i < BZ_COUNTOF(ours); i++)
        if (name.n == strlen(ours[i]) && strncasecmp(name.p, ours[i], name.n) == 0)
            return true;
    return false;
}

static int add_line(struct ask *a, size_t i, struct bz_str name, struct bz_str value)
{
    struct bz_buf line = {0};

    if (!is_name(name) || !is_value(value))
        return bz_call_fail(a->call, BZ_TASK_INVALID_JSON,
                            "headers: one has bytes that a header cannot have");
    if (is_ours(name))
        return bz_call_fail(a->call, BZ_TASK_INVALID_JSON,
                            "headers: %.*s is not to be set", BZ_STR_ARG(name));
    bz_buf_add_str(&line, name);
    /* As libcurl wants it; with a colon it would drop one without a value. */
    bz_buf_add_str(&line, value.n > 0 ? BZ_STR(": ") : BZ_STR(";"));
    bz_buf_add_str(&line, value);
    a->lines[i] = bz_arena_dup(&a->call->arena, bz_buf_str(&line)).p;
    bz_buf_release(&line);
    return 0;
}

static int read_headers(struct ask *a, const struct bz_doc *args)
{
    const struct bz_doc *headers = bz_doc_find(args, "headers");
    bool typed = a->r.method != BZ_HTTP_POST;
    size_t n = 0;
    int status = 0;

    if (headers && (headers->type != BZ_DOC_MAP || headers->count > BZ_WEBJOB_LINES))
        return bz_call_fail(a->call, BZ_TASK_INVALID_JSON,
                            "headers: expected a map of at most %d", BZ_WEBJOB_LINES);
    for (; headers && n < headers->count && status == 0; n++) {
        const struct bz_doc *h = &headers->items[n];

        typed |= h->key.n == 12 && strncasecmp(h->key.p, "content-type", 12) == 0;
        status = h->type == BZ_DOC_STR ? add_line(a, n, h->key, h->text)
                                       : bz_call_fail(a->call, BZ_TASK_INVALID_JSON,
                                                      "headers: a value is a string");
    }
    if (!typed && status == 0)
        status = add_line(a, n, BZ_STR("Content-Type"), BZ_STR("application/json"));
    a->r.lines = a->lines;
    return status;
}

static int read_sink(struct ask *a, const struct bz_doc *args)
{
    struct bz_str name = {0};
    int status = bz_callargs_flag(a->call, args, "stream", &a->stream);

    if (status < 0 || !bz_doc_find(args, "write_to"))
        return status;
    status = bz_callargs_text(a->call, args, "write_to", &name);
    return status < 0 ? status
                      : bz_call_symbol(a->call, name, BZ_SYMBOLS_WRITE, &a->memory);
}

static int read_request(struct ask *a)
{
    const struct bz_doc *args = NULL;
    struct bz_str url = {0}, body = {0};
    int status = bz_callargs_read(a->call, &args);

    if (status == 0)
        status = bz_callargs_text(a->call, args, "url", &url);
    if (status == 0 && a->r.method == BZ_HTTP_POST && bz_doc_find(args, "body"))
        status = bz_callargs_text(a->call, args, "body", &body);
    if (status == 0)
        status = read_headers(a, args);
    if (status == 0)
        status = read_sink(a, args);
    if (status < 0)
        return status;
    a->r.url = bz_arena_dup(&a->call->arena, url).p;
    a->r.source = (struct bz_http_source){.p = body.n > 0 ? body.p : "", .n = body.n};
    return 0;
}

/* ---- the answer ---- */

static int take(void *arg, const void *p, size_t n, struct bz_err *err)
{
    struct ask *a = arg;

    if (a->memory && n > a->memory->size - a->n)
        return bz_fail(err, BZ_E_LIMIT, "symbol %s has %zu bytes", a->memory->name,
                       a->memory->size);
    if (a->memory)
        memcpy((char *)a->memory->p + a->n, p, n);
    a->n += n;
    if (a->stream) {
        a->status = bz_call_emit(a->call, p, n);
        if (a->status < 0)
            return bz_fail(err, BZ_E_CANCELED, "%s", a->call->error);
    } else if (!a->memory && bz_buf_try_add(&a->body, p, n, err) < 0) {
        a->status = bz_call_fail(a->call, BZ_TASK_NO_MEMORY, "%s", err->msg);
        return err->code;
    }
    return 0;
}

struct field {
    struct bz_str name, value;
    size_t at; /* as they came */
};
struct fields BZ_VEC(struct field);

static int by_name(const void *x, const void *y)
{
    const struct field *a = x, *b = y;
    size_t n = a->name.n < b->name.n ? a->name.n : b->name.n;
    int order = strncasecmp(a->name.p, b->name.p, n);

    if (order == 0 && a->name.n != b->name.n)
        order = a->name.n < b->name.n ? -1 : 1;
    return order ? order : a->at < b->at ? -1 : 1;
}

static bool same(struct bz_str a, struct bz_str b)
{
    return a.n == b.n && strncasecmp(a.p, b.p, a.n) == 0;
}

/* Sorted, so that those of one name are together: how many there are, and what they
 * are called, is up to the server. */
static void write_headers(struct bz_jsonw *w, struct bz_str head)
{
    struct fields all = {0};
    struct bz_buf text = {0};
    struct bz_str line, name, value;

    while (bz_str_next_part(&head, '\n', &line))
        if (bz_str_cut(line, ':', &name, &value))
            BZ_VEC_PUSH(&all, (struct field){name, bz_str_trim(value), all.len});
    if (all.len > 0)
        qsort(all.at, all.len, sizeof(all.at[0]), by_name);
    bz_jsonw_map(w);
    for (size_t i = 0, next; i < all.len; i = next) {
        bz_buf_truncate(&text, 0);
        bz_buf_add_str(&text, all.at[i].name);
        for (size_t k = 0; k < text.len; k++)
            text.data[k] |= text.data[k] >= 'A' && text.data[k] <= 'Z' ? 0x20 : 0;
        bz_jsonw_key_str(w, bz_buf_str(&text));
        bz_buf_truncate(&text, 0);
        for (next = i; next < all.len && same(all.at[next].name, all.at[i].name);
             next++) {
            bz_buf_add_str(&text, next > i ? BZ_STR(", ") : BZ_STR(""));
            bz_buf_add_str(&text, all.at[next].value);
        }
        bz_jsonw_str(w, bz_buf_str(&text));
    }
    bz_jsonw_map_end(w);
    bz_buf_release(&text);
    bz_vec_release(&all);
}

static int reply(struct ask *a)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};
    struct bz_jsonw w = bz_jsonw_to(&out, 0);
    struct bz_str body = bz_buf_str(&a->body);

    if (bz_utf8_valid(body) != body.n)
        return bz_call_fail(a->call, BZ_TASK_FAILED,
                            "the body is no UTF-8: ask for it with \"stream\" or "
                            "\"write_to\"");
    bz_jsonw_map(&w);
    bz_jsonw_int(bz_jsonw_key(&w, "status"), a->r.status);
    write_headers(bz_jsonw_key(&w, "headers"), bz_buf_str(&a->head));
    bz_jsonw_int(bz_jsonw_key(&w, "size"), (int64_t)a->n);
    if (!a->stream && !a->memory)
        bz_jsonw_str(bz_jsonw_key(&w, "body"), body);
    bz_jsonw_map_end(&w);
    return bz_call_reply(a->call, out.data, out.len);
}

static int transfer(struct ask *a, struct bz_webjob *web)
{
    struct bz_cancel *cancel = &a->call->task->cancel;
    int64_t end = bz_cancel_deadline(cancel);
    struct bz_webjob own = {0};
    struct bz_http *http;
    struct bz_err err = {0};
    int rc;

    a->r.sink =
        (struct bz_http_sink){.take = take,
                              .arg = a,
                              .any = true,
                              .limit = a->stream ? BZ_WEBJOB_STREAM : BZ_WEBJOB_BODY};
    a->r.head = &a->head;
    a->r.slow = true;
    if (end != BZ_CLOCK_NEVER && end > bz_clock_now())
        a->r.patience = end - bz_clock_now();
    rc = client_of(bz_call_is_alone(a->call) ? &own : web, &http, &err);
    if (rc == 0)
        rc = bz_http_one(http, &a->r, cancel, &err);
    bz_webjob_release(&own);
    if (a->status < 0)
        return a->status; /* with its message */
    if (rc == BZ_E_TIMEOUT && bz_call_check(a->call) == 0)
        rc = BZ_E_IO; /* the server was silent: that is not the task's time */
    return rc < 0 ? bz_call_fail_err(a->call, rc, &err) : reply(a);
}

static int run(struct bz_call *c, struct bz_webjob *web, enum bz_http_method method)
{
    struct ask a = {.call = c, .r = {.method = method}};
    int status = read_request(&a);

    if (status == 0)
        status = transfer(&a, web);
    bz_buf_release(&a.body);
    bz_buf_release(&a.head);
    return status;
}

int bz_webjob_get(struct bz_call *c, void *web)
{
    return run(c, web, BZ_HTTP_GET);
}

int bz_webjob_post(struct bz_call *c, void *web)
{
    return run(c, web, BZ_HTTP_POST);
}
