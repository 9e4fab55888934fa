#include "vars/expr_call.h"

#include "tests/unit/vars/expr_rows.h"

static const struct expr_row answers[] = {
    ROW("d.getVar('B', expand=False)", "b"),
    ROW("d.getVar('B', False)", "b"),
    ROW("d.getVar('INNER', expand=False)", "<${B}>"),
    ROW("d.getVar('INNER', True)", "<b>"),
    ROW("'a b'.split(sep=None, maxsplit=1)", "['a', 'b']"),
    ROW("bb.utils.contains('A', 'a', truevalue='t', falsevalue='f', d=d)", "t"),
    ROW("oe.utils.trim_version(PV, num_parts=1)", "1"),
    ROW("oe.utils.parallel_make_argument(d, '-j%d', limit=4)", "-j4"),
};

static const struct expr_row errors[] = {
    ROW("d.getVar(var='B')", "IndexError: list index out of range"),
};

static const char *const unknown[] = {
    "d.getVar('B', nope=1)",
    "d.getVar('B', var='A')",
    "d.getVar('A', True, False, False, False)",
    "bb.utils.contains('A', 'a', 't', 'f')",
    "bb.utils.contains('A', 'a', 't', 'f', d, 1)",
    "bb.utils.contains('A', 'a', 't', 'f', d=d, d=d)",
};

static void arguments_are_placed_by_name(void **state)
{
    (void)state;
    expr_rows_give(answers, BZ_COUNTOF(answers));
}

static void calls_without_a_literal_name_raise(void **state)
{
    (void)state;
    expr_rows_raise(errors, BZ_COUNTOF(errors));
}

static void calls_that_do_not_fit_are_left_to_python(void **state)
{
    (void)state;
    expr_rows_leave(unknown, BZ_COUNTOF(unknown), BZ_E_NOSUP);
}

static void rows_are_found_by_name(void **state)
{
    static const struct bz_expr_fn rows[] = {
        {.name = BZ_STR("a")}, {.name = BZ_STR("ab")}, {.name = BZ_STR("b")},
        {.name = BZ_STR("c")}, {.name = BZ_STR("cc")},
    };
    size_t i, n;

    (void)state;
    for (n = 0; n <= BZ_COUNTOF(rows); n++) {
        for (i = 0; i < BZ_COUNTOF(rows); i++)
            assert_ptr_equal(bz_expr_call_search(rows, n, rows[i].name),
                             i < n ? &rows[i] : NULL);
        assert_null(bz_expr_call_search(rows, n, BZ_STR("")));
        assert_null(bz_expr_call_search(rows, n, BZ_STR("aa")));
        assert_null(bz_expr_call_search(rows, n, BZ_STR("d")));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_are_placed_by_name),
        cmocka_unit_test(calls_without_a_literal_name_raise),
        cmocka_unit_test(calls_that_do_not_fit_are_left_to_python),
        cmocka_unit_test(rows_are_found_by_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
