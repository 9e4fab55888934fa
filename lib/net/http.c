#include "net/http.h"

#include <stdio.h>
#include <strings.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sync.h"
#include "net/flight.h"
#include "net/libcurl.h"

/* Bodies that are worth a large buffer when they come. What goes is copied in pieces
 * that stay in the CPU's cache: 64 KiB take half of the time that 256 KiB do. */
#define LARGE ((uint64_t)1 << 20)
#define LARGE_BUFFER 262144L
#define SMALL_BUFFER 16384L

enum state { FREE, WAITING, FLYING };

/* A place for one request at a time; its handle is kept for the next. */
struct slot {
    struct bz_flight f;
    CURL *easy;
    enum state state;
    bool login;               /* the handle has been told who we are */
    struct curl_slist *lines; /* of a request that has some of its own */
    char text[CURL_ERROR_SIZE];
};

/* What one call at a time drives: handles and their open connections. */
struct engine {
    struct engine *next; /* of the idle ones */
    CURLM *multi;
    struct slot *slots;
    unsigned nslots;
    unsigned *vacant; /* a stack of free slots */
    unsigned nvacant;
    unsigned flying, waiting;
};

struct bz_http {
    struct bz_http_opts opts; /* strings are ours */
    struct bz_libcurl curl;
    struct curl_slist *get_headers, *put_headers;
    atomic_uint flying; /* of all engines */
    struct bz_sync_mutex mu;
    struct engine *idle; /* mu */
};

/* Our own strings, by where they are. */
static void each_string(struct bz_http_opts *o, void (*fn)(const char **s))
{
    const char **all[] = {&o->auth.user,  &o->auth.password, &o->auth.bearer,
                          &o->auth.netrc, &o->auth.cert,     &o->auth.key,
                          &o->auth.ca,    &o->agent};

    for (size_t i = 0; i < BZ_COUNTOF(all); i++)
        fn(all[i]);
}

static void own_string(const char **s)
{
    *s = *s ? bz_mem_dup(*s, strlen(*s)) : NULL;
}

static void free_string(const char **s)
{
    bz_mem_freep(s);
}

static int readable(const char *path, const char *what, struct bz_err *err)
{
    if (!path || access(path, R_OK) == 0)
        return 0;
    bz_fail_sys(err, "%s %s", what, path);
    err->code = BZ_E_INVAL;
    return BZ_E_INVAL;
}

/* It becomes part of a header line, which it must not end. */
static int check_token(const char *s, struct bz_err *err)
{
    for (; s && *s; s++)
        if (*s <= ' ' || *s > '~')
            return bz_fail(err, BZ_E_INVAL,
                           "a blank or control character in the token");
    return 0;
}

static void add_header(const struct bz_http *http, struct curl_slist **list,
                       const char *line)
{
    *list = http->curl.slist_append(*list, line);
    BZ_ASSERT(*list); /* out of memory */
}

int bz_http_new(const struct bz_http_opts *opts, struct bz_http **out,
                struct bz_err *err)
{
    struct bz_http *http;
    int rc = readable(opts->auth.cert, "certificate", err);

    if (rc == 0)
        rc = readable(opts->auth.key, "key", err);
    if (rc == 0)
        rc = readable(opts->auth.ca, "authorities", err);
    if (rc == 0)
        rc = check_token(opts->auth.bearer, err);
    if (rc < 0)
        return rc;
    http = bz_mem_zalloc(sizeof(*http));
    rc = bz_libcurl_load(&http->curl, err);
    /* Counted and guarded by libcurl itself since 7.84. */
    if (rc == 0 && http->curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        rc = bz_fail(err, BZ_E_NOSUP, "libcurl does not start");
    if (rc < 0) {
        free(http);
        return rc;
    }
    http->opts = *opts;
    each_string(&http->opts, own_string);
    if (http->opts.concurrent == 0)
        http->opts.concurrent = BZ_HTTP_CONCURRENT;
    if (http->opts.retries == 0)
        http->opts.retries = BZ_HTTP_RETRIES;
    if (http->opts.connect <= 0)
        http->opts.connect = BZ_HTTP_CONNECT;
    if (http->opts.stall <= 0)
        http->opts.stall = BZ_HTTP_STALL;
    add_header(http, &http->get_headers, "Accept: */*");
    /* Without this, libcurl asks for leave before a large body and waits for it. */
    add_header(http, &http->put_headers, "Expect:");
    add_header(http, &http->put_headers, "Content-Type: application/octet-stream");
    *out = http;
    return 0;
}

static void engine_free(const struct bz_libcurl *curl, struct engine *e)
{
    for (unsigned i = 0; i < e->nslots; i++) {
        curl->easy_cleanup(e->slots[i].easy);
        curl->slist_free_all(e->slots[i].lines);
        bz_flight_release(&e->slots[i].f);
    }
    curl->multi_cleanup(e->multi);
    free(e->slots);
    free(e->vacant);
    free(e);
}

void bz_http_free(struct bz_http *http)
{
    struct engine *idle;

    if (!http)
        return;
    bz_sync_lock(&http->mu);
    idle = http->idle;
    bz_sync_unlock(&http->mu);
    for (struct engine *e = idle, *next; e; e = next) {
        next = e->next;
        engine_free(&http->curl, e);
    }
    http->curl.slist_free_all(http->get_headers);
    http->curl.slist_free_all(http->put_headers);
    each_string(&http->opts, free_string);
    http->curl.global_cleanup();
    free(http);
}

static size_t on_header(char *p, size_t size, size_t n, void *arg)
{
    struct slot *s = arg;

    return bz_flight_header(&s->f, bz_str_of(p, size * n)) ? size * n : 0;
}

static size_t on_body(char *p, size_t size, size_t n, void *arg)
{
    struct slot *s = arg;

    return bz_flight_take(&s->f, p, size * n) ? size * n : size * n + 1;
}

static size_t on_source(char *p, size_t size, size_t n, void *arg)
{
    struct slot *s = arg;
    ssize_t given = bz_flight_give(&s->f, p, size * n);

    return given < 0 ? CURL_READFUNC_ABORT : (size_t)given;
}

static int on_seek(void *arg, curl_off_t at, int origin)
{
    struct slot *s = arg;

    return at == 0 && origin == SEEK_SET && bz_flight_rewind(&s->f)
               ? CURL_SEEKFUNC_OK
               : CURL_SEEKFUNC_CANTSEEK;
}

/* What all requests have in common. Options of which this libcurl knows nothing are no
 * options we rely on, so what easy_setopt says is not looked at. */
static CURL *new_easy(const struct bz_http *http, struct slot *s)
{
    const struct bz_http_opts *o = &http->opts;
    const struct bz_libcurl *curl = &http->curl;
    CURL *c = curl->easy_init();

    BZ_ASSERT(c); /* out of memory */
    curl->easy_setopt(c, CURLOPT_PRIVATE, s);
    curl->easy_setopt(c, CURLOPT_ERRORBUFFER, s->text);
    curl->easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    /* A name that nobody answers for must not keep us: its thread is left behind. */
    curl->easy_setopt(c, CURLOPT_QUICK_EXIT, 1L);
    curl->easy_setopt(c, CURLOPT_NOPROGRESS, 1L);
    curl->easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
    curl->easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
    curl->easy_setopt(c, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl->easy_setopt(c, CURLOPT_HTTP09_ALLOWED, 0L);
    curl->easy_setopt(c, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl->easy_setopt(c, CURLOPT_TCP_KEEPALIVE, 1L);
    curl->easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, (long)(o->connect / BZ_CLOCK_MS));
    curl->easy_setopt(c, CURLOPT_USERAGENT, o->agent ? o->agent : "bitzel");
    curl->easy_setopt(c, CURLOPT_HEADERFUNCTION, on_header);
    curl->easy_setopt(c, CURLOPT_HEADERDATA, s);
    curl->easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body);
    curl->easy_setopt(c, CURLOPT_WRITEDATA, s);
    curl->easy_setopt(c, CURLOPT_READFUNCTION, on_source);
    curl->easy_setopt(c, CURLOPT_READDATA, s);
    curl->easy_setopt(c, CURLOPT_SEEKFUNCTION, on_seek);
    curl->easy_setopt(c, CURLOPT_SEEKDATA, s);
    curl->easy_setopt(c, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (o->auth.ca) {
        curl->easy_setopt(c, CURLOPT_CAINFO, o->auth.ca);
        curl->easy_setopt(c, CURLOPT_CAPATH, NULL);
    }
    return c;
}

/* Who we are, for our own server only. */
static void log_in(const struct bz_http *http, struct slot *s)
{
    const struct bz_http_auth *a = &http->opts.auth;
    const struct bz_libcurl *curl = &http->curl;
    const struct bz_flight *f = &s->f;
    CURL *c = s->easy;
    bool login = f->home;
    bool ours = login && f->has_login;
    const char *user = ours ? bz_buf_text(&f->user) : a->user;
    const char *password = ours ? bz_buf_text(&f->password) : a->password;
    bool bearer = a->bearer && !ours;

    if (!login && !s->login)
        return;
    s->login = login;
    curl->easy_setopt(c, CURLOPT_HTTPAUTH, bearer ? CURLAUTH_BEARER : CURLAUTH_BASIC);
    curl->easy_setopt(c, CURLOPT_XOAUTH2_BEARER, login && bearer ? a->bearer : NULL);
    curl->easy_setopt(c, CURLOPT_USERNAME, login && !bearer ? user : NULL);
    curl->easy_setopt(c, CURLOPT_PASSWORD, login && !bearer ? password : NULL);
    curl->easy_setopt(c, CURLOPT_SSLCERT, login ? a->cert : NULL);
    curl->easy_setopt(c, CURLOPT_SSLKEY, login ? a->key : NULL);
    curl->easy_setopt(c, CURLOPT_NETRC,
                      login && a->netrc ? (long)CURL_NETRC_OPTIONAL
                                        : (long)CURL_NETRC_IGNORED);
    curl->easy_setopt(c, CURLOPT_NETRC_FILE, login ? a->netrc : NULL);
}

static bool same_name(const char *a, const char *b)
{
    size_t n = strcspn(a, ":;");

    return n == strcspn(b, ":;") && strncasecmp(a, b, n) == 0;
}

/* The lines that a request is sent with: ours, but for those that it has itself. They
 * stay until the slot's next attempt. */
static struct curl_slist *lines_of(const struct bz_http *http, struct slot *s)
{
    const struct bz_http_request *r = s->f.r;
    bool gives = r->method == BZ_HTTP_PUT || r->method == BZ_HTTP_POST;
    struct curl_slist *ours = gives ? http->put_headers : http->get_headers;

    http->curl.slist_free_all(s->lines);
    s->lines = NULL;
    if (!r->lines || !s->f.home)
        return ours;
    for (; ours; ours = ours->next) {
        size_t i = 0;

        while (r->lines[i] && !same_name(r->lines[i], ours->data))
            i++;
        if (!r->lines[i])
            add_header(http, &s->lines, ours->data);
    }
    for (size_t i = 0; r->lines[i]; i++)
        add_header(http, &s->lines, r->lines[i]);
    return s->lines;
}

static void prepare(const struct bz_http *http, struct slot *s)
{
    const struct bz_http_request *r = s->f.r;
    const struct bz_libcurl *curl = &http->curl;
    CURL *c = s->easy;
    bool large = r->method == BZ_HTTP_GET && r->sink.limit > LARGE;
    char range[32];

    snprintf(range, sizeof(range), "%llu-", (unsigned long long)s->f.from);
    s->text[0] = '\0';
    curl->easy_setopt(c, CURLOPT_URL, bz_buf_text(&s->f.url));
    curl->easy_setopt(c, CURLOPT_HTTPGET, 1L); /* undoes the others */
    curl->easy_setopt(c, CURLOPT_HTTPHEADER, lines_of(http, s));
    curl->easy_setopt(c, CURLOPT_BUFFERSIZE, large ? LARGE_BUFFER : SMALL_BUFFER);
    if (r->method == BZ_HTTP_HEAD)
        curl->easy_setopt(c, CURLOPT_NOBODY, 1L);
    if (r->method == BZ_HTTP_PUT) {
        curl->easy_setopt(c, CURLOPT_UPLOAD, 1L);
        curl->easy_setopt(c, CURLOPT_INFILESIZE_LARGE, (curl_off_t)r->source.n);
    }
    if (r->method == BZ_HTTP_POST) {
        curl->easy_setopt(c, CURLOPT_POST, 1L);
        curl->easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->source.n);
    }
    curl->easy_setopt(c, CURLOPT_RANGE, s->f.from > 0 ? range : NULL);
    log_in(http, s);
}

static struct engine *engine_new(const struct bz_http *http)
{
    struct engine *e = bz_mem_zalloc(sizeof(*e));

    e->multi = http->curl.multi_init();
    BZ_ASSERT(e->multi); /* out of memory */
    e->nslots = http->opts.concurrent;
    e->slots = bz_mem_array(e->nslots, sizeof(*e->slots));
    e->vacant = bz_mem_array(e->nslots, sizeof(*e->vacant));
    for (unsigned i = 0; i < e->nslots; i++)
        e->vacant[e->nvacant++] = e->nslots - 1 - i;
    http->curl.multi_setopt(e->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_NOTHING);
    http->curl.multi_setopt(e->multi, CURLMOPT_MAXCONNECTS, (long)e->nslots);
    return e;
}

static struct engine *engine_take(struct bz_http *http)
{
    struct engine *e;

    bz_sync_lock(&http->mu);
    e = http->idle;
    if (e)
        http->idle = e->next;
    bz_sync_unlock(&http->mu);
    return e ? e : engine_new(http);
}

static void engine_give(struct bz_http *http, struct engine *e)
{
    bz_sync_lock(&http->mu);
    e->next = http->idle;
    http->idle = e;
    bz_sync_unlock(&http->mu);
}

/* One call. */
struct run {
    struct bz_http *http;
    const struct bz_http_feed *feed;
    struct engine *e;
    int64_t looked; /* when stalls were looked for */
    bool progress;  /* something began or ended in this turn */
};

static void finish(struct run *run, struct slot *s)
{
    s->state = FREE;
    run->e->vacant[run->e->nvacant++] = (unsigned)(s - run->e->slots);
    run->progress = true;
    run->feed->done(run->feed->arg, s->f.r);
}

static void launch(struct run *run, struct slot *s, int64_t now)
{
    struct bz_err err;
    CURLMcode code;
    int rc = bz_flight_ready(&s->f, now, &err);

    if (rc < 0) {
        bz_flight_fail_by(&s->f, &err);
        finish(run, s);
        return;
    }
    if (!s->easy)
        s->easy = new_easy(run->http, s);
    prepare(run->http, s);
    code = run->http->curl.multi_add_handle(run->e->multi, s->easy);
    BZ_ASSERT(code == CURLM_OK);
    s->state = FLYING;
    run->e->flying++;
    run->progress = true;
    /* relaxed: a hint for others how many there are */
    atomic_fetch_add_explicit(&run->http->flying, 1, memory_order_relaxed);
}

static void bring_down(struct run *run, struct slot *s)
{
    run->http->curl.multi_remove_handle(run->e->multi, s->easy);
    run->e->flying--;
    atomic_fetch_sub_explicit(&run->http->flying, 1, memory_order_relaxed);
}

/* What libcurl calls it, what we call it, and whether trying again may help. */
static struct bz_flight_end end_of(const struct bz_http *http, CURLcode code,
                                   const struct slot *s)
{
    static const struct {
        CURLcode code;
        int rc;
        bool transient;
    } known[] = {
        {CURLE_OK,                    0,            false},
        {CURLE_URL_MALFORMAT,         BZ_E_INVAL,   false},
        {CURLE_OPERATION_TIMEDOUT,    BZ_E_TIMEOUT, false},
        {CURLE_COULDNT_CONNECT,       BZ_E_IO,      true },
        {CURLE_COULDNT_RESOLVE_HOST,  BZ_E_IO,      true },
        {CURLE_COULDNT_RESOLVE_PROXY, BZ_E_IO,      true },
        {CURLE_GOT_NOTHING,           BZ_E_IO,      true },
        {CURLE_PARTIAL_FILE,          BZ_E_IO,      true },
        {CURLE_SEND_ERROR,            BZ_E_IO,      true },
        {CURLE_RECV_ERROR,            BZ_E_IO,      true },
        {CURLE_SEND_FAIL_REWIND,      BZ_E_IO,      true },
        {CURLE_WEIRD_SERVER_REPLY,    BZ_E_CORRUPT, false},
        {CURLE_UNSUPPORTED_PROTOCOL,  BZ_E_CORRUPT, false},
        {CURLE_BAD_CONTENT_ENCODING,  BZ_E_CORRUPT, false},
    };
    const char *why = s->text[0] ? s->text : http->curl.easy_strerror(code);

    for (size_t i = 0; i < BZ_COUNTOF(known); i++)
        if (known[i].code == code)
            return (struct bz_flight_end){
                known[i].rc,
                known[i].transient ||
                    (known[i].rc == BZ_E_TIMEOUT && http->opts.patient),
                why};
    return (struct bz_flight_end){BZ_E_IO, false, why};
}

/* An attempt is over; what comes next? */
static void land(struct run *run, struct slot *s, const struct bz_flight_end *end,
                 int64_t now)
{
    bring_down(run, s);
    if (!bz_flight_land(
            &s->f, end,
            (unsigned)(run->http->opts.retries > 0 ? run->http->opts.retries : 0),
            now)) {
        finish(run, s);
    } else if (s->f.due <= now) {
        launch(run, s, now);
    } else {
        s->state = WAITING;
        run->e->waiting++;
    }
}

static void collect(struct run *run, int64_t now)
{
    const struct bz_libcurl *curl = &run->http->curl;
    CURLMsg *m;
    int left;

    while ((m = curl->multi_info_read(run->e->multi, &left))) {
        struct bz_flight_end end;
        struct slot *s = NULL;

        if (m->msg != CURLMSG_DONE)
            continue;
        curl->easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&s);
        end = end_of(run->http, m->data.result, s);
        land(run, s, &end, now);
    }
}

/* How many others there are does not keep a call from having one itself. */
static bool may_start(const struct run *run)
{
    return run->e->nvacant > 0 &&
           (run->e->flying + run->e->waiting == 0 ||
            atomic_load_explicit(&run->http->flying, memory_order_relaxed) <
                run->http->opts.concurrent);
}

static void start_new(struct run *run, int64_t now)
{
    while (may_start(run)) {
        struct bz_http_request *r = run->feed->next(run->feed->arg);
        struct slot *s;

        if (!r)
            return;
        s = &run->e->slots[run->e->vacant[--run->e->nvacant]];
        r->rc = bz_flight_begin(&s->f, r, &r->err);
        if (r->rc < 0)
            finish(run, s);
        else
            launch(run, s, now);
    }
}

/* Once in a while: who is silent, whose wait is over. */
static void look_round(struct run *run, int64_t now)
{
    const struct bz_flight_end silent = {BZ_E_TIMEOUT, run->http->opts.patient,
                                         "too few bytes came or went for too long"};

    run->looked = now;
    for (unsigned i = 0; i < run->e->nslots; i++) {
        struct slot *s = &run->e->slots[i];

        if (s->state == WAITING && s->f.due <= now) {
            run->e->waiting--;
            launch(run, s, now);
        } else if (s->state == FLYING &&
                   bz_flight_stalled(&s->f, now, run->http->opts.stall)) {
            land(run, s, &silent, now);
        }
    }
}

static void stop_all(struct run *run, int rc)
{
    for (unsigned i = 0; i < run->e->nslots; i++) {
        struct slot *s = &run->e->slots[i];

        if (s->state == FREE)
            continue;
        if (s->state == FLYING)
            bring_down(run, s);
        else
            run->e->waiting--;
        bz_flight_fail(&s->f, rc, "stopped");
        finish(run, s);
    }
}

static int64_t tick_of(const struct run *run, int64_t now)
{
    int64_t tick = run->http->opts.stall / 4;
    int64_t deadline = bz_cancel_deadline(run->feed->cancel);

    if (tick > BZ_HTTP_TICK || run->e->waiting > 0)
        tick = run->e->waiting > 0 ? BZ_HTTP_TICK / 4 : BZ_HTTP_TICK;
    if (deadline != BZ_CLOCK_NEVER && deadline - now < tick)
        tick = deadline > now ? deadline - now : 0;
    return tick;
}

void bz_http_run(struct bz_http *http, const struct bz_http_feed *feed)
{
    struct run run = {.http = http, .feed = feed, .e = engine_take(http)};

    run.looked = bz_clock_now();
    for (;;) {
        int64_t now = bz_clock_now(), tick = tick_of(&run, now);
        int rc = bz_cancel_check(feed->cancel), running;

        run.progress = false;
        if (rc < 0) {
            stop_all(&run, rc);
            break;
        }
        start_new(&run, now);
        if (run.e->flying + run.e->waiting == 0 && !run.progress)
            break;
        http->curl.multi_perform(run.e->multi, &running);
        collect(&run, now);
        /* After what has come was taken: if it was us who slept, nobody was silent. */
        if (now - run.looked >= tick)
            look_round(&run, now);
        if (!run.progress)
            http->curl.multi_poll(run.e->multi, NULL, 0, (int)(tick / BZ_CLOCK_MS) + 1,
                                  NULL);
    }
    engine_give(http, run.e);
}

struct one {
    struct bz_http_request *r;
    bool begun;
};

static struct bz_http_request *next_one(void *arg)
{
    struct one *one = arg;

    if (one->begun)
        return NULL;
    one->begun = true;
    return one->r;
}

static void done_one(void *arg, struct bz_http_request *r)
{
    (void)arg;
    (void)r;
}

int bz_http_one(struct bz_http *http, struct bz_http_request *r,
                struct bz_cancel *cancel, struct bz_err *err)
{
    struct one one = {.r = r};
    struct bz_http_feed feed = {next_one, done_one, &one, cancel};

    bz_http_run(http, &feed);
    if (!one.begun)
        return bz_fail(err, bz_cancel_check(cancel), "stopped");
    if (r->rc < 0)
        *err = r->err;
    return r->rc;
}
