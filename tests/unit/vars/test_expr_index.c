#include "vars/expr_index.h"

#include "tests/unit/vars/expr_rows.h"

static const struct expr_row answers[] = {
    ROW("'abc'[0]", "a"),
    ROW("'abc'[-1]", "c"),
    ROW("[1, 2][1]", "2"),
    ROW("(1, 2)[-2]", "1"),
    ROW("'abc'[True]", "b"),
    ROW("['n', 'y'][B == 'b']", "y"),
    ROW("'abcdef'[1:3]", "bc"),
    ROW("'abcdef'[:2]", "ab"),
    ROW("'abcdef'[4:]", "ef"),
    ROW("'abcdef'[-2:]", "ef"),
    ROW("'abcdef'[:-1]", "abcde"),
    ROW("'abcdef'[::2]", "ace"),
    ROW("'abcdef'[::-1]", "fedcba"),
    ROW("'abcdef'[5:1:-2]", "fd"),
    ROW("'abcdef'[10:]", ""),
    ROW("'abcdef'[3:1]", ""),
    ROW("'abcdef'[-100:100]", "abcdef"),
    ROW("[1, 2, 3][1:]", "[2, 3]"),
    ROW("[1, 2, 3][::-1]", "[3, 2, 1]"),
    ROW("(1, 2, 3)[:2]", "(1, 2)"),
    ROW("[1, 2, 3][-1:0:-1]", "[3, 2]"),
    ROW("[][1:]", "[]"),
    ROW("'ab'[None:None]", "ab"),
    ROW("'abc'[::100]", "a"),
    ROW("'abc'[::-100]", "c"),
    ROW("d['B']", "b"),
    ROW("d['INNER']", "<${B}>"),
    ROW("[1, 2][0:1] + [3]", "[1, 3]"),
    ROW("PV.split('.')[0:2]", "['1', '2']"),
    ROW("U[1] == '\\u00e9'", "True"),
    ROW("U[-1] == '\\u00e9'", "True"),
    ROW("U[1:] == '\\u00e9\\u00e9'", "True"),
    ROW("U[:1]", "h"),
    ROW("U[5:]", ""),
    ROW("U[1:2] == '\\u00e9'", "True"),
};

static const struct expr_row errors[] = {
    ROW("'abc'[3]", "IndexError: string index out of range"),
    ROW("[1][5]", "IndexError: list index out of range"),
    ROW("()[0]", "IndexError: tuple index out of range"),
    ROW("[1][-2]", "IndexError: list index out of range"),
    ROW("''[0]", "IndexError: string index out of range"),
    ROW("'abc'['a']", "TypeError: string indices must be integers, not 'str'"),
    ROW("[1]['a']", "TypeError: list indices must be integers or slices, not str"),
    ROW("(1,)['a']", "TypeError: tuple indices must be integers or slices, not str"),
    ROW("None[0]", "TypeError: 'NoneType' object is not subscriptable"),
    ROW("5[0]", "TypeError: 'int' object is not subscriptable"),
    ROW("None['a']", "TypeError: 'NoneType' object is not subscriptable"),
    ROW("'abc'[None]", "TypeError: string indices must be integers, not 'NoneType'"),
    ROW("'abc'[::0]", "ValueError: slice step cannot be zero"),
    ROW("'abc'['a':]", "TypeError: slice indices must be integers or None or have an "
                       "__index__ method"),
    ROW("'abc'[1.5:]", "TypeError: slice indices must be integers or None or have an "
                       "__index__ method"),
    ROW("None[1:]", "TypeError: 'NoneType' object is not subscriptable"),
    ROW("5[1:]", "TypeError: 'int' object is not subscriptable"),
    ROW("d['NOPE']", "KeyError: 'NOPE'"),
    ROW("U[3]", "IndexError: string index out of range"),
};

static const char *const unknown[] = {
    "{}[1:]",
    "d[5]",
    "range(3)[0]",
    "U[::-1]",
};

static void subscripts_and_slices_take_what_python_takes(void **state)
{
    (void)state;
    expr_rows_give(answers, BZ_COUNTOF(answers));
}

static void bad_subscripts_raise(void **state)
{
    (void)state;
    expr_rows_raise(errors, BZ_COUNTOF(errors));
}

static void odd_subscripts_are_left_to_python(void **state)
{
    (void)state;
    expr_rows_leave(unknown, BZ_COUNTOF(unknown), BZ_E_NOSUP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(subscripts_and_slices_take_what_python_takes),
        cmocka_unit_test(bad_subscripts_raise),
        cmocka_unit_test(odd_subscripts_are_left_to_python),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
