#include "code/py_letter.h"

#include "tests/unit/bz_test.h"

static void letters_of_any_script_may_name(void **state)
{
    static const char *const names[] = {"a_1", "\xc3\xa9t\xc3\xa9", "\xce\xb1",
                                        "\xe5\x90\x8d", "\xf0\x9d\x94\x98"};
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(names); i++)
        assert_true(bz_py_letter_may_name(bz_str_from(names[i])));
}

static void signs_and_broken_utf8_may_not(void **state)
{
    static const char *const names[] = {
        "a\xc2\xa0", "\xe2\x80\x9c", "\xe2\x82\xac", "\xef\xbb\xbf",    "\xc3",
        "\xff",      "\x80",         "\xe2\x28\xa1", "\xf0\x9f\x98\x80"};
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(names); i++)
        assert_false(bz_py_letter_may_name(bz_str_from(names[i])));
}

static void digits_and_letters_are_told_apart(void **state)
{
    (void)state;
    assert_true(bz_py_letter_is_digit('0') && bz_py_letter_is_digit('9'));
    assert_false(bz_py_letter_is_digit('a') || bz_py_letter_is_digit('/'));
    assert_true(bz_py_letter_is_name('_') && bz_py_letter_is_name('Z'));
    assert_true(bz_py_letter_is_name('\xc3'));
    assert_false(bz_py_letter_is_name('-') || bz_py_letter_is_name('@') ||
                 bz_py_letter_is_name('['));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_of_any_script_may_name),
        cmocka_unit_test(signs_and_broken_utf8_may_not),
        cmocka_unit_test(digits_and_letters_are_told_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
