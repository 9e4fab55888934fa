#include "report/columns.h"

#include "tests/unit/bz_test.h"

static const char *add(struct bz_buf *b, struct bz_str text, unsigned room, bool utf8,
                       unsigned want)
{
    bz_buf_truncate(b, 0);
    assert_int_equal(bz_columns_add(b, text, room, utf8), want);
    return bz_buf_text(b);
}

static void characters_take_no_column_or_one_or_two(void **state)
{
    (void)state;
    assert_int_equal(bz_columns_of_char('a'), 1);
    assert_int_equal(bz_columns_of_char(0xe9), 1);
    assert_int_equal(bz_columns_of_char(0x301), 0);
    assert_int_equal(bz_columns_of_char(0x10ff), 1);
    assert_int_equal(bz_columns_of_char(0x1100), 2);
    assert_int_equal(bz_columns_of_char(0x4e2d), 2);
    assert_int_equal(bz_columns_of_char(0xac00), 2);
    assert_int_equal(bz_columns_of_char(0xff21), 2);
    assert_int_equal(bz_columns_of_char(0x1f600), 2);
    assert_int_equal(bz_columns_of_char(0x10ffff), 1);
    assert_int_equal(bz_columns_of(BZ_STR("e\xcc\x81\xe4\xb8\xad."), true), 4);
}

static void text_that_fits_is_left_alone(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf b = {0};

    (void)state;
    assert_string_equal(add(&b, BZ_STR("abc"), 3, true, 3), "abc");
    assert_string_equal(add(&b, BZ_STR("abc"), 100, false, 3), "abc");
    assert_string_equal(add(&b, BZ_STR(""), 3, true, 0), "");
}

static void text_that_does_not_fit_ends_in_a_mark(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf b = {0};

    (void)state;
    assert_string_equal(add(&b, BZ_STR("abcd"), 3, true, 3), "ab\xe2\x80\xa6");
    assert_string_equal(add(&b, BZ_STR("abcd"), 3, false, 3), "ab~");
    assert_string_equal(add(&b, BZ_STR("abcd"), 1, false, 1), "~");
    assert_string_equal(add(&b, BZ_STR("abcd"), 0, false, 0), "");
}

static void a_wide_character_is_not_cut_in_half(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf b = {0};
    struct bz_str han = BZ_STR("\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad");

    (void)state;
    assert_string_equal(add(&b, han, 6, true, 6), han.p);
    assert_string_equal(add(&b, han, 5, true, 5),
                        "\xe4\xb8\xad\xe4\xb8\xad\xe2\x80\xa6");
    assert_string_equal(add(&b, han, 4, true, 3), "\xe4\xb8\xad\xe2\x80\xa6");
    assert_string_equal(add(&b, han, 2, true, 1), "\xe2\x80\xa6");
    assert_string_equal(add(&b, han, 6, false, 3), "???");
}

static void what_could_drive_a_terminal_is_not_shown(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf b = {0};

    (void)state;
    assert_string_equal(add(&b, BZ_STR("\033[2Ja\177\r\nb\tc"), 20, true, 11),
                        "?[2Ja???b c");
    assert_string_equal(add(&b, BZ_STR("\x80\xff\xe4\xb8"), 20, true, 4), "????");
    assert_string_equal(add(&b, BZ_STR("\xc2\x9b"), 20, true, 1), "?");
    assert_string_equal(add(&b, BZ_STR("\xe2\x80\xaex"), 20, true, 2), "?x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_take_no_column_or_one_or_two),
        cmocka_unit_test(text_that_fits_is_left_alone),
        cmocka_unit_test(text_that_does_not_fit_ends_in_a_mark),
        cmocka_unit_test(a_wide_character_is_not_cut_in_half),
        cmocka_unit_test(what_could_drive_a_terminal_is_not_shown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
