#include "code/py_expr.h"

#include "tests/unit/code/py_rows.h"

static void operators_and_loops_have_the_calls_of_their_parts(void **state)
{
    static const struct py_row rows[] = {
        ROW("a() or b() or c()", "a b c"),
        ROW("a() or (b() or c())", "a b c"),
        ROW("a() and b() or c()", "c a b"),
        ROW("not a() and not not b()", "a b"),
        ROW("a() < b() <= c() != d()", "a b c d"),
        ROW("a() not in b() is not c()", "a b c"),
        ROW("a() if b() else c()", "b a c"),
        ROW("a() if b() else c() if d() else e()", "b a d c e"),
        ROW("a() | b() ^ c() & d() << e() + f() * g() @ h() // i() % j()",
            "a b c d e j i h f g"),
        ROW("-a() ** -b()", "a b"),
        ROW("~+-a()", "a"),
        ROW("await a() ** b()", "b a"),
        ROW("lambda: a()", "a"),
        ROW("lambda x: lambda y: a(b())", "a b"),
        ROW("a() if b() else lambda: c()", "b a c"),
        ROW("(x := a(), b())", "b a"),
        ROW("a(), *b(), c()", "a c b"),
        ROW("x = yield a(), b()", "a b"),
        ROW("x = yield from a()", "a"),
        ROW("x = yield", ""),
        ROW("[a() for x in b() if c() if d() for y in e()]", "a b c d e"),
        ROW("[a() async for x in b()]", "a b"),
        ROW("[a() for x, (y, *z[q()]) in b()]", "a b q"),
        ROW("{a() for x in b()}", "a b"),
        ROW("{a(): b() for x in c()}", "a b c"),
        ROW("(a() for x in b())", "a b"),
        ROW("a.b.c()", "a.b.c"),
        ROW("a().b().c()", "? ? a"),
        ROW("a()()", "? a"),
        ROW("a[b()].c()", "? b"),
        ROW("a() . b ( )", "? a"),
        ROW("(a.b)()", "a.b"),
        ROW("'x'.a(b())", "? b"),
        ROW("a(b)[c()](d())", "? d a c"),
        ROW("a\\\n.b()", "a.b"),
        ROW("a.b(\n# c()\n)", "a.b"),
        ROW("x = a(), ", "a"),
        ROW("a(b for b in c())", "a c"),
    };

    (void)state;
    py_rows_call(rows, BZ_COUNTOF(rows));
}

static void what_is_no_expression_is_refused(void **state)
{
    static const char *const codes[] = {
        "a +",
        "a b",
        "not",
        "a not b",
        "a == not b",
        "a or lambda: b",
        "a if b",
        "a if b else",
        "lambda",
        "lambda x y: 1",
        "x := 1",
        "(a.b := 1)",
        "((x) := 1)",
        "(lambda: x := 1)",
        "[a for]",
        "[a for b]",
        "[a for b in]",
        "[a for 1 in b]",
        "[a for f() in b]",
        "[*a for a in b]",
        "a.",
        "a.1",
        "a..b",
        "()()(",
        "yield from",
        "x = yield from",
        "*",
        "a, *",
        "a ? b",
        "$a",
        "a if b else c if d",
        "for",
        "a <> b",
        "a ! b",
        "-",
        "a is is b",
        "a = = b",
        "await",
        "1 + + ",
    };

    (void)state;
    py_rows_refuse(codes, BZ_COUNTOF(codes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_and_loops_have_the_calls_of_their_parts),
        cmocka_unit_test(what_is_no_expression_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
