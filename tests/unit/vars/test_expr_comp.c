#include "vars/expr_comp.h"

#include "tests/unit/vars/expr_rows.h"

static const struct expr_row answers[] = {
    ROW("[x for x in 'abc']", "['a', 'b', 'c']"),
    ROW("[x.upper() for x in A.split()]", "['A', 'B', 'C']"),
    ROW("[x for x in [1, 2, 3] if x > 1]", "[2, 3]"),
    ROW("[x * y for x in [1, 2] for y in [3, 4]]", "[3, 4, 6, 8]"),
    ROW("[(x, y) for x, y in [('a', 1), ('b', 2)]]", "[('a', 1), ('b', 2)]"),
    ROW("[x for x, in [(1,)]]", "[1]"),
    ROW("[a + b for (a, b) in ['xy']]", "['xy']"),
    ROW("[x for [x, y] in ['pq']]", "['p']"),
    ROW("[x for x in []]", "[]"),
    ROW("[0 for x in 'aa']", "[0, 0]"),
    ROW("[[x, y] for x in 'ab' for y in x]", "[['a', 'a'], ['b', 'b']]"),
    ROW("[x for x in 'abc' if x != 'a' if x != 'c']", "['b']"),
    ROW("[y for x in [[1, 2], [3]] for y in x]", "[1, 2, 3]"),
    ROW("{x: len(x) for x in A.split()}", "{'a': 1, 'b': 1, 'c': 1}"),
    ROW("sorted({x for x in 'aab'})", "['a', 'b']"),
    ROW("{k: v for k, v in {'a': 1}.items()}", "{'a': 1}"),
    ROW("list(x for x in 'ab')", "['a', 'b']"),
    ROW("' '.join(['%s_%s=\"%s\";' % (a, n, d.getVar('%s_%s' % (a, n))) for a in 'X "
        "Y'.split() for n in d.getVar('A').split()])",
        "X_a=\"None\"; X_b=\"None\"; X_c=\"None\"; Y_a=\"None\"; Y_b=\"None\"; "
        "Y_c=\"None\";"),
    ROW("[d for d in 'ab']", "['a', 'b']"),
    ROW("[d.getVar('B') for x in 'a']", "['b']"),
    ROW("[len(x) for x in ['a']]", "[1]"),
    ROW("[bb.utils.contains('A', x, '1', '0', d) for x in ['a', 'z']]", "['1', '0']"),
    ROW("[x for x in A]", "['a', ' ', 'b', ' ', 'c']"),
    ROW("[nope for x in []]", "[]"),
    ROW("[x for x, (y, z) in [('a', 'bc')]]", "['a']"),
    ROW("[(lambda: x)() for x in 'ab']", "['a', 'b']"),
    ROW("[f() for f in [lambda: x for x in 'ab']]", "['b', 'b']"),
    ROW("(lambda x: [x + y for y in 'ab'])('q')", "['qa', 'qb']"),
    ROW("[x for x in 'abc'][1]", "b"),
    ROW("[x for x in [0]] or 'empty'", "[0]"),
    ROW("[x for x in range(3) for x in range(x)]", "[0, 0, 1]"),
    ROW("[bb for bb in 'ab']", "['a', 'b']"),
    ROW("[str(i) for i, c in enumerate('ab')]", "['0', '1']"),
    ROW("sum(1 for x in A.split() if x)", "3"),
};

static const struct expr_row errors[] = {
    ROW("[x for x in 5]", "TypeError: 'int' object is not iterable"),
    ROW("[x for x in None]", "TypeError: 'NoneType' object is not iterable"),
    ROW("[x for x, y in ['a']]",
        "ValueError: not enough values to unpack (expected 2, got 1)"),
    ROW("[x for x, y in ['abc']]",
        "ValueError: too many values to unpack (expected 2)"),
    ROW("[x for x, y in [1]]", "TypeError: cannot unpack non-iterable int object"),
};

static const char *const unknown[] = {
    "[B for x in 'a']",    "[x for x in 'a' if B]", "[y for x in 'ab' for y in y]",
    "[nope for x in 'a']", "(lambda x: x)(1, 2)",   "(lambda x: B)(1)",
    "(x for x in 'ab')",
};

static const char *const too_much[] = {
    "(lambda f: f(f))(lambda f: f(f))",
    "[x for x in range(1000) for y in range(1000) for z in range(1000)]",
};

static void comprehensions_bind_their_names(void **state)
{
    (void)state;
    expr_rows_give(answers, BZ_COUNTOF(answers));
}

static void what_cannot_be_unpacked_raises(void **state)
{
    (void)state;
    expr_rows_raise(errors, BZ_COUNTOF(errors));
}

static void variables_inside_are_left_to_python(void **state)
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
        cmocka_unit_test(comprehensions_bind_their_names),
        cmocka_unit_test(what_cannot_be_unpacked_raises),
        cmocka_unit_test(variables_inside_are_left_to_python),
        cmocka_unit_test(too_much_work_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
