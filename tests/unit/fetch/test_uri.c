#include "fetch/uri.h"

#include "tests/unit/bz_test.h"

/* What BitBake 2.18's decodeurl says of the same. */
static void entries_are_taken_apart_as_bitbake_does(void **state)
{
    static const struct {
        const char *text, *scheme, *host, *path, *user, *password, *name;
    } cases[] = {
        {"http://h/a/b.tar.gz",                "http",  "h",             "/a/b.tar.gz",  "",   "",    NULL},
        {"HTTPS://Host.Org:8080/x;name=n;a=b", "https", "host.org:8080", "/x",           "",   "",
         "n"                                                                                              },
        {"git://u@h/p.git;branch=main;name=q", "git",   "h",             "/p.git",       "u",  "",    "q" },
        {"https://u:p:q@h/p%20q",              "https", "h",             "/p q",         "u",  "p:q", NULL},
        {"file://a/b.patch;name=x;name=y",     "file",  "",              "a/b.patch",    "",   "",    "y" },
        {"file:///abs/b.patch",                "file",  "",              "/abs/b.patch", "",   "",    NULL},
        {"file://a@b.patch",                   "file",  "",              "a@b.patch",    "",   "",    NULL},
        {"http://h",                           "http",  "h",             "/",            "",   "",    NULL},
        {"http://h/x?y=z;name=n",              "http",  "h",             "/x",           "",   "",    "n" },
        {"http://h/x#frag",                    "http",  "h",             "/x",           "",   "",    NULL},
        {"git:///srv/r.git;protocol=file",     "git",   "",              "/srv/r.git",   "",   "",    NULL},
        {"http://h/x;user=me;pswd=w;;name",    "http",  "h",             "/x",           "me", "w",   ""  },
        {"http://h/100%",                      "http",  "h",             "/100%",        "",   "",    NULL},
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
        struct bz_uri u;
        struct bz_err err;
        struct bz_str name;

        assert_ok(bz_uri_parse(&arena, bz_str_from(cases[i].text), &u, &err), &err);
        assert_true(bz_str_eq(u.scheme, bz_str_from(cases[i].scheme)));
        assert_true(bz_str_eq(u.host, bz_str_from(cases[i].host)));
        assert_true(bz_str_eq(u.path, bz_str_from(cases[i].path)));
        assert_true(bz_str_eq(u.user, bz_str_from(cases[i].user)));
        assert_true(bz_str_eq(u.password, bz_str_from(cases[i].password)));
        name = bz_uri_param(&u, "name");
        assert_int_equal(name.p != NULL, cases[i].name != NULL);
        if (cases[i].name)
            assert_true(bz_str_eq(name, bz_str_from(cases[i].name)));
    }
}

static void wrong_entries_are_refused_without_their_secrets(void **state)
{
    static const char *const wrong[] = {"",
                                        "a/b.patch",
                                        "://x",
                                        "1http://h/",
                                        "a b://x",
                                        "http://h/%0a",
                                        "ht!tp://u:secret@h/"};

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(wrong); i++) {
        BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
        struct bz_uri u;
        struct bz_err err;

        assert_int_equal(bz_uri_parse(&arena, bz_str_from(wrong[i]), &u, &err),
                         BZ_E_INVAL);
        assert_null(strstr(err.msg, "secret"));
    }
}

static void parameters_and_length_are_bounded(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_uri u;
    struct bz_err err;

    (void)state;
    bz_buf_addf(&text, "http://h/x");
    for (int i = 0; i <= BZ_URI_PARAMS; i++)
        bz_buf_addf(&text, ";a=b");
    assert_int_equal(bz_uri_parse(&arena, bz_buf_str(&text), &u, &err), BZ_E_LIMIT);
    while (text.len <= BZ_URI_MAX)
        bz_buf_add_char(&text, 'x');
    assert_int_equal(bz_uri_parse(&arena, bz_buf_str(&text), &u, &err), BZ_E_LIMIT);
}

static void flags_say_yes_or_no(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct bz_uri u;
    struct bz_err err;
    bool yes;

    (void)state;
    assert_ok(
        bz_uri_parse(&arena, BZ_STR("file://x;a=1;b=No;c=TRUE;d=perhaps"), &u, &err),
        &err);
    assert_ok(bz_uri_flag(&u, "a", false, &yes, &err), &err);
    assert_true(yes);
    assert_ok(bz_uri_flag(&u, "b", true, &yes, &err), &err);
    assert_false(yes);
    assert_ok(bz_uri_flag(&u, "c", false, &yes, &err), &err);
    assert_true(yes);
    assert_ok(bz_uri_flag(&u, "none", true, &yes, &err), &err);
    assert_true(yes);
    assert_int_equal(bz_uri_flag(&u, "d", true, &yes, &err), BZ_E_INVAL);
}

static void secrets_are_not_shown(void **state)
{
    static const char *const cases[][2] = {
        {"https://me:pw@h/x",                 "https://***@h/x"                      },
        {"clone https://t@h/x and ssh://a@b", "clone https://***@h/x and ssh://***@b"},
        {"https://a:p@w@h/x@y",               "https://***@h/x@y"                    },
        {"https://it's:pw@h/x",               "https://***@h/x"                      },
        {"no address @ all",                  "no address @ all"                     },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};

        bz_uri_redact(bz_str_from(cases[i][0]), &out);
        assert_string_equal(bz_buf_text(&out), cases[i][1]);
    }
}

static void paths_are_quoted_for_addresses(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};

    (void)state;
    bz_uri_quote(BZ_STR("/a b/c~d_e+f\xc3\xbc"), &out);
    assert_string_equal(bz_buf_text(&out), "/a%20b/c~d_e%2Bf%C3%BC");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_taken_apart_as_bitbake_does),
        cmocka_unit_test(wrong_entries_are_refused_without_their_secrets),
        cmocka_unit_test(parameters_and_length_are_bounded),
        cmocka_unit_test(flags_say_yes_or_no),
        cmocka_unit_test(secrets_are_not_shown),
        cmocka_unit_test(paths_are_quoted_for_addresses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
