#include "fetch/mirror.h"

#include "tests/unit/bz_test.h"

/* What BitBake 2.18 makes of the same. */
static void addresses_are_rewritten_as_bitbake_does(void **state)
{
    static const struct {
        const char *uri, *file, *tarball, *pairs, *want;
    } cases[] = {
        {"http://h/a/b.tar.gz;name=x",                 "/dl/b.tar.gz", NULL,
         "http://.*/.* http://m/src/",                                                                                          "http://m/src/b.tar.gz;name=x"                   },
        {"http://h/a/b.tar.gz",                        "/dl/b.tar.gz", NULL,                    "https?://.*/.* https://m/src",
         "https://m/src/b.tar.gz"                                                                                                                                                },
        {"https://h/a/b.tar.gz",                       "/dl/b.tar.gz", NULL,                    "http://.*/.* http://m/",       ""                                               },
        {"http://h/a/b.tar.gz",                        "/dl/b.tar.gz", NULL,                    "http://h/a/ http://m/other/",
         "http://m/other/b.tar.gz"                                                                                                                                               },
        {"http://h/a/b.tar.gz",                        "/dl/b.tar.gz", NULL,
         "http://.*/.* file:///mirror/PATH",                                                                                    "file:///mirror/a/b.tar.gz"                      },
        {"http://h/a/b.tar.gz",                        "/dl/b.tar.gz", NULL,                    "http://.*/.* file:///mirror",
         "file:///mirror/b.tar.gz"                                                                                                                                               },
        {"http://h:80/a/b.tar.gz",                     "/dl/b.tar.gz", NULL,
         "http://.*/.* http://m/HOST/TYPE/BASENAME http://m/.* http://n/",                                                      "http://m/h%3A80/http/b.tar.gz http://n/b.tar.gz"},
        {"http://h/a/b.tar.gz;downloadfilename=c.tgz", "/dl/c.tgz",    NULL,
         "http://.*/.* http://m/src/ \\n http://h/a/ http://m/q/",                                                              "http://m/src/c.tgz;downloadfilename=c.tgz "
         "http://m/q/c.tgz;downloadfilename=c.tgz"                                                             },
        {"git://h/a/b.git;branch=main;protocol=https", NULL,           "git2_h.a.b.git.tar.gz",
         "git://.*/.* http://m/src/",                                                                                           "http://m/src/git2_h.a.b.git.tar.gz"             },
        {"git://h/a/b.git;branch=main;protocol=https", NULL,           "git2_h.a.b.git.tar.gz",
         "git://h/.* git://m/MIRRORNAME;protocol=file",                                                                         "git://m/h.a.b.git;branch=main;protocol=file"    },
        {"git://h/a/b.git;branch=main;protocol=https", NULL,           "git2_h.a.b.git.tar.gz",
         "git://h git://m",                                                                                                     "git://m/a/b.git;branch=main;protocol=https"     },
        {"http://u@h/a/b.tar.gz",                      "/dl/b.tar.gz", NULL,
         "http://.*/.* http://v:w@m/src/",                                                                                      "http://v:w@m/src/b.tar.gz"                      },
        {"http://h/a/b.tar.gz",                        "/dl/b.tar.gz", NULL,                    "ftp://.*/.* http://m/src/",    ""                                               },
        {"http://h/a/b.tar.gz",                        "/dl/b.tar.gz", NULL,
         "http://h/(.*)/(.*) http://m/\\2/\\1",                                                                                 "http://m/b.tar.gz/a/b.tar.gz"                   },
        {"http://h/a/b.tar.gz",                        "/dl/b.tar.gz", NULL,                    "",                             ""                                               },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
        BZ_CLEANUP(bz_vec_release) struct bz_mirrors out = {0};
        BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
        struct bz_uri u;
        struct bz_err err;

        assert_ok(bz_uri_parse(&arena, bz_str_from(cases[i].uri), &u, &err), &err);
        assert_ok(bz_mirror_list(&arena, bz_str_from(cases[i].pairs), &u, cases[i].file,
                                 cases[i].tarball, &out, &err),
                  &err);
        for (size_t j = 0; j < out.len; j++)
            bz_buf_addf(&text, "%s%s", j > 0 ? " " : "", out.at[j].p);
        assert_string_equal(bz_buf_text(&text), cases[i].want);
    }
}

static void a_login_is_not_for_mirrors(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    BZ_CLEANUP(bz_vec_release) struct bz_mirrors out = {0};
    struct bz_uri u;
    struct bz_err err;

    (void)state;
    assert_ok(
        bz_uri_parse(&arena, BZ_STR("http://a:b@h/x;user=me;pswd=pw;name=n"), &u, &err),
        &err);
    assert_ok(bz_mirror_list(&arena, BZ_STR("http://.*/.* http://m/"), &u, "/dl/x",
                             NULL, &out, &err),
              &err);
    assert_int_equal(out.len, 1);
    assert_string_equal(out.at[0].p, "http://m/x;name=n");
}

static void wrong_lists_are_refused(void **state)
{
    static const char *const wrong[] = {"http://.*/.*", "http://h/( http://m/",
                                        "nothing http://m/"};

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(wrong); i++) {
        BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
        BZ_CLEANUP(bz_vec_release) struct bz_mirrors out = {0};
        struct bz_uri u;
        struct bz_err err;

        assert_ok(bz_uri_parse(&arena, BZ_STR("http://h/x"), &u, &err), &err);
        assert_int_equal(bz_mirror_list(&arena, bz_str_from(wrong[i]), &u, "/dl/x",
                                        NULL, &out, &err),
                         BZ_E_INVAL);
    }
}

static void a_circle_of_mirrors_ends(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    BZ_CLEANUP(bz_vec_release) struct bz_mirrors out = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf pairs = {0};
    struct bz_uri u;
    struct bz_err err;

    (void)state;
    for (int i = 0; i < 20; i++)
        bz_buf_addf(&pairs, "http://.*/.* http://m%d/PATH/x%d/ ", i, i);
    assert_ok(bz_uri_parse(&arena, BZ_STR("http://h/x"), &u, &err), &err);
    assert_ok(bz_mirror_list(&arena, bz_buf_str(&pairs), &u, "/dl/x", NULL, &out, &err),
              &err);
    assert_in_range(out.len, 20, BZ_MIRROR_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_rewritten_as_bitbake_does),
        cmocka_unit_test(a_login_is_not_for_mirrors),
        cmocka_unit_test(wrong_lists_are_refused),
        cmocka_unit_test(a_circle_of_mirrors_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
