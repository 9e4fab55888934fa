#include "tests/unit/fetch/fetching.h"
#include "tests/unit/net/server.h"

#define ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define OK(n) "HTTP/1.1 200 OK\r\nContent-Length: " #n "\r\n\r\n"

static const struct server_page pages[] = {
    {"GET /abc.txt ", OK(3) "abc", SERVER_KEEPS, 0},
    {"GET /dir/ ",   OK(3) "abc", SERVER_KEEPS, 0},
    {"GET /empty ",               OK(0), SERVER_KEEPS, 0},
    {"GET /rest ",  "HTTP/1.1 206 P\r\nContent-Length: 2\r\n\r\nbc", SERVER_KEEPS, 1},
    {"GET /rest ",              OK(3) "abc", SERVER_KEEPS, 0},
    {"GET /no ",   "HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n", SERVER_KEEPS, 0},
    {0  },
};

static int get(struct fetching *f, const struct server *s, const char *rest)
{
    char uri[400];

    snprintf(uri, sizeof(uri), "http://127.0.0.1:%u%s", s->port, rest);
    return fetching_get(f, uri, NULL);
}

static void a_file_is_downloaded_under_its_name(void **state)
{
    struct fetching *f = *state;
    struct server s = server_start(pages);

    assert_ok(get(f, &s, "/abc.txt;sha256sum=" ABC), &f->err);
    assert_file(f, "dl/abc.txt", "abc");
    assert_file(f, "dl/abc.txt.done", "");
    assert_int_equal(f->seen, 3);
    assert_non_null(strstr(f->got, "/abc.txt"));
    assert_non_null(strstr(f->got, " 3;"));
    assert_ok(get(f, &s, "/abc.txt;downloadfilename=other;sha256sum=" ABC), &f->err);
    assert_file(f, "dl/other", "abc");
    assert_int_equal(get(f, &s, "/abc.txt;downloadfilename=../up;sha256sum=" ABC),
                     BZ_E_INVAL);
    server_stop(&s);
}

static void a_login_in_parameters_is_sent_and_not_shown(void **state)
{
    struct fetching *f = *state;
    struct server s = server_start(pages);

    assert_ok(get(f, &s, "/abc.txt;user=me;pswd=secret;sha256sum=" ABC), &f->err);
    assert_non_null(strstr(s.seen->head, "Authorization: Basic bWU6c2VjcmV0"));
    assert_null(strstr(bz_fetch_shown(bz_fetch_source(f->fetch, 0)), "secret"));
    assert_true(f->got[0] != '\0');
    assert_null(strstr(f->got, "secret"));
    server_stop(&s);
}

static void a_transfer_that_broke_is_gone_on_with(void **state)
{
    struct fetching *f = *state;
    struct server s = server_start(pages);

    put(f->dir->fd, "dl/rest.bz-part", "a");
    assert_ok(get(f, &s, "/rest;sha256sum=" ABC), &f->err);
    assert_non_null(strstr(s.seen->head, "Range: bytes=1-"));
    assert_file(f, "dl/rest", "abc");
    assert_non_null(strstr(f->got, " 2;")); /* one was here */
    assert_false(bz_fs_exists(f->dir->fd, "dl/rest.bz-part"));
    server_stop(&s);
}

static void a_beginning_that_was_wrong_is_thrown_away(void **state)
{
    struct fetching *f = *state;
    struct server s = server_start(pages);

    put(f->dir->fd, "dl/rest.bz-part", "x");
    assert_ok(get(f, &s, "/rest;sha256sum=" ABC), &f->err);
    assert_file(f, "dl/rest", "abc");
    assert_non_null(strstr(f->got, " 3;"));
    assert_int_equal(atomic_load(&s.seen->requests), 2);
    server_stop(&s);
}

static void what_the_server_refuses_is_told(void **state)
{
    struct fetching *f = *state;
    struct server s = server_start(pages);

    assert_int_equal(get(f, &s, "/none;sha256sum=" ABC), BZ_E_NOENT);
    assert_non_null(strstr(f->err.msg, "/none: the server does not have it (404)"));
    assert_false(bz_fs_exists(f->dir->fd, "dl/none.bz-part"));
    assert_int_equal(get(f, &s, "/no;sha256sum=" ABC), BZ_E_IO);
    assert_non_null(strstr(f->err.msg, "answers 403"));
    assert_int_equal(get(f, &s, "/empty;sha256sum=" ABC), BZ_E_CORRUPT);
    assert_false(bz_fs_exists(f->dir->fd, "dl/empty"));
    assert_int_equal(fetching_get(f, "ftp://h/x;sha256sum=" ABC, NULL), BZ_E_NOSUP);
    server_stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        fetching_test(a_file_is_downloaded_under_its_name),
        fetching_test(a_login_in_parameters_is_sent_and_not_shown),
        fetching_test(a_transfer_that_broke_is_gone_on_with),
        fetching_test(a_beginning_that_was_wrong_is_thrown_away),
        fetching_test(what_the_server_refuses_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
