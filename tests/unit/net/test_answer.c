#include "net/answer.h"

#include <stdio.h>

#include "tests/unit/bz_test.h"

/* All lines of a text, to the first that fails. */
static int read_all(struct bz_answer *a, const char *text)
{
    struct bz_err err;
    int rc = 0;

    while (*text && rc == 0) {
        size_t n = strcspn(text, "\n") + 1;

        if (text[n - 1] == '\0')
            n--;
        rc = bz_answer_line(a, bz_str_of(text, n), &err);
        text += n;
    }
    return rc;
}

static void status_length_and_location_are_read(void **state)
{
    struct bz_answer a = {0};

    (void)state;
    assert_int_equal(read_all(&a, "HTTP/1.1 302 Found\r\ncontent-LENGTH:  42 \r\n"
                                  "Location: /there\r\nRetry-After: 7\r\n\r\n"),
                     0);
    assert_int_equal(a.status, 302);
    assert_true(a.has_length);
    assert_int_equal(a.length, 42);
    assert_int_equal(a.wait, 7);
    assert_true(bz_str_eq(bz_answer_location(&a), BZ_STR("/there")));
    assert_true(bz_answer_redirects(&a));
    assert_false(a.encoded);
}

static void a_status_line_starts_anew(void **state)
{
    struct bz_answer a = {0};

    (void)state;
    assert_int_equal(read_all(&a, "HTTP/1.1 100 Continue\r\nContent-Length: 1\r\n\r\n"
                                  "HTTP/1.1 200\r\nContent-Encoding: gzip\r\n\r\n"),
                     0);
    assert_int_equal(a.status, 200);
    assert_false(a.has_length);
    assert_true(a.encoded);
    assert_int_equal(a.lines, 6);
}

static void lines_that_cannot_be_meant_are_refused(void **state)
{
    static const char *const wrong[] = {
        "HTTP/1.1\r\n",
        "HTTP/1.1 20\r\n",
        "HTTP/1.1 2000 OK\r\n",
        "HTTP/1.1 099 OK\r\n",
        "HTTP/1.1 abc\r\n",
        "HTTP/1.1 200 OK\nContent-Length: -1\n",
        "HTTP/1.1 200 OK\nContent-Length: 1,1\n",
        "HTTP/1.1 200 OK\nContent-Length: 99999999999999999999\n",
        "HTTP/1.1 200 OK\nContent-Length: 1\nContent-Length: 2\n",
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(wrong); i++) {
        struct bz_answer a = {0};

        if (read_all(&a, wrong[i]) != BZ_E_CORRUPT)
            fail_msg("accepted: %s", wrong[i]);
    }
}

static void a_header_has_a_largest_size(void **state)
{
    static char line[BZ_ANSWER_BYTES + 1];
    struct bz_answer a = {0};
    struct bz_err err;
    int rc = 0;

    (void)state;
    memset(line, 'x', sizeof(line));
    assert_int_equal(bz_answer_line(&a, bz_str_of(line, sizeof(line)), &err),
                     BZ_E_LIMIT);
    a = (struct bz_answer){0};
    for (int i = 0; i < BZ_ANSWER_LINES; i++)
        assert_ok(bz_answer_line(&a, BZ_STR("A: b"), &err), &err);
    assert_int_equal(bz_answer_line(&a, BZ_STR("A: b"), &err), BZ_E_LIMIT);
    /* answers before the real one do not reset the count */
    a = (struct bz_answer){0};
    for (int i = 0; rc == 0 && i <= BZ_ANSWER_LINES; i++)
        rc = bz_answer_line(&a, BZ_STR("HTTP/1.1 100 Continue"), &err);
    assert_int_equal(rc, BZ_E_LIMIT);
}

static void a_location_has_a_longest_length(void **state)
{
    static char line[BZ_URL_MAX + 20] = "Location:";
    struct bz_answer a = {.status = 302};
    struct bz_err err;

    (void)state;
    memset(line + 9, 'x', sizeof(line) - 9);
    assert_ok(bz_answer_line(&a, bz_str_of(line, BZ_URL_MAX + 9), &err), &err);
    assert_int_equal(a.nlocation, BZ_URL_MAX);
    assert_int_equal(bz_answer_line(&a, bz_str_of(line, BZ_URL_MAX + 10), &err),
                     BZ_E_LIMIT);
}

static void what_is_worth_another_try_is_known(void **state)
{
    static const unsigned transient[] = {408, 429, 500, 502, 503, 504};
    static const unsigned final[] = {200, 204, 301, 400, 401, 403, 404, 405, 413, 507};

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(transient); i++)
        assert_true(bz_answer_transient(&(struct bz_answer){.status = transient[i]}));
    for (size_t i = 0; i < BZ_COUNTOF(final); i++)
        assert_false(bz_answer_transient(&(struct bz_answer){.status = final[i]}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_length_and_location_are_read),
        cmocka_unit_test(a_status_line_starts_anew),
        cmocka_unit_test(lines_that_cannot_be_meant_are_refused),
        cmocka_unit_test(a_header_has_a_largest_size),
        cmocka_unit_test(a_location_has_a_longest_length),
        cmocka_unit_test(what_is_worth_another_try_is_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
