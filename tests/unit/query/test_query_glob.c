#include "query/query_glob.h"

#include "tests/unit/bz_test.h"

static void patterns_match_all_of_a_text(void **state)
{
    static const struct {
        const char *pattern, *text;
        bool match;
    } rows[] = {
        {"",         "",            true },
        {"",         "a",           false},
        {"a",        "a",           true },
        {"a",        "ab",          false},
        {"*",        "",            true },
        {"*-native", "zlib-native", true },
        {"*-native", "-native-x",   false},
        {"a*b*c",    "aXbYbZc",     true },
        {"a*b*c",    "aXbYbZ",      false},
        {"**a**",    "xxaxx",       true },
        {"?",        "",            false},
        {"a?c",      "abc",         true },
        {"[a-c]x",   "bx",          true },
        {"[a-c]x",   "dx",          false},
        {"[!a-c]x",  "dx",          true },
        {"[!a-c]x",  "ax",          false},
        {"[]]",      "]",           true },
        {"[!]]",     "]",           false},
        {"[a-]",     "-",           true },
        {"[ab",      "[ab",         true },
        {"[",        "[",           true },
        {"[!",       "[!",          true },
        {"*[0-9]",   "lib9",        true },
        {"*[0-9]",   "libx",        false},
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++)
        if (bz_query_glob_match(bz_str_from(rows[i].pattern),
                                bz_str_from(rows[i].text)) != rows[i].match)
            fail_msg("'%s' and '%s'", rows[i].pattern, rows[i].text);
}

static void many_stars_end_in_time(void **state)
{
    static char pattern[2001], text[20001];

    (void)state;
    for (size_t i = 0; i + 1 < sizeof(pattern); i += 2) {
        pattern[i] = '*';
        pattern[i + 1] = 'a';
    }
    memset(text, 'a', sizeof(text) - 1);
    assert_true(bz_query_glob_match(bz_str_from(pattern), bz_str_from(text)));
    pattern[sizeof(pattern) - 2] = 'b';
    assert_false(bz_query_glob_match(bz_str_from(pattern), bz_str_from(text)));
}

static void a_pattern_is_told_from_a_name(void **state)
{
    (void)state;
    assert_false(bz_query_glob_is(BZ_STR("gtk+3:do_x")));
    assert_true(bz_query_glob_is(BZ_STR("a*")));
    assert_true(bz_query_glob_is(BZ_STR("a?")));
    assert_true(bz_query_glob_is(BZ_STR("[a]")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match_all_of_a_text),
        cmocka_unit_test(many_stars_end_in_time),
        cmocka_unit_test(a_pattern_is_told_from_a_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
