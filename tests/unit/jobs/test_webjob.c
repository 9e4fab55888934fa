#include "jobs/webjob.h"

#include "jobs/handlers.h"
#include "tests/unit/jobs/office.h"
#include "tests/unit/net/server.h"

#define CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"

static const struct server_page pages[] = {
    {"GET /ok ",
     "HTTP/1.1 200 OK\r\nX-Two: a\r\nContent-Length: 5\r\nx-two: b\r\n\r\nhello", SERVER_KEEPS, 0},
    {"GET /no ",                                       "HTTP/1.1 404 No\r\nContent-Length: 4\r\n\r\nnone", SERVER_KEEPS, 0},
    {"GET /bytes ",                                                   "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n\xff\xfe",
     SERVER_KEEPS, 0},
    {"GET /chunks ",CHUNKED "3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n", SERVER_KEEPS, 0},
    {"GET /begun ",                                                  CHUNKED "5\r\nbegun\r\n", SERVER_STALLS, 0},
    {"GET /cut ",                                       CHUNKED "3\r\nabc\r\n", SERVER_CLOSES, 0},
    {"GET /mute ",                                        "", SERVER_STALLS, 0},
    {"GET /large ",                                                   "HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n",
     SERVER_CLOSES, 0},
    {"GET /loop ",                                             "HTTP/1.1 302 F\r\nLocation: loop\r\nContent-Length: 0\r\n\r\n",
     SERVER_KEEPS, 0},
    {"GET /hop ",                                                  "HTTP/1.1 302 F\r\nLocation: ok\r\nContent-Length: 2\r\n\r\nno",
     SERVER_KEEPS, 0},
    {"GET /file ",
     "HTTP/1.1 302 F\r\nLocation: gopher://x/\r\nContent-Length: 0\r\n\r\n", SERVER_KEEPS, 0},
    {"POST /say ",                                      "HTTP/1.1 201 Made\r\nContent-Length: 4\r\n\r\nmade", SERVER_KEEPS,
     0},
    {0                                                  },
};

struct web {
    struct office *o;
    struct server server;
    struct bz_handlers handlers;
    char memory[8];
};

/* The server first: a child of a process with threads should not have to do much. */
static struct web *web_open(void **state)
{
    struct web *w = calloc(1, sizeof(*w));
    struct bz_err *err;

    w->server = server_start(pages);
    w->o = office_open(state);
    err = &w->o->err;
    assert_ok(bz_handlers_offer(&w->handlers, w->o->dispatch, err), err);
    assert_ok(
        bz_symbols_add(&w->o->symbols, "memory", w->memory, 7, BZ_SYMBOLS_WRITE, err),
        err);
    return w;
}

/* A transfer may go on for a moment after its task was answered. */
static void web_close(struct web *w)
{
    bz_client_free(w->o->client);
    w->o->client = NULL;
    bz_handlers_release(&w->handlers);
    server_stop(&w->server);
    free(w);
}

static uint64_t ask(struct web *w, const char *opcode, const char *path,
                    const char *more)
{
    char text[1000], url[256];

    snprintf(text, sizeof(text), "{\"opcode\":\"%s\",\"args\":{\"url\":\"%s\"%s}}",
             opcode, server_url(&w->server, path, url), more);
    return office_ask(w->o, text);
}

/* The next result, to be compared: with the data, or with a part of the error. */
static void expect(struct web *w, int status, bool final, const char *want)
{
    struct bz_result *r = office_next(w->o);

    assert_non_null(r);
    if (r->status != status)
        fail_msg("status %d: %s", (int)r->status, r->error);
    assert_int_equal(r->final, final);
    if (status == 0)
        assert_string_equal(r->data, want);
    else if (!strstr(r->error, want))
        fail_msg("'%s' is not about '%s'", r->error, want);
    free(r);
}

static void an_answer_has_status_headers_and_body(void **state)
{
    struct web *w = web_open(state);

    ask(w, "http_get", "/ok", "");
    expect(w, 0, true,
           "{\"status\":200,\"headers\":{\"content-length\":\"5\",\"x-two\":\"a, b\"},"
           "\"size\":5,\"body\":\"hello\"}");
    ask(w, "http_get", "/no", "");
    expect(w, 0, true,
           "{\"status\":404,\"headers\":{\"content-length\":\"4\"},"
           "\"size\":4,\"body\":\"none\"}");
    ask(w, "http_get", "/hop", "");
    expect(w, 0, true,
           "{\"status\":200,\"headers\":{\"content-length\":\"5\",\"x-two\":\"a, b\"},"
           "\"size\":5,\"body\":\"hello\"}");
    web_close(w);
}

static void a_process_of_its_own_waits_for_no_other_transfer(void **state)
{
    struct web *w = web_open(state);

    for (size_t i = 0; i < BZ_COUNTOF(w->handlers.rows); i++)
        w->handlers.rows[i].isolate = true;
    /* As another thread may have it, at any time. */
    bz_sync_lock(&w->handlers.web.mutex);
    ask(w, "http_get", "/no", "");
    expect(w, 0, true,
           "{\"status\":404,\"headers\":{\"content-length\":\"4\"},"
           "\"size\":4,\"body\":\"none\"}");
    bz_sync_unlock(&w->handlers.web.mutex);
    web_close(w);
}

static void a_post_sends_a_body_and_headers(void **state)
{
    struct web *w = web_open(state);

    ask(w, "http_post", "/say",
        ",\"body\":\"a \\\"b\\\"\",\"headers\":{\"X-Own\":\"1\"}");
    expect(w, 0, true,
           "{\"status\":201,\"headers\":{\"content-length\":\"4\"},"
           "\"size\":4,\"body\":\"made\"}");
    assert_string_equal(w->server.seen->body, "a \"b\"");
    assert_non_null(strstr(w->server.seen->head, "X-Own: 1\r\n"));
    assert_non_null(strstr(w->server.seen->head, "Content-Type: application/json\r\n"));
    ask(w, "http_post", "/say",
        ",\"headers\":{\"content-type\":\"text/x\",\"X\":\"\"}");
    expect(w, 0, true,
           "{\"status\":201,\"headers\":{\"content-length\":\"4\"},"
           "\"size\":4,\"body\":\"made\"}");
    assert_null(strstr(w->server.seen->head, "application/json"));
    assert_non_null(strstr(w->server.seen->head, "X:\r\n"));
    web_close(w);
}

static void chunks_are_parts_of_a_stream(void **state)
{
    struct web *w = web_open(state);

    ask(w, "http_get", "/chunks", ",\"stream\":true");
    expect(w, 0, false, "abc");
    expect(w, 0, false, "defg");
    expect(w, 0, true,
           "{\"status\":200,\"headers\":{\"transfer-encoding\":\"chunked\"},"
           "\"size\":7}");
    ask(w, "http_get", "/cut", ",\"stream\":true");
    expect(w, 0, false, "abc");
    expect(w, BZ_TASK_FAILED, true, "GET http://127.0.0.1");
    web_close(w);
}

static void a_body_goes_into_memory_within_its_bounds(void **state)
{
    struct web *w = web_open(state);

    ask(w, "http_get", "/chunks", ",\"write_to\":\"memory\"");
    expect(w, 0, true,
           "{\"status\":200,\"headers\":{\"transfer-encoding\":\"chunked\"},"
           "\"size\":7}");
    assert_memory_equal(w->memory, "abcdefg", 8);
    ask(w, "http_get", "/large", ",\"write_to\":\"none\"");
    expect(w, BZ_TASK_UNKNOWN_SYMBOL, true, "unknown symbol: none");
    assert_ok(bz_symbols_remove(&w->o->symbols, "memory", &w->o->err), &w->o->err);
    assert_ok(bz_symbols_add(&w->o->symbols, "memory", w->memory, 6, BZ_SYMBOLS_WRITE,
                             &w->o->err),
              &w->o->err);
    ask(w, "http_get", "/chunks", ",\"write_to\":\"memory\"");
    expect(w, BZ_TASK_FAILED, true, "symbol memory has 6 bytes");
    web_close(w);
}

static void a_part_is_there_before_the_end_and_canceling_ends_it(void **state)
{
    struct web *w = web_open(state);
    uint64_t id = ask(w, "http_get", "/begun", ",\"stream\":true");

    expect(w, 0, false, "begun"); /* of an answer that has no end */
    assert_true(bz_client_cancel(w->o->client, id));
    expect(w, BZ_TASK_CANCELED, true, "");
    web_close(w);
}

static void time_that_is_up_ends_a_transfer(void **state)
{
    struct web *w = web_open(state);
    char text[400], url[256];

    snprintf(text, sizeof(text),
             "{\"opcode\":\"http_get\",\"timeout_ms\":100,\"args\":{\"url\":\"%s\"}}",
             server_url(&w->server, "/mute", url));
    office_ask(w->o, text);
    expect(w, BZ_TASK_TIMEOUT, true, "");
    web_close(w);
}

static void what_cannot_be_asked_for_or_taken_is_told(void **state)
{
    static const struct {
        const char *path, *more;
        int status;
        const char *error;
    } rows[] = {
        {"/bytes", "",                                        BZ_TASK_FAILED,       "no UTF-8"            },
        {"/large", "",                                        BZ_TASK_FAILED,       "bytes were announced"},
        {"/loop",  "",                                        BZ_TASK_FAILED,       "redirected more than"},
        {"/file",  "",                                        BZ_TASK_FAILED,       "redirected to gopher"},
        {"/ok",    ",\"headers\":{\"A\":\"b\\r\\nC: d\"}",    BZ_TASK_INVALID_JSON,
         "headers: one has"                                                                               },
        {"/ok",    ",\"headers\":{\"A B\":\"c\"}",            BZ_TASK_INVALID_JSON,
         "headers: one has"                                                                               },
        {"/ok",    ",\"headers\":{\"Content-length\":\"1\"}", BZ_TASK_INVALID_JSON,
         "is not to be set"                                                                               },
        {"/ok",    ",\"headers\":{\"A\":1}",                  BZ_TASK_INVALID_JSON, "a value is a string" },
        {"/ok",    ",\"headers\":[]",                         BZ_TASK_INVALID_JSON, "headers: expected"   },
        {"/ok",    ",\"stream\":1",                           BZ_TASK_INVALID_JSON, "stream: "            },
    };
    struct web *w = web_open(state);

    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        ask(w, "http_get", rows[i].path, rows[i].more);
        expect(w, rows[i].status, true, rows[i].error);
    }
    office_ask(w->o, "{\"opcode\":\"http_get\",\"args\":{\"url\":\"ftp://x/\"}}");
    expect(w, BZ_TASK_FAILED, true, "neither http nor https");
    office_ask(w->o, "{\"opcode\":\"http_get\"}");
    expect(w, BZ_TASK_INVALID_JSON, true, "url: ");
    web_close(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, office_setup, office_teardown)
        TEST(an_answer_has_status_headers_and_body),
        TEST(a_process_of_its_own_waits_for_no_other_transfer),
        TEST(a_post_sends_a_body_and_headers),
        TEST(chunks_are_parts_of_a_stream),
        TEST(a_body_goes_into_memory_within_its_bounds),
        TEST(a_part_is_there_before_the_end_and_canceling_ends_it),
        TEST(time_that_is_up_ends_a_transfer),
        TEST(what_cannot_be_asked_for_or_taken_is_told),
    };

    unsetenv("http_proxy");
    unsetenv("all_proxy");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
