#include "recipe/word.h"

#include "tests/unit/bz_test.h"

static void ascii_words_are_letters_digits_and_the_underscore(void **state)
{
    const char *words =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";

    (void)state;
    for (uint32_t c = 0; c < 0x80; c++)
        assert_int_equal(bz_word_has(c), c != 0 && strchr(words, (int)c) != NULL);
}

static void other_scripts_have_letters_and_numbers_too(void **state)
{
    static const struct {
        uint32_t c;
        bool word;
    } cases[] = {
        {0x80,     false},
        {0xa0,     false}, /* no-break space */
        {0xaa,     true }, /* feminine ordinal, the first */
        {0xab,     false},
        {0xb2,     true }, /* superscript two is a digit */
        {0xb5,     true },
        {0xd7,     false}, /* the multiplication sign amid letters */
        {0xe9,     true },
        {0x301,    false}, /* a combining accent is no letter */
        {0x3b1,    true },
        {0x660,    true }, /* an Arabic digit */
        {0x2013,   false}, /* en dash */
        {0x2160,   true }, /* Roman numeral one */
        {0x3042,   true },
        {0x65e5,   true },
        {0xd7a3,   true },
        {0xd7a4,   false},
        {0xfeff,   false}, /* byte order mark */
        {0x1f600,  false}, /* emoji */
        {0x20000,  true },
        {0x3134a,  true }, /* the last */
        {0x3134b,  false},
        {0x10ffff, false},
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++)
        if (bz_word_has(cases[i].c) != cases[i].word)
            fail_msg("U+%04X", cases[i].c);
}

static void as_many_are_words_as_python_counts(void **state)
{
    size_t n = 0;

    (void)state;
    for (uint32_t c = 0x80; c < 0x110000; c++)
        n += bz_word_has(c);
    assert_int_equal(n, 133485);
}

static void skip_ends_at_the_first_other_character(void **state)
{
    static const struct {
        const char *text;
        size_t from, to;
    } cases[] = {
        {"",                           0, 0},
        {"a",                          1, 1},
        {"do_x()",                     0, 4},
        {"do-x",                       0, 2},
        {"-x",                         0, 0},
        {"gr\xc3\xbc\xc3\x9f e",       0, 6},
        {"a\xe2\x80\x93"
         "b",                 0, 1}, /* en dash */
        {"x\xe6\x97\xa5\xe6\x9c\xac(", 1, 7},
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++)
        assert_int_equal(bz_word_skip(bz_str_from(cases[i].text), cases[i].from),
                         cases[i].to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ascii_words_are_letters_digits_and_the_underscore),
        cmocka_unit_test(other_scripts_have_letters_and_numbers_too),
        cmocka_unit_test(as_many_are_words_as_python_counts),
        cmocka_unit_test(skip_ends_at_the_first_other_character),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
