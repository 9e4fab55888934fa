#include "net/flight.h"

#include <errno.h>

#include "tests/unit/os/scratch.h"

struct plan {
    struct bz_flight f;
    struct bz_http_request r;
    struct bz_buf body;
    struct bz_err err;
};

static int setup(void **state)
{
    struct plan *p = calloc(1, sizeof(*p));

    p->r = (struct bz_http_request){
        .url = "https://me:pw@h/a", .sink = {.mem = &p->body, .limit = 10}
    };
    *state = p;
    return 0;
}

static int teardown(void **state)
{
    struct plan *p = *state;

    bz_flight_release(&p->f);
    bz_buf_release(&p->body);
    free(p);
    return 0;
}

static void begin(struct plan *p)
{
    assert_ok(bz_flight_begin(&p->f, &p->r, &p->err), &p->err);
    assert_ok(bz_flight_ready(&p->f, 1, &p->err), &p->err);
}

static bool hear(struct plan *p, const char *line)
{
    return bz_flight_header(&p->f, bz_str_from(line));
}

/* An attempt that gets this status, and a header line or two. */
static bool attempt(struct plan *p, const char *status, const char *line)
{
    static const struct bz_flight_end fine = {0};

    assert_ok(bz_flight_ready(&p->f, 1, &p->err), &p->err);
    assert_true(hear(p, status) && hear(p, line) && hear(p, "\r\n"));
    return bz_flight_land(&p->f, &fine, 2, 1);
}

static void a_login_leaves_the_address(void **state)
{
    struct plan *p = *state;

    begin(p);
    assert_string_equal(bz_buf_text(&p->f.url), "https://h/a");
    assert_string_equal(bz_buf_text(&p->f.user), "me");
    assert_string_equal(bz_buf_text(&p->f.password), "pw");
    assert_true(p->f.home);
}

static void another_attempt_begins_with_an_empty_sink(void **state)
{
    static const struct bz_flight_end cut = {BZ_E_IO, true, "cut"};
    struct plan *p = *state;

    bz_buf_add(&p->body, "old", 3);
    begin(p);
    assert_true(hear(p, "HTTP/1.1 200 OK\r\n") && hear(p, "\r\n"));
    assert_true(bz_flight_take(&p->f, "half", 4));
    assert_true(bz_flight_land(&p->f, &cut, 2, 1));
    assert_true(p->f.due > 1);
    assert_ok(bz_flight_ready(&p->f, 2, &p->err), &p->err);
    assert_string_equal(bz_buf_text(&p->body), "old");
    assert_int_equal(p->r.n, 0);
}

static void attempts_come_to_an_end_and_waits_grow(void **state)
{
    static const struct bz_flight_end cut = {BZ_E_IO, true, "cut"};
    struct plan *p = *state;
    int64_t first;

    begin(p);
    assert_true(bz_flight_land(&p->f, &cut, 2, 1000));
    first = p->f.due - 1000;
    assert_true(first >= 75 * BZ_CLOCK_MS && first <= 125 * BZ_CLOCK_MS);
    assert_true(bz_flight_land(&p->f, &cut, 2, 1000));
    assert_true(p->f.due - 1000 > first);
    assert_false(bz_flight_land(&p->f, &cut, 2, 1000));
    assert_int_equal(p->r.rc, BZ_E_IO);
    assert_string_equal(p->r.err.msg, "GET https://h/a: cut");
}

static void what_is_not_transient_is_final(void **state)
{
    static const struct bz_flight_end wrong = {BZ_E_IO, false, "bad certificate"};
    struct plan *p = *state;

    begin(p);
    assert_false(bz_flight_land(&p->f, &wrong, 2, 1));
    assert_int_equal(p->r.rc, BZ_E_IO);
}

static void from_https_one_does_not_fall_to_http(void **state)
{
    struct plan *p = *state;

    begin(p);
    assert_false(attempt(p, "HTTP/1.1 302 F\r\n", "Location: http://h/a\r\n"));
    assert_int_equal(p->r.rc, BZ_E_CORRUPT);
    assert_non_null(strstr(p->r.err.msg, "from https to http"));
}

static void who_was_sent_away_does_not_come_home(void **state)
{
    struct plan *p = *state;

    begin(p);
    assert_true(attempt(p, "HTTP/1.1 302 F\r\n", "Location: /b\r\n"));
    assert_true(p->f.home);
    assert_string_equal(bz_buf_text(&p->f.url), "https://h/b");
    assert_true(attempt(p, "HTTP/1.1 302 F\r\n", "Location: https://u:w@o/b\r\n"));
    assert_false(p->f.home);
    assert_string_equal(bz_buf_text(&p->f.url), "https://o/b");
    assert_true(attempt(p, "HTTP/1.1 302 F\r\n", "Location: https://h/b\r\n"));
    assert_false(p->f.home);
}

static void a_page_about_an_error_is_dropped_and_cut(void **state)
{
    static const char page[4096];
    static const struct bz_flight_end cut = {BZ_E_IO, false, "refused by us"};
    struct plan *p = *state;
    size_t n = 0;

    begin(p);
    assert_true(hear(p, "HTTP/1.1 404 N\r\n") && hear(p, "\r\n"));
    while (bz_flight_take(&p->f, page, sizeof(page)))
        n += sizeof(page);
    assert_int_equal(n, BZ_FLIGHT_DROPPED);
    assert_false(bz_flight_land(&p->f, &cut, 2, 1));
    assert_int_equal(p->r.rc, 0);
    assert_int_equal(p->r.status, 404);
    assert_int_equal(p->body.len, 0);
}

static void a_source_is_given_piece_by_piece_and_again(void **state)
{
    struct plan *p = *state;
    char out[4];

    p->r.method = BZ_HTTP_PUT;
    p->r.source = (struct bz_http_source){.p = "abcdef", .n = 6};
    begin(p);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(bz_flight_give(&p->f, out, 4), 4);
        assert_memory_equal(out, "abcd", 4);
        assert_int_equal(bz_flight_give(&p->f, out, 4), 2);
        assert_memory_equal(out, "ef", 2);
        assert_int_equal(bz_flight_give(&p->f, out, 4), 0);
        assert_true(bz_flight_rewind(&p->f));
    }
}

static void a_file_that_is_shorter_than_said_is_not_sent(void **state)
{
    struct plan *p = *state;
    FILE *f = tmpfile();
    char out[8];

    assert_int_equal(pwrite(fileno(f), "abc", 3, 0), 3);
    p->r.method = BZ_HTTP_PUT;
    p->r.source = (struct bz_http_source){.fd = fileno(f), .n = 6};
    begin(p);
    assert_int_equal(bz_flight_give(&p->f, out, 8), 3);
    assert_int_equal(bz_flight_give(&p->f, out, 8), -1);
    assert_int_equal(p->f.rc, BZ_E_CORRUPT);
    fclose(f);
}

static void a_stall_is_too_little_in_a_window(void **state)
{
    struct plan *p = *state;
    const int64_t s = BZ_CLOCK_S;

    begin(p);
    assert_false(bz_flight_stalled(&p->f, s / 2, s));
    p->f.moved = 10000;
    assert_false(bz_flight_stalled(&p->f, s + 1, s));
    assert_false(bz_flight_stalled(&p->f, s + s / 2, s));
    p->f.moved += BZ_HTTP_DRIP - 1;
    p->r.patience = 3 * s;
    assert_false(bz_flight_stalled(&p->f, 4 * s, s));
    p->r.patience = 0;
    assert_true(bz_flight_stalled(&p->f, 2 * s + 2, s));
}

static void who_expects_a_slow_answer_minds_silence_only(void **state)
{
    struct plan *p = *state;
    const int64_t s = BZ_CLOCK_S;

    begin(p);
    p->r.slow = true;
    p->f.moved = 1;
    assert_false(bz_flight_stalled(&p->f, s + 1, s));
    p->f.moved = 2;
    assert_false(bz_flight_stalled(&p->f, 2 * s + 2, s));
    assert_true(bz_flight_stalled(&p->f, 3 * s + 3, s));
}

static void zeros_become_holes(void **state)
{
    static const struct bz_flight_end fine = {0};
    static const char zeros[8192];
    struct plan *p = *state;
    FILE *f = tmpfile();
    struct stat st;
    char out[4] = "";

    p->r.sink = (struct bz_http_sink){.fd = fileno(f), .limit = 1 << 22};
    begin(p);
    assert_true(hear(p, "HTTP/1.1 200 OK\r\n") && hear(p, "\r\n"));
    assert_true(bz_flight_take(&p->f, "a", 1));
    for (int i = 0; i < 256; i++)
        assert_true(bz_flight_take(&p->f, zeros, sizeof(zeros)));
    assert_true(bz_flight_take(&p->f, "b", 1));
    assert_true(bz_flight_take(&p->f, zeros, sizeof(zeros)));
    assert_false(bz_flight_land(&p->f, &fine, 0, 1));
    assert_int_equal(fstat(fileno(f), &st), 0);
    assert_int_equal(st.st_size, 257 * sizeof(zeros) + 2);
    assert_true(st.st_blocks * 512 < 1 << 20);
    assert_int_equal(pread(fileno(f), out, 2, 256 * sizeof(zeros)), 2);
    assert_memory_equal(out, "\0b", 2);
    fclose(f);
}

struct tapped {
    unsigned begun;
    uint64_t n;
};

static void tap_begin(void *arg)
{
    struct tapped *t = arg;

    t->begun++;
    t->n = 0;
}

static void tap_grow(void *arg, uint64_t n)
{
    ((struct tapped *)arg)->n = n;
}

static void a_tap_hears_of_every_attempt_and_of_what_is_there(void **state)
{
    static const struct bz_flight_end cut = {BZ_E_IO, true, "cut"};
    struct plan *p = *state;
    struct tapped t = {0};
    const struct bz_http_tap tap = {tap_begin, tap_grow, &t};
    FILE *f = tmpfile();

    p->r.sink = (struct bz_http_sink){.fd = fileno(f), .tap = &tap, .limit = 10};
    begin(p);
    assert_int_equal(t.begun, 1);
    assert_true(hear(p, "HTTP/1.1 200 OK\r\n") && hear(p, "\r\n"));
    assert_true(bz_flight_take(&p->f, "half", 4));
    assert_true(bz_flight_take(&p->f, "\0\0", 2));
    assert_int_equal(t.n, 6);
    assert_false(bz_flight_take(&p->f, "much!", 5));
    assert_int_equal(t.n, 6); /* what is too much is not there */
    p->f.rc = 0;
    assert_true(bz_flight_land(&p->f, &cut, 2, 1));
    assert_ok(bz_flight_ready(&p->f, 2, &p->err), &p->err);
    assert_int_equal(t.begun, 2);
    assert_int_equal(t.n, 0);
    fclose(f);
}

static void a_disk_that_is_full_is_a_failure(void **state)
{
    struct plan *p = *state;
    static const struct bz_flight_end cut = {BZ_E_IO, true, "refused by us"};
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

    p->r.sink = (struct bz_http_sink){.fd = fd, .limit = 10};
    begin(p);
    assert_true(hear(p, "HTTP/1.1 200 OK\r\n") && hear(p, "\r\n"));
    assert_false(bz_flight_take(&p->f, "x", 1));
    assert_false(bz_flight_land(&p->f, &cut, 2, 1)); /* not worth another attempt */
    assert_int_equal(p->r.rc, BZ_E_IO);
    assert_int_equal(p->r.err.sys, ENOSPC); /* not the server's */
    close(fd);
}

#define plan_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        plan_test(a_login_leaves_the_address),
        plan_test(another_attempt_begins_with_an_empty_sink),
        plan_test(attempts_come_to_an_end_and_waits_grow),
        plan_test(what_is_not_transient_is_final),
        plan_test(from_https_one_does_not_fall_to_http),
        plan_test(who_was_sent_away_does_not_come_home),
        plan_test(a_page_about_an_error_is_dropped_and_cut),
        plan_test(a_source_is_given_piece_by_piece_and_again),
        plan_test(a_file_that_is_shorter_than_said_is_not_sent),
        plan_test(a_stall_is_too_little_in_a_window),
        plan_test(who_expects_a_slow_answer_minds_silence_only),
        plan_test(zeros_become_holes),
        plan_test(a_tap_hears_of_every_attempt_and_of_what_is_there),
        plan_test(a_disk_that_is_full_is_a_failure),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
