#include "codec/regex.h"

#include <string.h>

#include "tests/unit/bz_test.h"

static bool matches(const char *pattern, enum bz_regex_how how, const char *text)
{
    struct bz_regex *r;
    struct bz_err err;
    bool yes;

    assert_ok(bz_regex_new(bz_str_from(pattern), how, &r, &err), &err);
    yes = bz_regex_test(r, bz_str_from(text));
    bz_regex_free(r);
    return yes;
}

static void expressions_match_as_in_python(void **state)
{
    static const struct {
        const char *pattern, *text;
        bool search, match;
    } cases[] = {
        {"b",                "abc",                    true,  false},
        {"^a",               "abc",                    true,  true },
        {"a|c",              "c",                      true,  true },
        {"a|c",              "bc",                     true,  false},
        {"",                 "",                       true,  true },
        {"",                 "x",                      true,  true },
        {"x$",               "ax",                     true,  false},
        {"(?P<n>a)(?P=n)",   "aa",                     true,  true },
        {"/recipes/masked/", "/l/recipes/masked/x.bb", true,  false},
        {"^/l/a\\-b\\.c/",   "/l/a-b.c/x",             true,  true },
        {"^/l/a\\-b\\.c/",   "/l/a-bxc/x",             false, false},
        {"^\\w+$",           "h\xc3\xa9",              true,  true },
        {".*foo.*",          "/a/foo.bb",              true,  true },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        assert_int_equal(matches(cases[i].pattern, BZ_REGEX_SEARCH, cases[i].text),
                         cases[i].search);
        assert_int_equal(matches(cases[i].pattern, BZ_REGEX_MATCH, cases[i].text),
                         cases[i].match);
    }
}

static void wrong_expressions_say_where_and_why(void **state)
{
    static const char *const wrong[] = {"*a", "(", "[a", "a**", "(?P<n>a)(?P<n>b)"};

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(wrong); i++) {
        struct bz_regex *r = NULL;
        struct bz_err err;

        assert_int_equal(bz_regex_new(bz_str_from(wrong[i]), BZ_REGEX_SEARCH, &r, &err),
                         BZ_E_INVAL);
        assert_non_null(strstr(err.msg, wrong[i]));
        assert_non_null(strstr(err.msg, ", at "));
        assert_null(r);
    }
}

static void bytes_that_are_not_utf8_do_not_hide_the_rest(void **state)
{
    (void)state;
    assert_true(matches("foo", BZ_REGEX_SEARCH, "/a\xff/foo"));
    assert_false(matches("bar", BZ_REGEX_SEARCH, "/a\xff/foo"));
}

static void an_expression_that_takes_too_long_does_not_match(void **state)
{
    (void)state;
    assert_false(matches("^(a+)+$", BZ_REGEX_SEARCH,
                         "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"));
}

static void absent_text_is_the_empty_text(void **state)
{
    struct bz_regex *r;
    struct bz_err err;

    (void)state;
    assert_ok(bz_regex_new((struct bz_str){0}, BZ_REGEX_MATCH, &r, &err), &err);
    assert_true(bz_regex_test(r, (struct bz_str){0}));
    bz_regex_free(r);
    bz_regex_free(NULL);
}

static void the_first_match_is_replaced(void **state)
{
    static const struct {
        const char *pattern, *text, *with, *want;
    } cases[] = {
        {"a+",         "xaay aa", "-",          "x-y aa"},
        {".*",         "/a/b",    "/m/",        "/m/"   },
        {"/(.*)/(.*)", "/a/b",    "\\2/\\g<1>", "b/a"   },
        {"(a)|(b)",    "b",       "[\\1\\2]",   "[b]"   },
        {"b",          "b",       "\\\\1\\",    "\\1\\" },
        {"b",          "b",       "\\9",        ""      },
        {"",           "x",       "y",          "yx"    },
        {"z",          "x",       "y",          NULL    },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};
        struct bz_regex *r;
        struct bz_err err;
        bool yes;

        assert_ok(
            bz_regex_new(bz_str_from(cases[i].pattern), BZ_REGEX_SEARCH, &r, &err),
            &err);
        yes = bz_regex_replace(r, bz_str_from(cases[i].text),
                               bz_str_from(cases[i].with), &out);
        bz_regex_free(r);
        assert_int_equal(yes, cases[i].want != NULL);
        assert_string_equal(bz_buf_text(&out), cases[i].want ? cases[i].want : "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_match_as_in_python),
        cmocka_unit_test(wrong_expressions_say_where_and_why),
        cmocka_unit_test(bytes_that_are_not_utf8_do_not_hide_the_rest),
        cmocka_unit_test(an_expression_that_takes_too_long_does_not_match),
        cmocka_unit_test(absent_text_is_the_empty_text),
        cmocka_unit_test(the_first_match_is_replaced),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
