#include "codec/utf8.h"

#include "tests/unit/bz_test.h"

static void every_length_and_every_border_is_known(void **state)
{
    static const struct {
        const char *bytes;
        size_t len;
    } cases[] = {
        {"a",                1},
        {"\x7f",             1},
        {"\xc2\x80",         2}, /* U+0080, the first of two bytes */
        {"\xdf\xbf",         2}, /* U+07FF, the last */
        {"\xe0\xa0\x80",     3}, /* U+0800 */
        {"\xed\x9f\xbf",     3}, /* U+D7FF, before the surrogates */
        {"\xee\x80\x80",     3}, /* U+E000, after them */
        {"\xef\xbf\xbf",     3}, /* U+FFFF */
        {"\xf0\x90\x80\x80", 4}, /* U+10000 */
        {"\xf4\x8f\xbf\xbf", 4}, /* U+10FFFF, the last of all */
        {"\x80",             0}, /* a continuation alone */
        {"\xbf",             0},
        {"\xc0\x80",         0}, /* overlong */
        {"\xc1\xbf",         0},
        {"\xe0\x9f\xbf",     0},
        {"\xf0\x8f\xbf\xbf", 0},
        {"\xed\xa0\x80",     0}, /* surrogates */
        {"\xed\xbf\xbf",     0},
        {"\xf4\x90\x80\x80", 0}, /* above U+10FFFF */
        {"\xf5\x80\x80\x80", 0},
        {"\xff",             0},
        {"\xc2",             0}, /* cut short */
        {"\xe1\x80",         0},
        {"\xf1\x80\x80",     0},
        {"\xc2"
         "a",       0}, /* a lead without its continuation */
        {"\xe1\x80"
         "a",       0},
        {"\xf1\x80\x80\xc0", 0},
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++)
        assert_int_equal(bz_utf8_len(cases[i].bytes, strlen(cases[i].bytes)),
                         cases[i].len);
}

static void a_nul_is_a_character(void **state)
{
    (void)state;
    assert_int_equal(bz_utf8_len("", 1), 1);
}

static void no_byte_beyond_the_end_is_looked_at(void **state)
{
    (void)state;
    /* The rest of the character is there, but outside of the n bytes. */
    assert_int_equal(bz_utf8_len("\xe2\x82\xac", 1), 0);
    assert_int_equal(bz_utf8_len("\xe2\x82\xac", 2), 0);
    assert_int_equal(bz_utf8_len("\xe2\x82\xac", 3), 3);
}

static void valid_tells_where_the_first_bad_byte_is(void **state)
{
    (void)state;
    assert_int_equal(bz_utf8_valid((struct bz_str){0}), 0);
    assert_int_equal(bz_utf8_valid(BZ_STR("gr\xc3\xbc\xc3\x9f")), 6);
    assert_int_equal(bz_utf8_valid(BZ_STR("gr\xfc\xdf")), 2);
    assert_int_equal(bz_utf8_valid(BZ_STR("ab\xe2\x82")), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_length_and_every_border_is_known),
        cmocka_unit_test(a_nul_is_a_character),
        cmocka_unit_test(no_byte_beyond_the_end_is_looked_at),
        cmocka_unit_test(valid_tells_where_the_first_bad_byte_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
