#include "vars/expr_op.h"

#include "tests/unit/vars/expr_rows.h"

static const struct expr_row answers[] = {
    ROW("5 + 3", "8"),
    ROW("5 - 8", "-3"),
    ROW("5 * 3", "15"),
    ROW("7 // 2", "3"),
    ROW("-7 // 2", "-4"),
    ROW("7 % 3", "1"),
    ROW("-7 % 3", "2"),
    ROW("7 % -3", "-2"),
    ROW("2 ** 10", "1024"),
    ROW("1 / 2", "0.5"),
    ROW("6 / 2", "3.0"),
    ROW("5 & 3", "1"),
    ROW("5 | 3", "7"),
    ROW("5 ^ 3", "6"),
    ROW("1 << 4", "16"),
    ROW("256 >> 4", "16"),
    ROW("~5", "-6"),
    ROW("True & False", "False"),
    ROW("True | 1", "1"),
    ROW("True ^ True", "False"),
    ROW("+5", "5"),
    ROW("-5", "-5"),
    ROW("+True", "1"),
    ROW("-True", "-1"),
    ROW("~True", "-2"),
    ROW("-1.5", "-1.5"),
    ROW("+1.5", "1.5"),
    ROW("1.5 + 1", "2.5"),
    ROW("1.5 * 2", "3.0"),
    ROW("1 - 0.5", "0.5"),
    ROW("1.5 / 0.5", "3.0"),
    ROW("'a' + 'b'", "ab"),
    ROW("'a' + ''", "a"),
    ROW("[1] + [2]", "[1, 2]"),
    ROW("(1,) + (2,)", "(1, 2)"),
    ROW("'ab' * 2", "abab"),
    ROW("2 * 'ab'", "abab"),
    ROW("'a' * 0", ""),
    ROW("'a' * -1", ""),
    ROW("[1] * 2", "[1, 1]"),
    ROW("(1,) * 2", "(1, 1)"),
    ROW("'' * 5", ""),
    ROW("1 < 2 == True", "False"),
    ROW("'a' '%s' % 'b' + 'c'", "abc"),
    ROW("True + True", "2"),
    ROW("True * 3", "3"),
    ROW("5 // True", "5"),
    ROW("'ab' < 'ac' < 'ad'", "True"),
};

static const struct expr_row errors[] = {
    ROW("5 // 0", "ZeroDivisionError: integer division or modulo by zero"),
    ROW("5 % 0", "ZeroDivisionError: integer modulo by zero"),
    ROW("5 / 0", "ZeroDivisionError: division by zero"),
    ROW("5.0 / 0", "ZeroDivisionError: float division by zero"),
    ROW("'a' + 1", "TypeError: can only concatenate str (not \"int\") to str"),
    ROW("'a' + None", "TypeError: can only concatenate str (not \"NoneType\") to str"),
    ROW("None + 'a'",
        "TypeError: unsupported operand type(s) for +: 'NoneType' and 'str'"),
    ROW("1 + 'a'", "TypeError: unsupported operand type(s) for +: 'int' and 'str'"),
    ROW("[1] + 'a'", "TypeError: can only concatenate list (not \"str\") to list"),
    ROW("[1] + (1,)", "TypeError: can only concatenate list (not \"tuple\") to list"),
    ROW("None + None",
        "TypeError: unsupported operand type(s) for +: 'NoneType' and 'NoneType'"),
    ROW("'a' - 'b'", "TypeError: unsupported operand type(s) for -: 'str' and 'str'"),
    ROW("[1] - [2]", "TypeError: unsupported operand type(s) for -: 'list' and 'list'"),
    ROW("'a' * 'b'", "TypeError: can't multiply sequence by non-int of type 'str'"),
    ROW("'a' * 1.5", "TypeError: can't multiply sequence by non-int of type 'float'"),
    ROW("None * 2",
        "TypeError: unsupported operand type(s) for *: 'NoneType' and 'int'"),
    ROW("[1] * 'a'", "TypeError: can't multiply sequence by non-int of type 'str'"),
    ROW("-'a'", "TypeError: bad operand type for unary -: 'str'"),
    ROW("~'a'", "TypeError: bad operand type for unary ~: 'str'"),
    ROW("-None", "TypeError: bad operand type for unary -: 'NoneType'"),
    ROW("~1.5", "TypeError: bad operand type for unary ~: 'float'"),
    ROW("'a' % 5", "TypeError: not all arguments converted during string formatting"),
    ROW("None % 5",
        "TypeError: unsupported operand type(s) for %: 'NoneType' and 'int'"),
    ROW("None ** 2",
        "TypeError: unsupported operand type(s) for ** or pow(): 'NoneType' and 'int'"),
};

static const char *const unknown[] = {
    "9223372036854775807 + 1",
    "-9223372036854775807 - 2",
    "3037000500 * 3037000500",
    "2 ** 64",
    "2 ** -1",
    "1 << 64",
    "1.5 // 1",
    "{} + {}",
    "d + 1",
    "len + 1",
};

static const char *const too_much[] = {
    "'abc' * 100000000",
    "[1] * 100000000",
};

static void operators_compute_as_in_python(void **state)
{
    (void)state;
    expr_rows_give(answers, BZ_COUNTOF(answers));
}

static void operands_of_the_wrong_type_raise(void **state)
{
    (void)state;
    expr_rows_raise(errors, BZ_COUNTOF(errors));
}

static void large_numbers_and_odd_operands_are_left_to_python(void **state)
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
        cmocka_unit_test(operators_compute_as_in_python),
        cmocka_unit_test(operands_of_the_wrong_type_raise),
        cmocka_unit_test(large_numbers_and_odd_operands_are_left_to_python),
        cmocka_unit_test(too_much_work_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
