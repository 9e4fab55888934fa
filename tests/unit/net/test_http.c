#include "net/http.h"

#include "tests/unit/net/server.h"
#include "tests/unit/os/scratch.h"

#define OK(n) "HTTP/1.1 200 OK\r\nContent-Length: " #n "\r\n\r\n"
#define CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
#define TEN "0123456789"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

static const struct server_page pages[] = {
    {"GET /ok ",                                             OK(5) "hello", SERVER_KEEPS, 0},
    {"HEAD /ok ",                                          OK(5), SERVER_KEEPS, 0},
    {"GET /empty ",                                                      OK(0), SERVER_KEEPS, 0},
    {"PUT /refused ",        "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", 0, 0},
    {"PUT /moved ",                                                     "HTTP/1.1 307 T\r\nLocation: /ok\r\nContent-Length: 0\r\n\r\n", 0,
     0},
    {"PUT ",                                          "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n", SERVER_KEEPS, 0},
    {"GET /short ",                                          OK(10) "hello", SERVER_CLOSES, 0},
    {"GET /unbounded ",                                                      "HTTP/1.1 200 OK\r\n\r\n" HUNDRED, SERVER_CLOSES, 0},
    {"GET /longer ",OK(5) "hello and more", SERVER_KEEPS, 0},
    {"GET /silent ",                                                     OK(10) "hello", SERVER_STALLS, 0},
    {"GET /sleepy ",                                          OK(10) "hello", SERVER_STALLS, 1},
    {"GET /sleepy ",                                                     OK(5) "awake", SERVER_KEEPS, 0},
    {"GET /mute ",                                                      "", SERVER_STALLS, 0},
    {"GET /drip ",OK(100) HUNDRED, SERVER_DRIPS, 0},
    {"GET /reset ",                                                     OK(10) "hello", SERVER_RESETS, 0},
    {"GET /shaky ",                                          "HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy", 0, 1},
    {"GET /shaky ",                                         OK(10) "hello", SERVER_CLOSES, 1},
    {"GET /shaky ",                                                      OK(6) "steady", SERVER_KEEPS, 0},
    {"GET /broken ","HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nno", 0, 0},
    {"GET /later ",
     "HTTP/1.1 503 No\r\nRetry-After: 3000\r\nContent-Length: 2\r\n\r\nno", 0, 0},
    {"GET /loop ",                                         "HTTP/1.1 302 F\r\nLocation: loop\r\nContent-Length: 0\r\n\r\n", 0,
     0},
    {"GET /hop ",                                          "HTTP/1.1 302 F\r\nLocation: ok\r\nContent-Length: 0\r\n\r\n", 0, 0},
    {"GET /file ",
     "HTTP/1.1 302 F\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n", 0,
     0},
    {"GET /gzip ",
     "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nno", 0, 0},
    {"GET /garbage ",                                                     "this is no HTTP\r\n\r\n", SERVER_CLOSES, 0},
    {"GET /twice ",
     "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", SERVER_CLOSES, 0},
    {"GET /rest ",                                         "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n01234", SERVER_CLOSES,
     1},
    {"GET /rest ",                                                      "HTTP/1.1 206 P\r\nContent-Length: 5\r\n\r\n56789", SERVER_KEEPS, 0},
    {"GET /gone ","HTTP/1.1 416 No\r\nContent-Length: 0\r\n\r\n", SERVER_KEEPS, 1},
    {"GET /gone ",                                                     OK(5) "fresh", SERVER_KEEPS, 0},
    {"GET /chunked ",                                           CHUNKED "3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n", SERVER_KEEPS, 0},
    {"GET /cut ",                                         CHUNKED "3\r\nabc\r\n", SERVER_CLOSES, 0},
    {"POST /moved ",                                                      "HTTP/1.1 302 F\r\nLocation: /ok\r\nContent-Length: 2\r\n\r\nno",
     0, 0},
    {"POST /busy ",                                                                              "HTTP/1.1 503 No\r\nContent-Length: 4\r\n\r\nbusy", 0, 0},
    {"POST ",
     "HTTP/1.1 100 Continue\r\nX: early\r\n\r\n"
     "HTTP/1.1 201 Made\r\nX-Made: it\r\nContent-Length: 4\r\n\r\nmade", SERVER_KEEPS, 0},
    {"GET http://far.invalid/x ",                                          OK(5) "proxy", SERVER_KEEPS, 0},
    {0                                        },
};

struct net {
    struct server server;
    struct bz_http *http;
    struct bz_buf body;
    struct bz_err err;
    char url[256];
};

static int setup(void **state)
{
    struct net *n = calloc(1, sizeof(*n));
    const struct bz_http_opts opts = {
        .auth = {.user = "me", .password = "pw"},
        .stall = 300 * BZ_CLOCK_MS,
        .retries = 2,
        .concurrent = 8,
    };

    n->server = server_start(pages);
    *state = n;
    return bz_http_new(&opts, &n->http, &n->err);
}

static int teardown(void **state)
{
    struct net *n = *state;

    bz_http_free(n->http);
    server_stop(&n->server);
    bz_buf_release(&n->body);
    free(n);
    return 0;
}

static struct bz_http_request get(struct net *n, const char *path)
{
    bz_buf_truncate(&n->body, 0);
    return (struct bz_http_request){
        .url = server_url(&n->server, path, n->url),
        .sink = {.mem = &n->body, .limit = 1000},
    };
}

static int fetch(struct net *n, const char *path, struct bz_http_request *r)
{
    *r = get(n, path);
    return bz_http_one(n->http, r, NULL, &n->err);
}

static void a_body_arrives_with_its_status(void **state)
{
    struct net *n = *state;
    struct bz_http_request r;

    assert_ok(fetch(n, "/ok", &r), &n->err);
    assert_int_equal(r.status, 200);
    assert_int_equal(r.n, 5);
    assert_string_equal(bz_buf_text(&n->body), "hello");
    assert_ok(fetch(n, "/empty", &r), &n->err);
    assert_int_equal(r.n, 0);
    assert_ok(fetch(n, "/none", &r), &n->err);
    assert_int_equal(r.status, 404);
    assert_int_equal(n->body.len, 0); /* the page about it is dropped */
    assert_ok(fetch(n, "/longer", &r), &n->err);
    assert_string_equal(bz_buf_text(&n->body), "hello");
}

static void a_head_has_no_body_but_a_length(void **state)
{
    struct net *n = *state;
    struct bz_http_request r = get(n, "/ok");

    r.method = BZ_HTTP_HEAD;
    assert_ok(bz_http_one(n->http, &r, NULL, &n->err), &n->err);
    assert_int_equal(r.status, 200);
    assert_true(r.has_length);
    assert_int_equal(r.length, 5);
    assert_int_equal(n->body.len, 0);
}

static void a_body_goes_into_a_file_and_is_hashed(void **state)
{
    struct net *n = *state;
    FILE *f = tmpfile();
    struct bz_http_request r = get(n, "/ok");
    struct bz_digest_hasher *h;
    struct bz_digest got, want;
    char text[8] = "";

    assert_ok(bz_digest_hasher_new(&h, &n->err), &n->err);
    r.sink = (struct bz_http_sink){.fd = fileno(f), .h = h, .limit = 5};
    assert_ok(bz_http_one(n->http, &r, NULL, &n->err), &n->err);
    bz_digest_end(h, &got);
    bz_digest_bytes(h, "hello", 5, &want);
    assert_true(bz_digest_eq(&got, &want));
    assert_int_equal(pread(fileno(f), text, 8, 0), 5);
    assert_string_equal(text, "hello");
    bz_digest_hasher_free(h);
    fclose(f);
}

static void count_bytes(void *arg, uint64_t n, uint64_t total)
{
    uint64_t *seen = arg;

    seen[0] = n;
    seen[1] = total;
}

static void a_file_goes_on_where_it_was_left(void **state)
{
    static const struct {
        const char *path, *have, *want, *range;
    } cases[] = {
        {"/rest", "",         "0123456789", "\r\nRange: bytes=5-\r\n"},
        {"/rest", "abcde",    "abcde56789", "\r\nRange: bytes=5-\r\n"},
        {"/ok",   "abcde",    "hello",      "\r\nRange: bytes=5-\r\n"}, /* gets all of it */
        {"/gone", "abcdefgh", "fresh",      NULL                     },
    };
    struct net *n = *state;

    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        FILE *f = tmpfile();
        struct bz_http_request r = get(n, cases[i].path);
        char text[16] = "";
        uint64_t seen[2];

        fputs(cases[i].have, f);
        fflush(f);
        r.progress = count_bytes;
        r.arg = seen;
        r.sink = (struct bz_http_sink){.fd = fileno(f),
                                       .limit = 100,
                                       .resume = true,
                                       .have = strlen(cases[i].have)};
        assert_ok(bz_http_one(n->http, &r, NULL, &n->err), &n->err);
        assert_true(r.status == 200 || r.status == 206);
        assert_int_equal(r.n, strlen(cases[i].want));
        assert_int_equal(pread(fileno(f), text, 15, 0), strlen(cases[i].want));
        assert_string_equal(text, cases[i].want);
        assert_int_equal(seen[0], r.n);
        assert_int_equal(seen[1], r.n);
        if (cases[i].range)
            assert_non_null(strstr(n->server.seen->head, cases[i].range));
        else
            assert_null(strstr(n->server.seen->head, "Range:"));
        fclose(f);
    }
}

static void a_put_has_a_length_and_does_not_wait(void **state)
{
    struct net *n = *state;
    struct bz_http_request r = get(n, "/new");

    r.method = BZ_HTTP_PUT;
    r.source = (struct bz_http_source){.p = "some bytes", .n = 10};
    assert_ok(bz_http_one(n->http, &r, NULL, &n->err), &n->err);
    assert_int_equal(r.status, 201);
    assert_int_equal(n->server.seen->nbody, 10);
    assert_string_equal(n->server.seen->body, "some bytes");
    assert_non_null(strstr(n->server.seen->head, "Content-Length: 10\r\n"));
    r.source = (struct bz_http_source){.p = "", .n = 0};
    assert_ok(bz_http_one(n->http, &r, NULL, &n->err), &n->err);
    assert_int_equal(r.status, 201);
    assert_non_null(strstr(n->server.seen->head, "Content-Length: 0\r\n"));
}

static void a_large_put_comes_from_a_file_in_one_piece(void **state)
{
    struct net *n = *state;
    FILE *f = tmpfile();
    struct bz_http_request r = get(n, "/new");
    struct bz_digest_hasher *h;
    struct bz_digest want;
    uint64_t size;

    assert_int_equal(ftruncate(fileno(f), 3 << 20), 0);
    assert_int_equal(pwrite(fileno(f), "begin", 5, 0), 5);
    assert_ok(bz_digest_hasher_new(&h, &n->err), &n->err);
    assert_ok(bz_digest_fd(h, fileno(f), &want, &size, &n->err), &n->err);
    r.method = BZ_HTTP_PUT;
    r.source =
        (struct bz_http_source){.fd = fileno(f), .n = 3 << 20, .h = h, .want = &want};
    assert_ok(bz_http_one(n->http, &r, NULL, &n->err), &n->err);
    assert_int_equal(r.status, 201);
    assert_int_equal(n->server.seen->nbody, 3 << 20);
    assert_string_equal(n->server.seen->body, "begin");
    assert_null(strstr(n->server.seen->head, "Expect"));
    assert_null(strstr(n->server.seen->head, "chunked"));

    /* Other bytes than they should be do not arrive. */
    want.b[0] ^= 1;
    n->server.seen->nbody = 0;
    assert_int_equal(bz_http_one(n->http, &r, NULL, &n->err), BZ_E_CORRUPT);
    assert_int_equal(n->server.seen->nbody, 0);
    bz_digest_hasher_free(h);
    fclose(f);
}

static void connections_are_used_again(void **state)
{
    struct net *n = *state;
    struct bz_http_request r;

    for (int i = 0; i < 10; i++)
        assert_ok(fetch(n, "/ok", &r), &n->err);
    assert_int_equal(n->server.seen->connections, 1);
    assert_int_equal(n->server.seen->requests, 10);
}

static void answers_that_are_wrong_are_failures(void **state)
{
    static const struct {
        const char *path;
        int rc;
    } cases[] = {
        {"/short",   BZ_E_IO     },
        {"/garbage", BZ_E_IO     },
        {"/gzip",    BZ_E_CORRUPT},
        {"/loop",    BZ_E_CORRUPT},
        {"/file",    BZ_E_CORRUPT},
        {"/reset",   BZ_E_IO     },
        {"/twice",   BZ_E_CORRUPT},
    };
    struct net *n = *state;
    struct bz_http_request r;

    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        int rc = fetch(n, cases[i].path, &r);

        if (rc != cases[i].rc && strcmp(cases[i].path, "/garbage") != 0)
            fail_msg("%s: %d %s", cases[i].path, rc, rc < 0 ? n->err.msg : "");
        assert_true(rc < 0);
        assert_non_null(strstr(n->err.msg, cases[i].path));
    }
}

static void a_body_has_a_largest_size(void **state)
{
    struct net *n = *state;
    struct bz_http_request r = get(n, "/ok");

    r.sink.limit = 4;
    assert_int_equal(bz_http_one(n->http, &r, NULL, &n->err), BZ_E_LIMIT);
    assert_int_equal(n->body.len, 0);
    r = get(n, "/unbounded");
    r.sink.limit = 99;
    assert_int_equal(bz_http_one(n->http, &r, NULL, &n->err), BZ_E_LIMIT);
    r.sink.limit = 100;
    bz_buf_truncate(&n->body, 0);
    assert_ok(bz_http_one(n->http, &r, NULL, &n->err), &n->err);
    assert_int_equal(n->body.len, 100);
}

static void what_is_transient_is_tried_again(void **state)
{
    struct net *n = *state;
    struct bz_http_request r;

    assert_ok(fetch(n, "/shaky", &r), &n->err);
    assert_int_equal(r.status, 200);
    assert_string_equal(bz_buf_text(&n->body), "steady");
    assert_int_equal(n->server.seen->requests, 3);
    assert_ok(fetch(n, "/broken", &r), &n->err);
    assert_int_equal(r.status, 500);
    assert_int_equal(n->server.seen->requests, 6);
    assert_ok(fetch(n, "/none", &r), &n->err); /* 404 is an answer */
    assert_int_equal(n->server.seen->requests, 7);
    assert_ok(fetch(n, "/later", &r), &n->err); /* that long nobody waits */
    assert_int_equal(n->server.seen->requests, 8);
}

static void silence_and_drips_end_in_time(void **state)
{
    static const char *const paths[] = {"/silent", "/mute", "/drip"};
    struct net *n = *state;
    const struct bz_http_opts opts = {.stall = 150 * BZ_CLOCK_MS};
    struct bz_http *http;

    assert_ok(bz_http_new(&opts, &http, &n->err), &n->err);
    for (size_t i = 0; i < BZ_COUNTOF(paths); i++) {
        struct bz_http_request r = get(n, paths[i]);
        int64_t begin = bz_clock_now();

        assert_int_equal(bz_http_one(http, &r, NULL, &n->err), BZ_E_TIMEOUT);
        assert_true(bz_clock_now() - begin < 3 * BZ_CLOCK_S);
    }
    bz_http_free(http);
}

static void who_is_patient_asks_again_after_silence(void **state)
{
    struct net *n = *state;
    const struct bz_http_opts opts = {.stall = 150 * BZ_CLOCK_MS, .patient = true};
    struct bz_http_request r = get(n, "/sleepy");
    struct bz_http *http;

    assert_ok(bz_http_new(&opts, &http, &n->err), &n->err);
    assert_ok(bz_http_one(http, &r, NULL, &n->err), &n->err);
    assert_string_equal(bz_buf_text(&n->body), "awake");
    bz_http_free(http);
}

static void a_token_stops_a_request(void **state)
{
    struct net *n = *state;
    const struct bz_http_opts opts = {.stall = 60 * BZ_CLOCK_S};
    struct bz_http_request r = get(n, "/silent");
    int64_t begin = bz_clock_now();
    struct bz_cancel c;
    struct bz_http *http;

    assert_ok(bz_http_new(&opts, &http, &n->err), &n->err);
    bz_cancel_init(&c, NULL, bz_clock_in(100 * BZ_CLOCK_MS));
    assert_int_equal(bz_http_one(http, &r, &c, &n->err), BZ_E_TIMEOUT);
    assert_true(bz_clock_now() - begin < 3 * BZ_CLOCK_S);
    bz_cancel_init(&c, NULL, BZ_CLOCK_NEVER);
    bz_cancel_now(&c);
    assert_int_equal(bz_http_one(http, &r, &c, &n->err), BZ_E_CANCELED);
    bz_http_free(http);
}

static void who_we_are_is_told_to_our_own_server_only(void **state)
{
    static const char basic[] = "Authorization: Basic bWU6cHc=\r\n"; /* me:pw */
    struct net *n = *state;
    char there[512], url[256];
    struct server_page to_there[] = {
        {"GET /away ", there, 0, 0},
        {0          }
    };
    struct server other;
    struct bz_http_request r;

    assert_ok(fetch(n, "/hop", &r), &n->err);
    assert_non_null(strstr(n->server.seen->head, basic));
    snprintf(there, sizeof(there),
             "HTTP/1.1 302 F\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n",
             server_url(&n->server, "/ok", url));
    other = server_start(to_there);
    r = get(n, "/");
    r.url = server_url(&other, "/away", url);
    assert_ok(bz_http_one(n->http, &r, NULL, &n->err), &n->err);
    assert_string_equal(bz_buf_text(&n->body), "hello");
    assert_non_null(strstr(other.seen->head, basic));
    assert_null(strstr(n->server.seen->head, "Authorization"));
    server_stop(&other);
}

static void a_login_in_the_address_goes_first_and_is_not_shown(void **state)
{
    struct net *n = *state;
    struct bz_http_request r = get(n, "/");

    snprintf(n->url, sizeof(n->url), "http://a%%40b:hidden@127.0.0.1:%u/ok",
             n->server.port);
    assert_ok(bz_http_one(n->http, &r, NULL, &n->err), &n->err);
    assert_non_null(strstr(n->server.seen->head, "Basic YUBiOmhpZGRlbg==\r\n"));
    snprintf(n->url, sizeof(n->url), "http://me:hidden@127.0.0.1:%u/short",
             n->server.port);
    assert_int_equal(bz_http_one(n->http, &r, NULL, &n->err), BZ_E_IO);
    assert_null(strstr(n->err.msg, "hidden"));
    snprintf(n->url, sizeof(n->url), "http://me:hidden@127.0.0.1:x/short");
    assert_int_equal(bz_http_one(n->http, &r, NULL, &n->err), BZ_E_INVAL);
    assert_null(strstr(n->err.msg, "hidden"));
}

static void a_token_is_sent_as_bearer(void **state)
{
    struct net *n = *state;
    const struct bz_http_opts opts = {.auth = {.bearer = "t0ken"}};
    struct bz_http_request r = get(n, "/ok");
    struct bz_http *http;

    assert_ok(bz_http_new(&opts, &http, &n->err), &n->err);
    assert_ok(bz_http_one(http, &r, NULL, &n->err), &n->err);
    assert_non_null(strstr(n->server.seen->head, "Authorization: Bearer t0ken\r\n"));
    bz_http_free(http);
}

static void a_token_that_would_end_its_line_is_refused(void **state)
{
    static const char *const wrong[] = {"a\r\nHost: b", "a b", "a\n", "\x80"};
    struct net *n = *state;
    struct bz_http *http;

    for (size_t i = 0; i < BZ_COUNTOF(wrong); i++) {
        const struct bz_http_opts opts = {.auth = {.bearer = wrong[i]}};

        assert_int_equal(bz_http_new(&opts, &http, &n->err), BZ_E_INVAL);
    }
}

static void a_netrc_file_is_read(void **state)
{
    struct net *n = *state;
    char path[] = "/tmp/bz-test-netrc-XXXXXX";
    const struct bz_http_opts opts = {.auth = {.netrc = path}};
    struct bz_http_request r = get(n, "/ok");
    struct bz_http *http;
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    dprintf(fd, "machine 127.0.0.1 login me password pw\n");
    close(fd);
    assert_ok(bz_http_new(&opts, &http, &n->err), &n->err);
    assert_ok(bz_http_one(http, &r, NULL, &n->err), &n->err);
    assert_non_null(strstr(n->server.seen->head, "Basic bWU6cHc=\r\n"));
    bz_http_free(http);
    unlink(path);
}

static void the_environments_proxy_is_used(void **state)
{
    struct net *n = *state;
    struct bz_http_request r = get(n, "");

    setenv("http_proxy", n->url, 1);
    setenv("no_proxy", "127.0.0.1", 1);
    r.url = "http://far.invalid/x";
    assert_ok(bz_http_one(n->http, &r, NULL, &n->err), &n->err);
    assert_string_equal(bz_buf_text(&n->body), "proxy");
    unsetenv("http_proxy");
    unsetenv("no_proxy");
}

static void a_put_is_not_redirected(void **state)
{
    struct net *n = *state;
    struct bz_http_request r = get(n, "/moved");

    r.method = BZ_HTTP_PUT;
    r.source = (struct bz_http_source){.p = "x", .n = 1};
    assert_ok(bz_http_one(n->http, &r, NULL, &n->err), &n->err);
    assert_int_equal(r.status, 307);
    assert_int_equal(n->server.seen->requests, 1);
}

static void a_post_has_a_body_lines_of_its_own_and_an_answer(void **state)
{
    static const char *const lines[] = {"content-type: text/x", "X-Own: 1", NULL};
    struct net *n = *state;
    struct bz_buf head = {0};
    struct bz_http_request r = get(n, "/post");

    r.method = BZ_HTTP_POST;
    r.source = (struct bz_http_source){.p = "question", .n = 8};
    r.lines = lines;
    r.head = &head;
    assert_ok(bz_http_one(n->http, &r, NULL, &n->err), &n->err);
    assert_int_equal(r.status, 201);
    assert_string_equal(bz_buf_text(&n->body), "made");
    assert_string_equal(n->server.seen->body, "question");
    assert_non_null(strstr(n->server.seen->head, "content-type: text/x\r\n"));
    assert_non_null(strstr(n->server.seen->head, "X-Own: 1\r\n"));
    assert_null(strstr(n->server.seen->head, "octet-stream"));
    assert_non_null(strstr(bz_buf_text(&head), "X-Made: it\r\n"));
    assert_null(strstr(bz_buf_text(&head), "early"));
    bz_buf_release(&head);
    /* The same handle, for something else: nothing of that is left. */
    assert_ok(fetch(n, "/ok", &r), &n->err);
    assert_string_equal(bz_buf_text(&n->body), "hello");
    assert_null(strstr(n->server.seen->head, "X-Own"));
}

static void a_post_is_made_once_and_not_redirected(void **state)
{
    struct net *n = *state;
    struct bz_http_request r = get(n, "/moved");

    r.method = BZ_HTTP_POST;
    r.source = (struct bz_http_source){.p = "x", .n = 1};
    r.sink.any = true;
    assert_ok(bz_http_one(n->http, &r, NULL, &n->err), &n->err);
    assert_int_equal(r.status, 302);
    assert_string_equal(bz_buf_text(&n->body), "no");
    r = get(n, "/busy");
    r.method = BZ_HTTP_POST;
    r.source = (struct bz_http_source){.p = "x", .n = 1};
    assert_ok(bz_http_one(n->http, &r, NULL, &n->err), &n->err);
    assert_int_equal(r.status, 503);
    assert_int_equal(n->body.len, 0); /* of which nothing was wanted */
    assert_int_equal(n->server.seen->requests, 2);
}

struct pieces {
    unsigned n;
    char text[100];
    int rc; /* to say after the first */
};

static int take_piece(void *arg, const void *p, size_t n, struct bz_err *err)
{
    struct pieces *all = arg;

    strncat(all->text, p, n);
    all->n++;
    return all->rc < 0 ? bz_fail(err, all->rc, "enough") : 0;
}

static void a_body_is_taken_in_pieces(void **state)
{
    struct net *n = *state;
    struct pieces all = {0};
    struct bz_http_request r = get(n, "/chunked");

    r.sink = (struct bz_http_sink){.take = take_piece, .arg = &all, .limit = 100};
    assert_ok(bz_http_one(n->http, &r, NULL, &n->err), &n->err);
    assert_string_equal(all.text, "abcdefg");
    assert_true(all.n >= 2);
    assert_int_equal(r.n, 7);
    all = (struct pieces){.rc = BZ_E_CANCELED};
    assert_int_equal(bz_http_one(n->http, &r, NULL, &n->err), BZ_E_CANCELED);
    assert_non_null(strstr(n->err.msg, "enough"));
    assert_int_equal(all.n, 1);
    r.sink.limit = 6;
    all = (struct pieces){0};
    assert_int_equal(bz_http_one(n->http, &r, NULL, &n->err), BZ_E_LIMIT);
}

static void what_somebody_has_a_piece_of_is_not_asked_for_again(void **state)
{
    struct net *n = *state;
    struct pieces all = {0};
    struct bz_http_request r = get(n, "/cut");

    r.sink = (struct bz_http_sink){.take = take_piece, .arg = &all, .limit = 100};
    assert_int_equal(bz_http_one(n->http, &r, NULL, &n->err), BZ_E_IO);
    assert_string_equal(all.text, "abc");
    assert_int_equal(n->server.seen->requests, 1);
}

static void a_server_that_is_not_there_is_a_failure(void **state)
{
    struct net *n = *state;
    struct bz_http_request r = get(n, "/");

    r.url = "http://127.0.0.1:1/x";
    assert_int_equal(bz_http_one(n->http, &r, NULL, &n->err), BZ_E_IO);
    r.url = "ftp://127.0.0.1/x";
    assert_int_equal(bz_http_one(n->http, &r, NULL, &n->err), BZ_E_INVAL);
}

static void a_certificate_that_cannot_be_read_is_the_users_mistake(void **state)
{
    const struct bz_http_opts opts = {.auth = {.cert = "/nonexistent/cert.pem"}};
    struct net *n = *state;
    struct bz_http *http;

    assert_int_equal(bz_http_new(&opts, &http, &n->err), BZ_E_INVAL);
    assert_non_null(strstr(n->err.msg, "/nonexistent/cert.pem"));
}

#define MANY 500

struct many {
    struct bz_http_request r[MANY];
    struct bz_buf body[MANY];
    size_t next, done, flying, most;
};

static struct bz_http_request *next_of_many(void *arg)
{
    struct many *m = arg;

    if (m->next == MANY)
        return NULL;
    if (++m->flying > m->most)
        m->most = m->flying;
    return &m->r[m->next++];
}

static void one_of_many_is_done(void *arg, struct bz_http_request *r)
{
    struct many *m = arg;

    (void)r;
    m->flying--;
    m->done++;
}

static void many_are_in_flight_on_few_connections(void **state)
{
    struct net *n = *state;
    struct many *m = calloc(1, sizeof(*m));
    const struct bz_http_feed feed = {next_of_many, one_of_many_is_done, m, NULL};

    for (size_t i = 0; i < MANY; i++)
        m->r[i] = (struct bz_http_request){
            .url = server_url(&n->server, "/ok", n->url),
            .sink = {.mem = &m->body[i], .limit = 5},
        };
    bz_http_run(n->http, &feed);
    assert_int_equal(m->done, MANY);
    assert_int_equal(m->most, 8);
    assert_true(n->server.seen->connections <= 8);
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(m->r[i].status, 200);
        assert_string_equal(bz_buf_text(&m->body[i]), "hello");
        bz_buf_release(&m->body[i]);
    }
    free(m);
}

#define net_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        net_test(a_body_arrives_with_its_status),
        net_test(a_head_has_no_body_but_a_length),
        net_test(a_body_goes_into_a_file_and_is_hashed),
        net_test(a_file_goes_on_where_it_was_left),
        net_test(a_put_has_a_length_and_does_not_wait),
        net_test(a_large_put_comes_from_a_file_in_one_piece),
        net_test(connections_are_used_again),
        net_test(answers_that_are_wrong_are_failures),
        net_test(a_body_has_a_largest_size),
        net_test(what_is_transient_is_tried_again),
        net_test(silence_and_drips_end_in_time),
        net_test(who_is_patient_asks_again_after_silence),
        net_test(a_token_stops_a_request),
        net_test(who_we_are_is_told_to_our_own_server_only),
        net_test(a_login_in_the_address_goes_first_and_is_not_shown),
        net_test(a_token_is_sent_as_bearer),
        net_test(a_token_that_would_end_its_line_is_refused),
        net_test(a_netrc_file_is_read),
        net_test(the_environments_proxy_is_used),
        net_test(a_put_is_not_redirected),
        net_test(a_post_has_a_body_lines_of_its_own_and_an_answer),
        net_test(a_post_is_made_once_and_not_redirected),
        net_test(a_body_is_taken_in_pieces),
        net_test(what_somebody_has_a_piece_of_is_not_asked_for_again),
        net_test(a_server_that_is_not_there_is_a_failure),
        net_test(a_certificate_that_cannot_be_read_is_the_users_mistake),
        net_test(many_are_in_flight_on_few_connections),
    };

    unsetenv("http_proxy");
    unsetenv("https_proxy");
    unsetenv("all_proxy");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
