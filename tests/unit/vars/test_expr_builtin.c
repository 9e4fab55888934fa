#include "vars/expr_builtin.h"

#include "tests/unit/vars/expr_rows.h"

static const struct expr_row answers[] = {
    ROW("len('abc')", "3"),
    ROW("len([1])", "1"),
    ROW("len({})", "0"),
    ROW("len(())", "0"),
    ROW("len({'a'})", "1"),
    ROW("len('\xc3\xa9')", "1"),
    ROW("abs(-5)", "5"),
    ROW("abs(5)", "5"),
    ROW("abs(-1.5)", "1.5"),
    ROW("abs(True)", "1"),
    ROW("bin(5)", "0b101"),
    ROW("oct(8)", "0o10"),
    ROW("hex(255)", "0xff"),
    ROW("hex(-255)", "-0xff"),
    ROW("bin(0)", "0b0"),
    ROW("hex(True)", "0x1"),
    ROW("chr(65)", "A"),
    ROW("ord('A')", "65"),
    ROW("list('ab')", "['a', 'b']"),
    ROW("list((1,))", "[1]"),
    ROW("list()", "[]"),
    ROW("tuple([1])", "(1,)"),
    ROW("tuple()", "()"),
    ROW("tuple('ab')", "('a', 'b')"),
    ROW("list({'a': 1})", "['a']"),
    ROW("list(set())", "[]"),
    ROW("isinstance('a', str)", "True"),
    ROW("isinstance(1, int)", "True"),
    ROW("isinstance(True, int)", "True"),
    ROW("isinstance(1, bool)", "False"),
    ROW("isinstance([], list)", "True"),
    ROW("isinstance({}, dict)", "True"),
    ROW("isinstance((), tuple)", "True"),
    ROW("isinstance(1.5, float)", "True"),
    ROW("isinstance(None, str)", "False"),
    ROW("isinstance(set(), set)", "True"),
    ROW("bool('x')", "True"),
    ROW("bool()", "False"),
    ROW("str()", ""),
    ROW("repr('a')", "'a'"),
    ROW("repr(5)", "5"),
    ROW("B", "b"),
    ROW("INNER", "<b>"),
    ROW("E", ""),
    ROW("E or 'empty'", "empty"),
    ROW("A.split()[0] + B", "ab"),
    ROW("int(N) + 1", "6"),
};

static const struct expr_row errors[] = {
    ROW("len(5)", "TypeError: object of type 'int' has no len()"),
    ROW("len(None)", "TypeError: object of type 'NoneType' has no len()"),
    ROW("abs('a')", "TypeError: bad operand type for abs(): 'str'"),
    ROW("hex('a')", "TypeError: 'str' object cannot be interpreted as an integer"),
    ROW("list(5)", "TypeError: 'int' object is not iterable"),
    ROW("tuple(None)", "TypeError: 'NoneType' object is not iterable"),
};

static const char *const unknown[] = {
    "len(d)",
    "chr(300)",
    "chr(-1)",
    "ord('ab')",
    "ord('\xc3\xa9')",
    "isinstance('a', (str, int))",
    "isinstance('a', d)",
    "print('x')",
    "open('x')",
    "eval('1')",
    "type('a')",
    "hash('a')",
    "open",
    "id",
    "sys",
    "__import__('os')",
    "format(5)",
    "round(1.5)",
    "getattr('a', 'b')",
    "len()",
    "len(1, 2)",
    "len(x=1)",
    "str(1, 2)",
    "NOPE",
    "nope()",
    "B()",
    "nope.x",
    "os",
    "bb",
    "oe.nope",
    "os.sep",
    "bb.nope('x')",
    "max",
};

static void builtin_functions_answer_as_in_python(void **state)
{
    (void)state;
    expr_rows_give(answers, BZ_COUNTOF(answers));
}

static void wrong_arguments_raise(void **state)
{
    (void)state;
    expr_rows_raise(errors, BZ_COUNTOF(errors));
}

static void other_builtins_are_left_to_python(void **state)
{
    (void)state;
    expr_rows_leave(unknown, BZ_COUNTOF(unknown), BZ_E_NOSUP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builtin_functions_answer_as_in_python),
        cmocka_unit_test(wrong_arguments_raise),
        cmocka_unit_test(other_builtins_are_left_to_python),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
