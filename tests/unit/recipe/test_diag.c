#include "recipe/diag.h"

#include <string.h>

#include "tests/unit/bz_test.h"

static struct bz_diag_place place_of(const char *source, size_t offset)
{
    return (struct bz_diag_place){"a.bb", 7, bz_str_from(source), offset};
}

static void expect_text(const struct bz_diag *d, const char *expected)
{
    struct bz_buf out = {0};

    bz_diag_format(d, &out);
    assert_string_equal(bz_buf_text(&out), expected);
    bz_buf_release(&out);
}

static void a_diagnostic_names_the_place_and_points_at_it(void **state)
{
    struct bz_arena arena = {0};
    struct bz_diag_list list = {.arena = &arena};
    struct bz_diag_place place = place_of("A = x", 4);

    (void)state;
    bz_diag_add(&list, BZ_DIAG_ERROR, &place, "a value in quotes",
                "unparsed line: '%s'", "A = x");
    expect_text(list.first, "a.bb:7:5: error: unparsed line: 'A = x'\n"
                            "  A = x\n"
                            "      ^ expected a value in quotes\n");
    place = place_of("", 0);
    bz_diag_add(&list, BZ_DIAG_WARNING, &place, NULL, "odd");
    expect_text(list.last, "a.bb:7:1: warning: odd\n"
                           "  \n"
                           "  ^\n");
    assert_ptr_equal(list.first->next, list.last);
    assert_int_equal(list.errors, 1);
    assert_int_equal(list.warnings, 1);
    bz_arena_release(&arena);
}

static void columns_count_characters(void **state)
{
    struct bz_arena arena = {0};
    struct bz_diag_list list = {.arena = &arena};
    struct bz_diag_place place = place_of("gr\xc3\xbc\xc3\x9f = x", 9);

    (void)state;
    bz_diag_add(&list, BZ_DIAG_ERROR, &place, NULL, "m");
    assert_int_equal(list.first->column, 8);
    assert_int_equal(list.first->caret, 7);
    bz_arena_release(&arena);
}

static void what_could_steer_a_terminal_is_shown_as_something_else(void **state)
{
    struct bz_arena arena = {0};
    struct bz_diag_list list = {.arena = &arena};
    struct bz_diag_place place = place_of("\ta\x1b[2J\x7f\xc2\x9b\xc2\xa9", 1);

    (void)state;
    place.path = "a\n.bb";
    bz_diag_add(&list, BZ_DIAG_ERROR, &place, NULL, "a\x1b%s", "\r\nb");
    expect_text(list.first, "a?.bb:7:2: error: a???b\n"
                            "   a?[2J??\xc2\xa9\n"
                            "   ^\n");
    bz_arena_release(&arena);
}

static void a_long_line_is_cut_round_the_column(void **state)
{
    struct bz_arena arena = {0};
    struct bz_diag_list list = {.arena = &arena};
    struct bz_diag_place place;
    char line[4001];

    (void)state;
    for (size_t i = 0; i < 4000; i += 2)
        memcpy(line + i, "\xc3\xa9", 2);
    line[4000] = '\0';
    memcpy(line + 2000, "XY", 2);
    for (size_t offset = 0; offset <= 4000; offset += 2) {
        place = place_of(line, offset);
        list.errors = 0;
        bz_diag_add(&list, BZ_DIAG_ERROR, &place, NULL, "m");
        assert_in_range(list.last->source.n, 50, 160);
        assert_int_not_equal((unsigned char)list.last->source.p[0], 0xa9);
        assert_in_range(list.last->caret, 0, list.last->source.n);
        if (offset == 2000)
            assert_memory_equal(list.last->source.p + 2 * (size_t)list.last->caret,
                                "XY", 2);
    }
    bz_arena_release(&arena);
}

static void a_long_message_is_cut_between_characters(void **state)
{
    struct bz_arena arena = {0};
    struct bz_diag_list list = {.arena = &arena};
    struct bz_diag_place place = place_of("x", 0);
    char text[3][2001];

    (void)state;
    for (size_t shift = 0; shift < 3; shift++) {
        memset(text[shift], 'x', shift);
        for (size_t i = shift; i + 3 <= 2000; i += 3)
            memcpy(text[shift] + i, "\xe2\x82\xac", 4);
        bz_diag_add(&list, BZ_DIAG_ERROR, &place, NULL, "%s", text[shift]);
        assert_in_range(strlen(list.last->message), 300, 320);
        assert_string_equal(list.last->message + strlen(list.last->message) - 6,
                            "\xe2\x82\xac...");
    }
    bz_arena_release(&arena);
}

static void a_list_keeps_so_many_of_each_kind_and_counts_the_rest(void **state)
{
    struct bz_arena arena = {0};
    struct bz_diag_list list = {.arena = &arena};
    struct bz_diag_place place = place_of("x", 1);
    size_t kept = 0;

    (void)state;
    for (int i = 0; i < 3 * BZ_DIAG_KEEP; i++)
        bz_diag_add(&list, BZ_DIAG_WARNING, &place, NULL, "%d", i);
    bz_diag_add(&list, BZ_DIAG_ERROR, &place, NULL, "late, but an error");
    for (const struct bz_diag *d = list.first; d; d = d->next)
        kept++;
    assert_int_equal(kept, BZ_DIAG_KEEP + 1);
    assert_int_equal(list.warnings, 3 * BZ_DIAG_KEEP);
    assert_int_equal(list.errors, 1);
    assert_int_equal(list.last->severity, BZ_DIAG_ERROR);
    bz_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_diagnostic_names_the_place_and_points_at_it),
        cmocka_unit_test(columns_count_characters),
        cmocka_unit_test(what_could_steer_a_terminal_is_shown_as_something_else),
        cmocka_unit_test(a_long_line_is_cut_round_the_column),
        cmocka_unit_test(a_long_message_is_cut_between_characters),
        cmocka_unit_test(a_list_keeps_so_many_of_each_kind_and_counts_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
