#include "base/intern.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/base/dies.h"
#include "tests/unit/bz_test.h"

static void equal_strings_have_one_symbol_and_one_copy(void **state)
{
    BZ_CLEANUP(bz_intern_release) struct bz_intern in = {0};
    char text[] = "PN";
    struct bz_sym a = bz_intern_add(&in, bz_str_from(text));
    struct bz_sym b;

    (void)state;
    text[0] = 'x'; /* the table has its own copy */
    b = bz_intern_add(&in, BZ_STR("PN"));
    assert_true(bz_intern_same(a, b));
    assert_string_equal(bz_intern_str(&in, a).p, "PN");
    assert_ptr_equal(bz_intern_str(&in, a).p, bz_intern_str(&in, b).p);
    assert_false(bz_intern_same(a, bz_intern_add(&in, bz_str_from(text))));
}

static void symbols_are_dense_and_count_up(void **state)
{
    BZ_CLEANUP(bz_intern_release) struct bz_intern in = {0};

    (void)state;
    assert_int_equal(bz_intern_add(&in, BZ_STR("a")).i, 1);
    assert_int_equal(bz_intern_add(&in, BZ_STR("b")).i, 2);
    assert_int_equal(bz_intern_add(&in, BZ_STR("a")).i, 1);
    assert_int_equal(bz_intern_add(&in, BZ_STR("c")).i, 3);
}

static void symbol_zero_is_the_empty_string_from_the_start(void **state)
{
    BZ_CLEANUP(bz_intern_release) struct bz_intern in = {0};
    struct bz_sym none = {0};

    (void)state;
    assert_string_equal(bz_intern_str(&in, none).p, "");
    assert_int_equal(bz_intern_add(&in, (struct bz_str){0}).i, 0);
    assert_int_equal(bz_intern_add(&in, BZ_STR("a")).i, 1);
    assert_int_equal(bz_intern_add(&in, BZ_STR("")).i, 0);
}

static void text_never_moves(void **state)
{
    enum { N = 50000 };
    BZ_CLEANUP(bz_intern_release) struct bz_intern in = {0};
    static const char *texts[N];
    char name[32];
    uint32_t i;

    (void)state;
    for (i = 0; i < N; i++) {
        struct bz_sym sym;

        snprintf(name, sizeof(name), "VAR_%u", i);
        sym = bz_intern_add(&in, bz_str_from(name));
        assert_int_equal(sym.i, i + 1);
        texts[i] = bz_intern_str(&in, sym).p;
    }
    for (i = 0; i < N; i++) {
        snprintf(name, sizeof(name), "VAR_%u", i);
        assert_ptr_equal(bz_intern_str(&in, (struct bz_sym){i + 1}).p, texts[i]);
        assert_string_equal(texts[i], name);
    }
}

static void strings_may_hold_any_byte(void **state)
{
    BZ_CLEANUP(bz_intern_release) struct bz_intern in = {0};
    struct bz_sym a = bz_intern_add(&in, BZ_STR("x\0y"));
    struct bz_sym b = bz_intern_add(&in, BZ_STR("x\0z"));
    struct bz_sym c = bz_intern_add(&in, BZ_STR("x"));

    (void)state;
    assert_true(bz_str_eq(bz_intern_str(&in, a), BZ_STR("x\0y")));
    assert_true(bz_str_eq(bz_intern_str(&in, b), BZ_STR("x\0z")));
    assert_true(bz_str_eq(bz_intern_str(&in, c), BZ_STR("x")));
}

static void ask_for_unknown_symbol(void)
{
    struct bz_intern in = {0};

    bz_intern_add(&in, BZ_STR("a"));
    bz_intern_str(&in, (struct bz_sym){2});
}

static void symbol_of_another_table_stops_the_program(void **state)
{
    (void)state;
    assert_true(dies(ask_for_unknown_symbol, "internal error"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_strings_have_one_symbol_and_one_copy),
        cmocka_unit_test(symbols_are_dense_and_count_up),
        cmocka_unit_test(symbol_zero_is_the_empty_string_from_the_start),
        cmocka_unit_test(text_never_moves),
        cmocka_unit_test(strings_may_hold_any_byte),
        cmocka_unit_test(symbol_of_another_table_stops_the_program),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
