#include "vars/expr_text.h"

#include "tests/unit/vars/expr_rows.h"

static const struct expr_row answers[] = {
    ROW("str(1)", "1"),
    ROW("str('a')", "a"),
    ROW("str(None)", "None"),
    ROW("str(True)", "True"),
    ROW("str([1, 'a'])", "[1, 'a']"),
    ROW("str(('a',))", "('a',)"),
    ROW("str({})", "{}"),
    ROW("str(set())", "set()"),
    ROW("repr('a')", "'a'"),
    ROW("repr(\"it's\")", "\"it's\""),
    ROW("repr('\"')", "'\"'"),
    ROW("repr('\\'\"')", "'\\'\"'"),
    ROW("repr('\\\\')", "'\\\\'"),
    ROW("repr('\\n\\t\\r\\x00\\x7f')", "'\\n\\t\\r\\x00\\x7f'"),
    ROW("[None, True, 1.5, 'a', (1,), {'k': 'v'}, {'s'}]",
        "[None, True, 1.5, 'a', (1,), {'k': 'v'}, {'s'}]"),
    ROW("str(1.0)", "1.0"),
    ROW("str(0.1)", "0.1"),
    ROW("str(1e100)", "1e+100"),
    ROW("str(1e-5)", "1e-05"),
    ROW("str(0.0001)", "0.0001"),
    ROW("str(123456.789)", "123456.789"),
    ROW("str(-1.5)", "-1.5"),
    ROW("str(1e22)", "1e+22"),
    ROW("str(5e-324)", "5e-324"),
    ROW("str(1.7976931348623157e308)", "1.7976931348623157e+308"),
    ROW("str(100000.0)", "100000.0"),
    ROW("str(1/3)", "0.3333333333333333"),
    ROW("str(U)", "h\xc3\xa9\xc3\xa9"),
    ROW("int('5')", "5"),
    ROW("int(' 5 ')", "5"),
    ROW("int('-5')", "-5"),
    ROW("int('+5')", "5"),
    ROW("int('0')", "0"),
    ROW("int('007')", "7"),
    ROW("int('1_0')", "10"),
    ROW("int(5.9)", "5"),
    ROW("int(-5.9)", "-5"),
    ROW("int(True)", "1"),
    ROW("int()", "0"),
    ROW("int('ff', 16)", "255"),
    ROW("int('0xff', 16)", "255"),
    ROW("int('0b11', 2)", "3"),
    ROW("int('0o17', 8)", "15"),
    ROW("int('0x1f', 0)", "31"),
    ROW("int('z', 36)", "35"),
    ROW("int('12', 0)", "12"),
    ROW("int('0', 0)", "0"),
    ROW("float('1.5')", "1.5"),
    ROW("float(' 2 ')", "2.0"),
    ROW("float('1e3')", "1000.0"),
    ROW("float('-.5')", "-0.5"),
    ROW("float('1_0.5')", "10.5"),
    ROW("float(3)", "3.0"),
    ROW("float(True)", "1.0"),
    ROW("float()", "0.0"),
    ROW("len(U)", "3"),
    ROW("U[1]", "\xc3\xa9"),
    ROW("U[1:]", "\xc3\xa9\xc3\xa9"),
    ROW("U[-1]", "\xc3\xa9"),
    ROW("len('')", "0"),
    ROW("''[0:]", ""),
    ROW("U[5:]", ""),
    ROW("U[:1]", "h"),
};

static const struct expr_row errors[] = {
    ROW("int('test')", "ValueError: invalid literal for int() with base 10: 'test'"),
    ROW("int('')", "ValueError: invalid literal for int() with base 10: ''"),
    ROW("int('1.5')", "ValueError: invalid literal for int() with base 10: '1.5'"),
    ROW("int('5', 99)", "ValueError: int() base must be >= 2 and <= 36, or 0"),
    ROW("int('1__0')", "ValueError: invalid literal for int() with base 10: '1__0'"),
    ROW("int('_1')", "ValueError: invalid literal for int() with base 10: '_1'"),
    ROW("int('010', 0)", "ValueError: invalid literal for int() with base 0: '010'"),
    ROW("int('0x', 16)", "ValueError: invalid literal for int() with base 16: '0x'"),
    ROW("int('0x0xff', 16)",
        "ValueError: invalid literal for int() with base 16: '0x0xff'"),
    ROW("int('- 5')", "ValueError: invalid literal for int() with base 10: '- 5'"),
    ROW("int(None)", "TypeError: int() argument must be a string, a bytes-like object "
                     "or a real number, not 'NoneType'"),
    ROW("int([])", "TypeError: int() argument must be a string, a bytes-like object or "
                   "a real number, not 'list'"),
    ROW("float('abc')", "ValueError: could not convert string to float: 'abc'"),
    ROW("float('')", "ValueError: could not convert string to float: ''"),
    ROW("float('1.5.2')", "ValueError: could not convert string to float: '1.5.2'"),
    ROW("float('1e')", "ValueError: could not convert string to float: '1e'"),
    ROW("float(None)", "TypeError: float() argument must be a string or a real number, "
                       "not 'NoneType'"),
    ROW("float('0x10')", "ValueError: could not convert string to float: '0x10'"),
};

static const char *const unknown[] = {
    "repr(U)",
    "[U]",
    "str(d)",
    "str(len)",
    "str(lambda: 1)",
    "str(range(3))",
    "str(x for x in 'a')",
    "int('\xd9\xa3')",
    "int('99999999999999999999')",
    "float('nan')",
    "float('infinity')",
    "U[::-1]",
};

static void values_are_shown_and_numbers_read_as_python_does(void **state)
{
    (void)state;
    expr_rows_give(answers, BZ_COUNTOF(answers));
}

static void what_is_no_number_raises(void **state)
{
    (void)state;
    expr_rows_raise(errors, BZ_COUNTOF(errors));
}

static void what_has_no_plain_text_is_left_to_python(void **state)
{
    (void)state;
    expr_rows_leave(unknown, BZ_COUNTOF(unknown), BZ_E_NOSUP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_shown_and_numbers_read_as_python_does),
        cmocka_unit_test(what_is_no_number_raises),
        cmocka_unit_test(what_has_no_plain_text_is_left_to_python),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
