#include "code/py_pattern.h"

#include "tests/unit/code/py_rows.h"

static void only_what_is_not_a_pattern_has_calls(void **state)
{
    static const struct py_row rows[] = {
        ROW("match a():\n  case 1 | -2 | 3+4j | -1.5-2j: b()", "a b"),
        ROW("match a, *b():\n  case [x, *y]: c()", "b c"),
        ROW("match a(),:\n  case (x, y) as z: b()", "a b"),
        ROW("match a:\n  case {'k': x, 1: [y], b.c: z, **rest}: d()", "d"),
        ROW("match a:\n  case {}: b()", "b"),
        ROW("match a:\n  case B(): c()\n  case b.C(1, x=D(), y=[z]): e()", "c e"),
        ROW("match a:\n  case x, *y if b(): c()", "b c"),
        ROW("match a:\n  case x, : b()", "b"),
        ROW("match a:\n  case *x, y: b()", "b"),
        ROW("match a:\n  case None | True | False | 'a' 'b': b()", "b"),
        ROW("match a:\n  case (x): b()\n  case (): c()\n  case []: d()", "b c d"),
        ROW("match x := a():\n  case _: b()", "a b"),
        ROW("match a:\n  case B(c, ): d()", "d"),
        ROW("match a:\n  case {'k': v, }: b()", "b"),
        ROW("match a:\n  case (1 | 2) as x: b()", "b"),
    };

    (void)state;
    py_rows_call(rows, BZ_COUNTOF(rows));
}

static void patterns_that_are_none_are_refused(void **state)
{
    static const char *const codes[] = {
        "match a:\n  case: b",           "match a:\n  case f() + 1: b",
        "match a:\n  case -x: b",        "match a:\n  case x.1: b",
        "match a:\n  case {x: y}: b",    "match a:\n  case {**x, 'a': 1}: b",
        "match a:\n  case B(x=1, y): c", "match a:\n  case [x: b",
        "match a:\n  case x as 1: b",    "match a:\n  case x |: b",
        "match a:\n  case 1 +: b",       "match a:\n  case **x: b",
        "match a:\n  case x if: b",      "match a:\n  case x y: b",
        "match a:\n  case {'k'}: b",     "match a:\n  case *: b",
        "match a:\n  case B(x=): c",     "match a:\n  case *x: b",
        "match a:\n  case 1+2: b",       "match a:\n  case (*x): b",
        "match a:\n  case B(*x): b",     "match a:\n  case x as y as z: b",
        "match a:\n  case *_ | x: b",    "match a:\n  case x as _: b",
    };

    (void)state;
    py_rows_refuse(codes, BZ_COUNTOF(codes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_is_not_a_pattern_has_calls),
        cmocka_unit_test(patterns_that_are_none_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
