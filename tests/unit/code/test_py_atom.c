#include "code/py_atom.h"

#include "tests/unit/code/py_rows.h"

static void brackets_have_the_calls_that_stand_in_them(void **state)
{
    static const struct py_row rows[] = {
        ROW("()", ""),
        ROW("(a(),)", "a"),
        ROW("(a())", "a"),
        ROW("(a(), b(), )", "a b"),
        ROW("(a() for x in y)", "a"),
        ROW("(yield)", ""),
        ROW("(yield a())", "a"),
        ROW("[]", ""),
        ROW("[a(), *b()]", "a b"),
        ROW("[a(), ]", "a"),
        ROW("{}", ""),
        ROW("{a(): b(), c(): d()}", "a c b d"),
        ROW("{**a(), b(): c()}", "b a c"),
        ROW("{a(), *b(), }", "a b"),
        ROW("{a() if b() else c(): d()}", "d b a c"),
        ROW("{a(): b() for c in d() if e()}", "a b d e"),
        ROW("[x := a(), b()]", "b a"),
        ROW("{x := a()}", "a"),
        ROW("None, True, False, ..., 1, 1.5, 0x1f, 1j, 'a', b'b'", ""),
        ROW("((((a()))))", "a"),
        ROW("[[a()], (b(),), {c()}]", "a b c"),
        ROW("{1: a(), 2: b(), **c(),}", "a b c"),
    };

    (void)state;
    py_rows_call(rows, BZ_COUNTOF(rows));
}

static void brackets_that_do_not_match_are_refused(void **state)
{
    static const char *const codes[] = {
        "(",
        "(a",
        "(a,",
        "(,)",
        "[,]",
        "{,}",
        "{a: b, c}",
        "{a, b: c}",
        "{**a for a in b}",
        "{a: *b}",
        "{*a: b}",
        "(*a)",
        "(a for a in b, c)",
        "[a b]",
        "{a: b c}",
        "(a]",
        "[a)",
        "{a)",
        ")",
        "a]",
        "(a))",
        "{a:}",
        "{:a}",
        "[*]",
        "(yield",
        "{a: b for}",
        "(x := )",
        "{a: b,, c: d}",
    };

    (void)state;
    py_rows_refuse(codes, BZ_COUNTOF(codes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(brackets_have_the_calls_that_stand_in_them),
        cmocka_unit_test(brackets_that_do_not_match_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
