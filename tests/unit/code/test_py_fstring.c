#include "code/py_fstring.h"

#include "tests/unit/code/py_rows.h"

static void fields_have_calls_and_braces_that_are_doubled_have_none(void **state)
{
    static const struct py_row rows[] = {
        ROW("f'{a()}'", "a"),
        ROW("f'{a()!r:>{b()}}'", "a b"),
        ROW("f'{a():{b()}{c()}} {d()}'", "a d b c"),
        ROW("'a' f'{b()}' 'c' f'{d()}'", "b d"),
        ROW("f'{{a()}}'", ""),
        ROW("f'{{{a()}}}'", "a"),
        ROW("rf'\\{a()}'", "a"),
        ROW("f'\\{a()}'", "a"),
        ROW("f'\\\\{a()}'", "a"),
        ROW("f'\\N{DIGIT ONE}{a()}'", "a"),
        ROW("f'{a()=}'", "a"),
        ROW("f'{a() = !s}'", "a"),
        ROW("f'{x:=5}{a()}'", "a"),
        ROW("f'{x!=y}{a()}'", "a"),
        ROW("f'{x[\"k\"]}{a()}'", "a"),
        ROW("f\"{d['x'](a())}\"", "? a"),
        ROW("f'''\n{\na()\n}\n'''", "a"),
        ROW("f'{(lambda x: a())()}'", "? a"),
        ROW("f'{ {a(): b()}[c()] }'", "c a b"),
        ROW("f'{a(), b()}'", "a b"),
        ROW("f'{*a(), }'", "a"),
        ROW("f'{yield a()}'", "a"),
        ROW("F'{a()}' fR'{b()}' RF'{c()}'", "a b c"),
        ROW("f'{f\"{a()}\"}'", "a"),
        ROW("f''", ""),
        ROW("f'no field'", ""),
        ROW("u'a' 'b'", ""),
        ROW("b'a' rb'b' Br'c'", ""),
        ROW("f'{a():%H:%M}'", "a"),
    };

    (void)state;
    py_rows_call(rows, BZ_COUNTOF(rows));
}

static void strings_that_are_cut_short_are_refused(void **state)
{
    static const char *const codes[] = {
        "f'{'",      "f'{}'",     "f'}'",          "f'{a'",      "f'{a!}'",  "f'{a!x}'",
        "f'{a b}'",  "f'{a:{b}'", "f'{!r}'",       "f'{a)}'",    "'a' b'b'", "b'é'",
        "'\\x1'",    "'\\u12'",   "'\\U00110000'", "'\\N'",      "'\\N{}'",  "b'\\x'",
        "f'\\x1'",   "'a",        "'a\nb'",        "'''a",       "f'a",      "f'''a",
        "f'{a:\n}'", "fb'a'",     "bu'a'",         "ur'a'",      "'\\",      "f'{a} }'",
        "f'{a=b}'",  "f'{:a}'",   "f'{,}'",        "f'{a!r!s}'",
    };

    (void)state;
    py_rows_refuse(codes, BZ_COUNTOF(codes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_have_calls_and_braces_that_are_doubled_have_none),
        cmocka_unit_test(strings_that_are_cut_short_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
