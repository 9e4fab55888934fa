#include "vars/expr_format.h"

#include "tests/unit/vars/expr_rows.h"

static const struct expr_row answers[] = {
    ROW("'%s' % 'a'", "a"),
    ROW("'%s-%s' % ('a', 1)", "a-1"),
    ROW("'%d' % 5", "5"),
    ROW("'%s' % None", "None"),
    ROW("'%s' % [1]", "[1]"),
    ROW("'%s' % (('a', 'b'),)", "('a', 'b')"),
    ROW("'%%' % ()", "%"),
    ROW("'%s%%' % 5", "5%"),
    ROW("'100%% %s' % 'x'", "100% x"),
    ROW("'%5s|%-5s|%05d|%+d|% d|%x|%X|%o|%.2s|%5.1s|%3d|%-3d|' % ('a', 'b', 42, 5, 5, "
        "255, 255, 8, 'abc', 'xyz', 7, 7)",
        "    a|b    |00042|+5| 5|ff|FF|10|ab|    x|  7|7  |"),
    ROW("'%r' % 'a'", "'a'"),
    ROW("'%r' % (\"it's\",)", "\"it's\""),
    ROW("'%i' % 5", "5"),
    ROW("'%u' % 5", "5"),
    ROW("'%d' % True", "1"),
    ROW("'%s' % True", "True"),
    ROW("'%s' % 1.5", "1.5"),
    ROW("'%x' % 0", "0"),
    ROW("'%d' % -5", "-5"),
    ROW("'%05d' % -42", "-0042"),
    ROW("'%+05d' % 42", "+0042"),
    ROW("'%.5d' % 42", "00042"),
    ROW("'%8.5d' % 42", "   00042"),
    ROW("'%-8d|' % 42", "42      |"),
    ROW("'%-08d|' % 42", "42      |"),
    ROW("'%x' % -255", "-ff"),
    ROW("'%(a)s %(b)d' % {'a': 'x', 'b': 5}", "x 5"),
    ROW("'%(a)s' % {'a': 1, 'c': 2}", "1"),
    ROW("'plain' % {}", "plain"),
    ROW("'plain' % {'a': 1}", "plain"),
    ROW("'plain' % []", "plain"),
    ROW("'plain' % ()", "plain"),
    ROW("'%.3s' % U", "h\xc3\xa9\xc3\xa9"),
    ROW("'%4s|' % U", " h\xc3\xa9\xc3\xa9|"),
    ROW("'{}'.format('a')", "a"),
    ROW("'{} {}'.format('a', 1)", "a 1"),
    ROW("'{0} {1} {0}'.format('a', 'b')", "a b a"),
    ROW("'{{}}'.format()", "{}"),
    ROW("'x{}y'.format(None)", "xNoney"),
    ROW("'{}'.format([1])", "[1]"),
    ROW("'{{'.format()", "{"),
    ROW("'w%dT%d.zstdio' % (int(N), int('8'))", "w5T8.zstdio"),
    ROW("'%s' % B if B else ''", "b"),
    ROW("'%s_%s' % tuple(A.split()[:2])", "a_b"),
};

static const struct expr_row errors[] = {
    ROW("'%(x)s' % {}", "KeyError: 'x'"),
    ROW("'%s' % ()", "TypeError: not enough arguments for format string"),
    ROW("'%s %s' % 'a'", "TypeError: not enough arguments for format string"),
    ROW("'%s %s' % ('a',)", "TypeError: not enough arguments for format string"),
    ROW("'%s' % ('a', 'b')",
        "TypeError: not all arguments converted during string formatting"),
    ROW("'plain' % 'a'",
        "TypeError: not all arguments converted during string formatting"),
    ROW("'plain' % 5",
        "TypeError: not all arguments converted during string formatting"),
    ROW("'%d' % 'a'", "TypeError: %d format: a real number is required, not str"),
    ROW("'%d' % None", "TypeError: %d format: a real number is required, not NoneType"),
    ROW("'%x' % 'a'", "TypeError: %x format: an integer is required, not str"),
    ROW("'%' % 5", "ValueError: incomplete format"),
    ROW("'{}'.format()",
        "IndexError: Replacement index 0 out of range for positional args tuple"),
    ROW("'{1}'.format('a')",
        "IndexError: Replacement index 1 out of range for positional args tuple"),
    ROW("'}'.format()", "ValueError: Single '}' encountered in format string"),
    ROW("'{}}'.format(1)", "ValueError: Single '}' encountered in format string"),
};

static const char *const unknown[] = {
    "'%x' % 1.5",           "'%d' % 1.5",
    "'%f' % 1.5",           "'%c' % 'a'",
    "'%*d' % (5, 1)",       "'%z' % 5",
    "'%5%' % ()",           "'%s' % {1, 2}",
    "'%200000d' % 5",       "'%99999999999s' % 5",
    "'%(a)s' % 'x'",        "'%(a' % {}",
    "'{} {0}'.format('a')", "'{0} {}'.format('a')",
    "'{a}'.format(a=1)",    "'{:>5}'.format('a')",
    "'{!r}'.format('a')",   "'{0.x}'.format('a')",
    "'{'.format()",         "'%s' % d",
};

static void patterns_are_filled_in(void **state)
{
    (void)state;
    expr_rows_give(answers, BZ_COUNTOF(answers));
}

static void patterns_and_arguments_have_to_agree(void **state)
{
    (void)state;
    expr_rows_raise(errors, BZ_COUNTOF(errors));
}

static void rare_formats_are_left_to_python(void **state)
{
    (void)state;
    expr_rows_leave(unknown, BZ_COUNTOF(unknown), BZ_E_NOSUP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_are_filled_in),
        cmocka_unit_test(patterns_and_arguments_have_to_agree),
        cmocka_unit_test(rare_formats_are_left_to_python),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
