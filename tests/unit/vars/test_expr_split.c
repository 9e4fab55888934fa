#include "vars/expr_split.h"

#include "tests/unit/vars/expr_rows.h"

static const struct expr_row answers[] = {
    ROW("'a b  c'.split()", "['a', 'b', 'c']"),
    ROW("' a '.split()", "['a']"),
    ROW("''.split()", "[]"),
    ROW("'   '.split()", "[]"),
    ROW("'a,b,,c'.split(',')", "['a', 'b', '', 'c']"),
    ROW("''.split(',')", "['']"),
    ROW("','.split(',')", "['', '']"),
    ROW("'abc'.split('b')", "['a', 'c']"),
    ROW("'aXXbXXc'.split('XX')", "['a', 'b', 'c']"),
    ROW("'abc'.split('x')", "['abc']"),
    ROW("'a b c'.split(None, 1)", "['a', 'b c']"),
    ROW("'a b c '.split(None, 1)", "['a', 'b c ']"),
    ROW("' a  b c'.split(None, 0)", "['a  b c']"),
    ROW("'a,b,c'.split(',', 1)", "['a', 'b,c']"),
    ROW("'a,b,c'.split(',', 0)", "['a,b,c']"),
    ROW("'a,b,c'.split(',', -1)", "['a', 'b', 'c']"),
    ROW("'a b c'.split(maxsplit=1)", "['a', 'b c']"),
    ROW("'a,b'.split(sep=',')", "['a', 'b']"),
    ROW("'a b'.split(None, 5)", "['a', 'b']"),
    ROW("'a b c'.rsplit()", "['a', 'b', 'c']"),
    ROW("'a b c'.rsplit(None, 1)", "['a b', 'c']"),
    ROW("' a b c '.rsplit(None, 1)", "[' a b', 'c']"),
    ROW("'a  b  c'.rsplit(None, 2)", "['a', 'b', 'c']"),
    ROW("' a b'.rsplit(None, 2)", "['a', 'b']"),
    ROW("'a,b,c'.rsplit(',', 1)", "['a,b', 'c']"),
    ROW("'a,b,c'.rsplit(',')", "['a', 'b', 'c']"),
    ROW("'abc'.rsplit('x', 1)", "['abc']"),
    ROW("'a b'.rsplit(None, 0)", "['a b']"),
    ROW("'aXXbXXc'.rsplit('XX', 1)", "['aXXb', 'c']"),
    ROW("''.rsplit(None, 1)", "[]"),
    ROW("'aXXXb'.rsplit('XX', 1)", "['aX', 'b']"),
    ROW("'a\\nb\\r\\nc\\rd'.splitlines()", "['a', 'b', 'c', 'd']"),
    ROW("''.splitlines()", "[]"),
    ROW("'\\n'.splitlines()", "['']"),
    ROW("'a\\n\\nb'.splitlines()", "['a', '', 'b']"),
    ROW("'a\\n'.splitlines(True)", "['a\\n']"),
    ROW("'a\\x0bb\\x0cc\\x1cd'.splitlines()", "['a', 'b', 'c', 'd']"),
    ROW("'a\\u2028b'.splitlines() == ['a', 'b']", "True"),
    ROW("'a\\u0085b'.splitlines(keepends=True) == ['a\\u0085', 'b']", "True"),
    ROW("'a=b=c'.partition('=')", "('a', '=', 'b=c')"),
    ROW("'a=b=c'.rpartition('=')", "('a=b', '=', 'c')"),
    ROW("'abc'.partition('=')", "('abc', '', '')"),
    ROW("'abc'.rpartition('=')", "('', '', 'abc')"),
    ROW("'='.partition('=')", "('', '=', '')"),
    ROW("'aXXXb'.rpartition('XX')", "('aX', 'XX', 'b')"),
    ROW("'a b'.split(' ')[1]", "b"),
    ROW("'a\\u3000b'.split()[1]", "b"),
    ROW("'a\\u00a0b'.split()", "['a', 'b']"),
    ROW("PV.split('.')[0]", "1"),
    ROW("PV.rsplit('.', 1)[0]", "1.2"),
    ROW("'a:b'.split(':')[-1]", "b"),
    ROW("'1.2.3.4'.split('.', 2)", "['1', '2', '3.4']"),
    ROW("'a'.split(',', maxsplit=1)", "['a']"),
    ROW("'a'.split(None, maxsplit=-1)", "['a']"),
};

static const struct expr_row errors[] = {
    ROW("'a'.split('')", "ValueError: empty separator"),
    ROW("'a'.split(5)", "TypeError: must be str or None, not int"),
    ROW("'a'.partition('')", "ValueError: empty separator"),
    ROW("'a'.partition(5)", "TypeError: must be str, not int"),
    ROW("'a'.rpartition(None)", "TypeError: must be str, not NoneType"),
    ROW("A.split()[5]", "IndexError: list index out of range"),
};

static const char *const unknown[] = {
    "'a'.split(',', 'x')",
    "'a'.split(',', 1, 2)",
    "'x'.split(nope=1)",
    "'a'.split(',', sep=',')",
};

static void strings_are_split_as_in_python(void **state)
{
    (void)state;
    expr_rows_give(answers, BZ_COUNTOF(answers));
}

static void bad_separators_raise(void **state)
{
    (void)state;
    expr_rows_raise(errors, BZ_COUNTOF(errors));
}

static void odd_calls_are_left_to_python(void **state)
{
    (void)state;
    expr_rows_leave(unknown, BZ_COUNTOF(unknown), BZ_E_NOSUP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_are_split_as_in_python),
        cmocka_unit_test(bad_separators_raise),
        cmocka_unit_test(odd_calls_are_left_to_python),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
