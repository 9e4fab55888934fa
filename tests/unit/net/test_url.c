#include "net/url.h"

#include <stdio.h>

#include "tests/unit/bz_test.h"

static bool parses(const char *text, struct bz_url *u)
{
    struct bz_err err = {0};
    int rc = bz_url_parse(bz_str_from(text), u, &err);

    if (rc < 0)
        assert_true(err.msg[0]);
    return rc == 0;
}

static void assert_str(struct bz_str s, const char *want)
{
    assert_int_equal(s.n, strlen(want));
    assert_memory_equal(s.p ? s.p : "", want, s.n);
}

static void an_address_is_taken_apart(void **state)
{
    struct bz_url u;

    (void)state;
    assert_true(parses("https://me:se%40cret@Host.example:8443/a/b?x=1&y#z", &u));
    assert_true(bz_url_is(&u, BZ_STR("https")));
    assert_str(u.user, "me");
    assert_str(u.password, "se%40cret");
    assert_str(u.host, "Host.example");
    assert_int_equal(u.port, 8443);
    assert_str(u.path, "/a/b");
    assert_str(u.query, "x=1&y");
}

static void what_is_not_there_is_empty_and_ports_have_defaults(void **state)
{
    struct bz_url u;

    (void)state;
    assert_true(parses("HTTP://h", &u));
    assert_int_equal(u.port, 80);
    assert_null(u.user.p);
    assert_null(u.query.p);
    assert_int_equal(u.path.n, 0);
    assert_true(parses("https://h:/", &u));
    assert_int_equal(u.port, 443);
    assert_true(parses("git://h/x", &u));
    assert_int_equal(u.port, 0);
    assert_true(parses("http://[::1]:8080/", &u));
    assert_str(u.host, "[::1]");
    assert_int_equal(u.port, 8080);
    assert_true(parses("http://h?q", &u));
    assert_str(u.query, "q");
}

static void what_is_no_address_is_refused(void **state)
{
    static const char *const wrong[] = {
        "",
        "host/path",
        "//host",
        "http:/host",
        "http://",
        "http:///path",
        "http://h:0/",
        "http://h:65536/",
        "http://h:8a/",
        "http://h:-1/",
        "http://a b/",
        "http://a/\tb",
        "http://a/b\nc",
        "http://a/b\\c",
        "http://h\\@evil/",
        "http://u@v@h/",
        "http://h\x80/",
        "http://h/\xc3\xa4",
        "1http://h/",
        "http://[::1/",
        "http://[xyz]/",
        "http://h%41/",
        "://h",
    };
    struct bz_url u;

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(wrong); i++)
        if (parses(wrong[i], &u))
            fail_msg("accepted: %s", wrong[i]);
}

static void a_secret_is_not_in_the_message(void **state)
{
    struct bz_url u;
    struct bz_err err;

    (void)state;
    assert_int_equal(bz_url_parse(BZ_STR("http://u:hidden@h:99999/?hidden"), &u, &err),
                     BZ_E_INVAL);
    assert_null(strstr(err.msg, "hidden"));
}

static void an_address_has_a_longest_length(void **state)
{
    static char text[BZ_URL_MAX + 2];
    struct bz_url u;
    struct bz_err err;

    (void)state;
    memset(text, 'a', sizeof(text));
    memcpy(text, "http://h/", 9);
    assert_ok(bz_url_parse(bz_str_of(text, BZ_URL_MAX), &u, &err), &err);
    assert_int_equal(bz_url_parse(bz_str_of(text, BZ_URL_MAX + 1), &u, &err),
                     BZ_E_LIMIT);
    assert_int_equal(bz_url_join(&u, bz_str_of(text, BZ_URL_MAX + 1), NULL, &err),
                     BZ_E_LIMIT);
}

static const char *const references[][2] = {
    {"https://o.example/x", "https://o.example/x"  },
    {"//o:81/x",            "http://o:81/x"        },
    {"/x/./y/../z",         "http://a:81/x/z"      },
    {"g",                   "http://a:81/b/c/g"    },
    {"./g",                 "http://a:81/b/c/g"    },
    {"g/",                  "http://a:81/b/c/g/"   },
    {"../g",                "http://a:81/b/g"      },
    {"../..",               "http://a:81/"         },
    {"../../../g",          "http://a:81/g"        },
    {".",                   "http://a:81/b/c/"     },
    {"..",                  "http://a:81/b/"       },
    {"?y",                  "http://a:81/b/c/d;p?y"},
    {"g?y#s",               "http://a:81/b/c/g?y"  },
    {"",                    "http://a:81/b/c/d;p?q"},
    {"#s",                  "http://a:81/b/c/d;p?q"},
    {"g:h",                 NULL                   },
    {"javascript:alert(1)", NULL                   },
    {"/a b",                NULL                   },
    {"http://[",            NULL                   },
};

static void check_join(const struct bz_url *base, const char *ref, const char *want)
{
    struct bz_buf out = {0};
    struct bz_err err;
    int rc = bz_url_join(base, bz_str_from(ref), &out, &err);

    if (want)
        assert_ok(rc, &err);
    else
        assert_int_equal(rc, BZ_E_INVAL);
    assert_string_equal(bz_buf_text(&out), want ? want : "");
    bz_buf_release(&out);
}

static void a_reference_leads_where_rfc_3986_says(void **state)
{
    struct bz_url base;

    (void)state;
    assert_true(parses("http://me:pw@a:81/b/c/d;p?q", &base));
    for (size_t i = 0; i < BZ_COUNTOF(references); i++)
        check_join(&base, references[i][0], references[i][1]);
}

static void one_server_is_told_from_another(void **state)
{
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        {"http://h/x",  "HTTP://H:80/y",  true },
        {"http://h/",   "https://h/",     false},
        {"http://h/",   "http://h:81/",   false},
        {"http://h/",   "http://h.evil/", false},
        {"http://u@h/", "http://h/",      true },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_url a, b;

        assert_true(parses(cases[i].a, &a) && parses(cases[i].b, &b));
        assert_int_equal(bz_url_same_origin(&a, &b), cases[i].same);
    }
}

static void what_is_written_back_has_no_login(void **state)
{
    struct bz_buf out = {0};
    struct bz_url u;

    (void)state;
    assert_true(parses("https://me:pw@h:443/p?q#f", &u));
    bz_url_add(&u, &out);
    assert_string_equal(bz_buf_text(&out), "https://h/p?q");
    bz_buf_release(&out);
}

static void percent_signs_are_decoded(void **state)
{
    static const char *const wrong[] = {"%", "%4", "%4g", "a%00b", "%%41"};
    struct bz_buf out = {0};
    struct bz_err err;

    (void)state;
    assert_ok(bz_url_decode(BZ_STR("a%40%2Fb%e4"), &out, &err), &err);
    assert_string_equal(bz_buf_text(&out), "a@/b\xe4");
    for (size_t i = 0; i < BZ_COUNTOF(wrong); i++)
        assert_int_equal(bz_url_decode(bz_str_from(wrong[i]), &out, &err), BZ_E_INVAL);
    bz_buf_release(&out);
}

static void secrets_are_cut_before_showing(void **state)
{
    static const char *const cases[][2] = {
        {"https://me:pw@h/p@1?token=x", "https://***@h/p@1?***"},
        {"https://h/p@1/x",             "https://h/p@1/x"      },
        {"https://me:p/w@h/x",          "https://***@h/x"      }, /* no address: cut to the last @ */
        {"http://u@v@h/",               "http://***@h/"        },
        {"plain text",                  "plain text"           },
        {"",                            ""                     },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_buf out = {0};

        bz_url_redact(bz_str_from(cases[i][0]), &out);
        assert_string_equal(bz_buf_text(&out), cases[i][1]);
        bz_buf_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_is_taken_apart),
        cmocka_unit_test(what_is_not_there_is_empty_and_ports_have_defaults),
        cmocka_unit_test(what_is_no_address_is_refused),
        cmocka_unit_test(a_secret_is_not_in_the_message),
        cmocka_unit_test(an_address_has_a_longest_length),
        cmocka_unit_test(a_reference_leads_where_rfc_3986_says),
        cmocka_unit_test(one_server_is_told_from_another),
        cmocka_unit_test(what_is_written_back_has_no_login),
        cmocka_unit_test(percent_signs_are_decoded),
        cmocka_unit_test(secrets_are_cut_before_showing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
