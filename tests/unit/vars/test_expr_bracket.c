#include "vars/expr_bracket.h"

#include "tests/unit/vars/expr_rows.h"

static const struct expr_row answers[] = {
    ROW("()", "()"),
    ROW("(1)", "1"),
    ROW("(1,)", "(1,)"),
    ROW("(1, 2)", "(1, 2)"),
    ROW("((1, 2), 3)", "((1, 2), 3)"),
    ROW("[]", "[]"),
    ROW("[1, 2,]", "[1, 2]"),
    ROW("[[], [[]]]", "[[], [[]]]"),
    ROW("{}", "{}"),
    ROW("{1: 2,}", "{1: 2}"),
    ROW("{'a': {'b': {}}}", "{'a': {'b': {}}}"),
    ROW("{'x'}", "{'x'}"),
    ROW("[x for x in 'ab']", "['a', 'b']"),
    ROW("[(x) for (x) in 'ab']", "['a', 'b']"),
    ROW("[x for x, in [(1,)]]", "[1]"),
    ROW("[a + b for a, b in ['xy']]", "['xy']"),
    ROW("[a + b for (a, b) in ['xy']]", "['xy']"),
    ROW("[a for [a, b] in ['xy']]", "['x']"),
    ROW("[a + c for a, (b, c) in [('x', 'yz')]]", "['xz']"),
    ROW("[a for a, b, in ['xy']]", "['x']"),
    ROW("[[1] for x in 'ab']", "[[1], [1]]"),
    ROW("[x for x in [y for y in 'ab']]", "['a', 'b']"),
    ROW("[x for x in 'ab' if x == 'a' if True]", "['a']"),
    ROW("[x for x in 'ab' if (x if x else 1)]", "['a', 'b']"),
    ROW("{k: v for k, v in [('a', 1)]}", "{'a': 1}"),
    ROW("sorted({x for x in 'ba'})", "['a', 'b']"),
    ROW("list((x for x in 'ab'))", "['a', 'b']"),
    ROW("list(x for x in 'ab')", "['a', 'b']"),
    ROW("[x for x in 'a' 'b']", "['a', 'b']"),
    ROW("[x\n for x\n in 'ab']", "['a', 'b']"),
};

static const struct expr_row errors[] = {
    ROW("(1", "SyntaxError: invalid syntax"),
    ROW("[1", "SyntaxError: invalid syntax"),
    ROW("{1", "SyntaxError: invalid syntax"),
    ROW("{1: 2", "SyntaxError: invalid syntax"),
    ROW("{1:", "SyntaxError: invalid syntax"),
    ROW("[x for", "SyntaxError: invalid syntax"),
    ROW("[x for x", "SyntaxError: invalid syntax"),
    ROW("[x for x in", "SyntaxError: invalid syntax"),
    ROW("[x for x in 'a' if", "SyntaxError: invalid syntax"),
    ROW("(x for x in 'a'", "SyntaxError: invalid syntax"),
};

static const char *const unknown[] = {
    "[*A]",
    "{**d}",
    "(*A,)",
    "[x for x in]",
    "[x async for x in y]",
    "[x for x.y in z]",
    "[x for 1 in z]",
    "{x: y for x in z for}",
    "{1: 2, 3}",
    "{1, 2: 3}",
    "[1 2]",
    "(1; 2)",
    "[x for x in lambda: y]",
    "[x for *x in y]",
    "(1]",
    "[1)",
};

static void displays_and_comprehensions_are_read(void **state)
{
    (void)state;
    expr_rows_give(answers, BZ_COUNTOF(answers));
}

static void open_brackets_are_syntax_errors(void **state)
{
    (void)state;
    expr_rows_raise(errors, BZ_COUNTOF(errors));
}

static void odd_brackets_are_left_to_python(void **state)
{
    (void)state;
    expr_rows_leave(unknown, BZ_COUNTOF(unknown), BZ_E_NOSUP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(displays_and_comprehensions_are_read),
        cmocka_unit_test(open_brackets_are_syntax_errors),
        cmocka_unit_test(odd_brackets_are_left_to_python),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
