#include "vars/expr_each.h"

#include "tests/unit/vars/expr_rows.h"

static const struct expr_row answers[] = {
    ROW("any([0, 1])", "True"),
    ROW("any([])", "False"),
    ROW("all([1, 1])", "True"),
    ROW("all([0])", "False"),
    ROW("all([])", "True"),
    ROW("any('a' in x for x in ['b', 'ab'])", "True"),
    ROW("all(x for x in [1, 0])", "False"),
    ROW("list(enumerate('ab'))", "[(0, 'a'), (1, 'b')]"),
    ROW("list(enumerate(['x'], 5))", "[(5, 'x')]"),
    ROW("list(enumerate('a', start=1))", "[(1, 'a')]"),
    ROW("list(filter(None, [0, 1, '', 'a']))", "[1, 'a']"),
    ROW("list(filter(lambda x: x > 1, [1, 2, 3]))", "[2, 3]"),
    ROW("list(filter(str, ['', 'x']))", "['x']"),
    ROW("' '.join(filter(lambda f: not f.startswith('-f'), '-fa -b'.split()))", "-b"),
    ROW("list(map(str, [1, 2]))", "['1', '2']"),
    ROW("list(map(int, ['1']))", "[1]"),
    ROW("list(map(lambda x: x * 2, [1, 2]))", "[2, 4]"),
    ROW("list(map(len, ['ab', '']))", "[2, 0]"),
    ROW("' '.join(map(lambda s: 'l-%s' % s, A.split()))", "l-a l-b l-c"),
    ROW("list(range(3))", "[0, 1, 2]"),
    ROW("list(range(1, 4))", "[1, 2, 3]"),
    ROW("list(range(5, 0, -2))", "[5, 3, 1]"),
    ROW("list(range(0))", "[]"),
    ROW("list(range(3, 1))", "[]"),
    ROW("len(range(10))", "10"),
    ROW("5 in range(10)", "True"),
    ROW("list(range(-2, 2))", "[-2, -1, 0, 1]"),
    ROW("''.join('a' for n in range(10))", "aaaaaaaaaa"),
    ROW("list(reversed([1, 2, 3]))", "[3, 2, 1]"),
    ROW("''.join(reversed('abc'))", "cba"),
    ROW("list(reversed((1, 2)))", "[2, 1]"),
    ROW("sum([1, 2, 3])", "6"),
    ROW("sum([])", "0"),
    ROW("sum([1], 5)", "6"),
    ROW("sum(x for x in range(5))", "10"),
    ROW("sum([[1], [2]], [])", "[1, 2]"),
    ROW("sum([True, 2])", "3"),
    ROW("sum([1], start=2)", "3"),
    ROW("list(zip('ab', [1, 2]))", "[('a', 1), ('b', 2)]"),
    ROW("list(zip('abc', 'x'))", "[('a', 'x')]"),
    ROW("list(zip())", "[]"),
    ROW("list(zip('a'))", "[('a',)]"),
    ROW("dict(zip('ab', [1, 2]))", "{'a': 1, 'b': 2}"),
    ROW("list(zip('ab', 'cd', 'ef'))", "[('a', 'c', 'e'), ('b', 'd', 'f')]"),
    ROW("max([1, 3, 2])", "3"),
    ROW("min([3, 1])", "1"),
    ROW("max(1, 2)", "2"),
    ROW("min('b', 'a')", "a"),
    ROW("max('abc')", "c"),
    ROW("max(['a', 'bb'])", "bb"),
    ROW("min(2, 1, 3)", "1"),
    ROW("max([1.5, 1])", "1.5"),
    ROW("max(1, True)", "1"),
    ROW("[list(x) for x in [(i for i in range(2))]]", "[[0, 1]]"),
};

static const struct expr_row errors[] = {
    ROW("any(5)", "TypeError: 'int' object is not iterable"),
    ROW("all(None)", "TypeError: 'NoneType' object is not iterable"),
    ROW("range(1, 2, 0)", "ValueError: range() arg 3 must not be zero"),
    ROW("range('a')", "TypeError: 'str' object cannot be interpreted as an integer"),
    ROW("sum(['a'])", "TypeError: unsupported operand type(s) for +: 'int' and 'str'"),
    ROW("sum(['a'], '')",
        "TypeError: sum() can't sum strings [use ''.join(seq) instead]"),
    ROW("sum(5)", "TypeError: 'int' object is not iterable"),
    ROW("zip(1)", "TypeError: 'int' object is not iterable"),
    ROW("max([])", "ValueError: max() arg is an empty sequence"),
    ROW("min('')", "ValueError: min() arg is an empty sequence"),
    ROW("max(1, 'a')",
        "TypeError: '>' not supported between instances of 'str' and 'int'"),
    ROW("max(5)", "TypeError: 'int' object is not iterable"),
    ROW("len(map(str, []))", "TypeError: object of type 'map' has no len()"),
    ROW("len(x for x in 'a')", "TypeError: object of type 'generator' has no len()"),
};

static const char *const unknown[] = {
    "list(map(int, ['x']))",
    "list(map(None, [1]))",
    "list(map(str.upper, ['a']))",
    "list(map(lambda x, y: x, [1], [2]))",
    "any(map(int, ['1', 'x']))",
    "any(1 / x for x in [1, 0])",
    "reversed(5)",
    "list(reversed(range(3)))",
    "sum([1.5])",
    "max([1], key=len)",
    "min([], default=1)",
    "[(list(g), list(g)) for g in [map(str, [1])]]",
    "next(iter([1]))",
};

static const char *const too_much[] = {
    "list(range(100000000))",
    "range(99999999999)",
};

static void functions_walk_what_they_are_given(void **state)
{
    (void)state;
    expr_rows_give(answers, BZ_COUNTOF(answers));
}

static void what_cannot_be_walked_raises(void **state)
{
    (void)state;
    expr_rows_raise(errors, BZ_COUNTOF(errors));
}

static void what_might_be_asked_for_less_is_left_to_python(void **state)
{
    (void)state;
    expr_rows_leave(unknown, BZ_COUNTOF(unknown), BZ_E_NOSUP);
}

static void too_much_work_is_refused(void **state)
{
    (void)state;
    expr_rows_leave(too_much, BZ_COUNTOF(too_much), BZ_E_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_walk_what_they_are_given),
        cmocka_unit_test(what_cannot_be_walked_raises),
        cmocka_unit_test(what_might_be_asked_for_less_is_left_to_python),
        cmocka_unit_test(too_much_work_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
