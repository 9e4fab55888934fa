#include "tests/unit/fetch/fetching.h"
#include "tests/unit/net/server.h"

#define ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define OK(n) "HTTP/1.1 200 OK\r\nContent-Length: " #n "\r\n\r\n"

static const struct server_page pages[] = {
    {"GET /abc ",   OK(3) "abc", SERVER_KEEPS, 0},
    {"GET /bad/abc ", OK(3) "bad", SERVER_KEEPS, 0},
    {0            },
};

static struct server serve(struct fetching *f, char uri[400], const char *rest)
{
    struct server s = server_start(pages);

    (void)f;
    snprintf(uri, 400, "http://127.0.0.1:%u%s", s.port, rest);
    return s;
}

static void a_file_that_is_there_and_right_is_not_fetched(void **state)
{
    struct fetching *f = *state;
    enum bz_fetch_how how;

    put(f->dir->fd, "dl/abc", "abc");
    assert_ok(fetching_get(f, "http://nowhere.invalid/abc;sha256sum=" ABC, &how),
              &f->err);
    assert_int_equal(how, BZ_FETCH_PRESENT);
    assert_true(bz_fs_exists(f->dir->fd, "dl/abc.done"));
}

static void a_file_that_is_wrong_is_put_aside(void **state)
{
    struct fetching *f = *state;
    enum bz_fetch_how how;
    char uri[400];
    struct server s = serve(f, uri, "/abc;sha256sum=" ABC);

    put(f->dir->fd, "dl/abc", "xyz");
    put(f->dir->fd, "dl/abc.done", "");
    assert_ok(fetching_get(f, uri, &how), &f->err);
    assert_int_equal(how, BZ_FETCH_DOWNLOADED);
    assert_file(f, "dl/abc", "abc");
    assert_non_null(
        strstr(bz_buf_text(&f->notes), "abc_bad-checksum_3608bca1e44ea6c4"));
    server_stop(&s);
}

static void what_was_put_aside_is_taken_back_by_who_wants_it(void **state)
{
    struct fetching *f = *state;
    enum bz_fetch_how how;

    put(f->dir->fd, "dl/abc", "xyz");
    put(f->dir->fd, "dl/abc_bad-checksum_" ABC, "abc");
    assert_ok(fetching_get(f, "http://nowhere.invalid/abc;sha256sum=" ABC, &how),
              &f->err);
    assert_int_equal(how, BZ_FETCH_PRESENT);
    assert_file(f, "dl/abc", "abc");
    /* Its name says what it should be, not what it is. */
    put(f->dir->fd, "dl/abc", "xyz");
    put(f->dir->fd, "dl/abc_bad-checksum_" ABC, "not");
    assert_true(fetching_get(f, "http://127.0.0.1:1/abc;sha256sum=" ABC, &how) < 0);
}

static void a_name_that_others_took_meanwhile_is_not_unpacked(void **state)
{
    struct fetching *f = *state;
    char uri[400];
    struct server s = serve(f, uri, "/abc;sha256sum=" ABC);

    assert_ok(fetching_get(f, uri, NULL), &f->err);
    put(f->dir->fd, "dl/other", "xyz");
    assert_int_equal(renameat(f->dir->fd, "dl/other", f->dir->fd, "dl/abc"), 0);
    snprintf(f->path, sizeof(f->path), "%s/work", f->dir->path);
    assert_ok(bz_fetch_unpack(f->fetch, f->path, &f->err), &f->err);
    assert_file(f, "work/abc", "abc");
    server_stop(&s);
}

static void bytes_that_are_wrong_are_never_published(void **state)
{
    struct fetching *f = *state;
    char uri[400];
    struct server s = serve(f, uri, "/bad/abc;sha256sum=" ABC);

    assert_int_equal(fetching_get(f, uri, NULL), BZ_E_CORRUPT);
    assert_non_null(strstr(f->err.msg, "but the recipe says " ABC));
    assert_false(bz_fs_exists(f->dir->fd, "dl/abc"));
    assert_false(bz_fs_exists(f->dir->fd, "dl/abc.bz-part"));
    server_stop(&s);
}

static void a_missing_checksum_is_an_error_with_the_line_to_add(void **state)
{
    struct fetching *f = *state;
    char uri[400];
    struct server s = serve(f, uri, "/abc;name=src");

    assert_int_equal(fetching_get(f, uri, NULL), BZ_E_INVAL);
    assert_non_null(strstr(f->err.msg, "\nSRC_URI[src.sha256sum] = \"" ABC "\""));
    assert_int_equal(fetching_get(f, uri, NULL), BZ_E_INVAL);
    fetching_set(f, "BB_STRICT_CHECKSUM", NULL, "0");
    assert_ok(fetching_get(f, uri, NULL), &f->err);
    assert_non_null(strstr(bz_buf_text(&f->notes), "SRC_URI[src.sha256sum]"));
    bz_buf_truncate(&f->notes, 0);
    fetching_set(f, "BB_STRICT_CHECKSUM", NULL, "ignore");
    assert_ok(fetching_get(f, uri, NULL), &f->err);
    assert_string_equal(bz_buf_text(&f->notes), "");
    server_stop(&s);
}

static void any_mirror_will_do_that_has_the_bytes(void **state)
{
    struct fetching *f = *state;
    char uri[400];
    struct server s = serve(f, uri, "");

    make_dirs(f->dir->fd, "mirror");
    put(f->dir->fd, "mirror/abc", "not");
    fetching_set(f, "PREMIRRORS", NULL, "http://.*/.* file://%s/mirror/", f->dir->path);
    fetching_set(f, "MIRRORS", NULL,
                 "http://.*/.* http://127.0.0.1:%u/bad/ http://.*/.* "
                 "http://127.0.0.1:%u/",
                 s.port, s.port);
    snprintf(uri, sizeof(uri), "http://127.0.0.1:%u/nothing/abc;sha256sum=" ABC,
             s.port);
    assert_ok(fetching_get(f, uri, NULL), &f->err);
    assert_file(f, "dl/abc", "abc");
    assert_non_null(strstr(bz_buf_text(&f->notes), "/mirror/abc: what came has"));
    server_stop(&s);
}

static void a_mirror_that_cannot_be_asked_is_passed_over(void **state)
{
    struct fetching *f = *state;
    char uri[400];
    struct server s = serve(f, uri, "/abc;sha256sum=" ABC);

    fetching_set(f, "PREMIRRORS", NULL, "http://.*/.* http://h:no/port/");
    assert_ok(fetching_get(f, uri, NULL), &f->err);
    assert_file(f, "dl/abc", "abc");
    server_stop(&s);
}

static void a_premirror_spares_the_network(void **state)
{
    struct fetching *f = *state;

    make_dirs(f->dir->fd, "mirror");
    put(f->dir->fd, "mirror/abc", "abc");
    fetching_set(f, "PREMIRRORS", NULL, "http://.*/.* file://%s/mirror/", f->dir->path);
    fetching_set(f, "BB_NO_NETWORK", NULL, "1");
    assert_ok(fetching_get(f, "http://h.invalid/abc;sha256sum=" ABC, NULL), &f->err);
    assert_file(f, "dl/abc", "abc");
}

static void without_network_the_variable_is_named(void **state)
{
    struct fetching *f = *state;

    fetching_set(f, "BB_NO_NETWORK", NULL, "1");
    assert_int_equal(
        fetching_get(f, "http://u:secret@h.invalid/abc;sha256sum=" ABC, NULL),
        BZ_E_NOSUP);
    assert_non_null(strstr(f->err.msg, "BB_NO_NETWORK"));
    assert_null(strstr(f->err.msg, "secret"));
    fetching_set(f, "BB_NO_NETWORK", NULL, "0");
    fetching_set(f, "BB_FETCH_PREMIRRORONLY", NULL, "1");
    assert_int_equal(fetching_get(f, "http://h.invalid/abc;sha256sum=" ABC, NULL),
                     BZ_E_NOSUP);
    assert_non_null(strstr(f->err.msg, "BB_FETCH_PREMIRRORONLY"));
    fetching_set(f, "BB_FETCH_PREMIRRORONLY", NULL, "0");
    fetching_set(f, "BB_ALLOWED_NETWORKS", NULL, "other.org");
    assert_int_equal(fetching_get(f, "http://h.invalid/abc;sha256sum=" ABC, NULL),
                     BZ_E_NOSUP);
    assert_non_null(strstr(f->err.msg, "BB_ALLOWED_NETWORKS does not name h.invalid"));
}

static void many_who_want_it_make_one_download(void **state)
{
    struct fetching *f = *state;
    char uri[400];
    struct server s = serve(f, uri, "/abc;sha256sum=" ABC);
    pid_t kids[6];

    for (size_t i = 0; i < BZ_COUNTOF(kids); i++) {
        kids[i] = fork();
        if (kids[i] == 0)
            _exit(fetching_get(f, uri, NULL) == 0 ? 0 : 1);
    }
    for (size_t i = 0; i < BZ_COUNTOF(kids); i++) {
        int status;

        assert_int_equal(waitpid(kids[i], &status, 0), kids[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(atomic_load(&s.seen->requests), 1);
    server_stop(&s);
}

static void unknown_kinds_are_named(void **state)
{
    struct fetching *f = *state;

    assert_int_equal(fetching_open(f, "file://a svn://h/x"), BZ_E_NOSUP);
    assert_string_equal(f->err.msg,
                        "svn://h/x: sources of the kind svn:// are not known");
    assert_ok(fetching_open(f, ""), &f->err);
    assert_int_equal(bz_fetch_count(f->fetch), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        fetching_test(a_file_that_is_there_and_right_is_not_fetched),
        fetching_test(a_file_that_is_wrong_is_put_aside),
        fetching_test(what_was_put_aside_is_taken_back_by_who_wants_it),
        fetching_test(a_name_that_others_took_meanwhile_is_not_unpacked),
        fetching_test(bytes_that_are_wrong_are_never_published),
        fetching_test(a_missing_checksum_is_an_error_with_the_line_to_add),
        fetching_test(any_mirror_will_do_that_has_the_bytes),
        fetching_test(a_mirror_that_cannot_be_asked_is_passed_over),
        fetching_test(a_premirror_spares_the_network),
        fetching_test(without_network_the_variable_is_named),
        fetching_test(many_who_want_it_make_one_download),
        fetching_test(unknown_kinds_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
