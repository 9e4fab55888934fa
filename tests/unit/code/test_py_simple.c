#include "code/py_simple.h"

#include "tests/unit/code/py_rows.h"

static void simple_statements_have_the_calls_of_their_parts(void **state)
{
    static const struct py_row rows[] = {
        ROW("a(); b();", "a b"),
        ROW("x = y = a()", "a"),
        ROW("x, *y = a()", "a"),
        ROW("x[a()] = b()", "b a"),
        ROW("x.y += a()", "a"),
        ROW("x: a() = b()", "a b"),
        ROW("x: a()", "a"),
        ROW("(x): a()", "a"),
        ROW("x.y: a()", "a"),
        ROW("return a(), b()", "a b"),
        ROW("raise", ""),
        ROW("raise a() from b()", "a b"),
        ROW("assert a(), b()", "a b"),
        ROW("del a()[b()], c().d", "a b c"),
        ROW("del (a().x, b().y)", "a b"),
        ROW("del x", ""),
        ROW("global a, b", ""),
        ROW("nonlocal a", ""),
        ROW("pass", ""),
        ROW("break; continue", ""),
        ROW("import a.b as c, d", ""),
        ROW("from . import a", ""),
        ROW("from ...a.b import (c as d, e,)", ""),
        ROW("from a import *", ""),
        ROW("from .a import b", ""),
        ROW("print(a(), end=b())", "print a b"),
        ROW("x = yield a()", "a"),
        ROW("x += yield a()", "a"),
        ROW("x: y = yield a()", "a"),
        ROW("*a(), b()", "b a"),
        ROW("[x, (y, z)] = a()", "a"),
        ROW("x = *a(), b()", "b a"),
        ROW("a()\n\n# c()\n\nb()", "a b"),
        ROW("for x in *a(), b(): c()", "b c a"),
        ROW("x @= a()", "a"),
        ROW("a = b = c, d = e()", "e"),
    };

    (void)state;
    py_rows_call(rows, BZ_COUNTOF(rows));
}

static void statements_that_say_nothing_are_refused(void **state)
{
    static const char *const codes[] = {
        "a() = 1",
        "1 = a",
        "a + b = 1",
        "a() += 1",
        "(a, b) += 1",
        "a, b: int",
        "[a]: int",
        "None = 1",
        "f'{a}' = 1",
        "x = = 1",
        "x = 1 = ",
        "x = yield = 1",
        "return return",
        "raise from a",
        "raise a from",
        "assert",
        "del",
        "del a()",
        "del *a",
        "del 1",
        "global",
        "global a.b",
        "import",
        "import a.b.",
        "import a as",
        "import a,",
        "from import a",
        "from a import",
        "from a import b,",
        "from a import (b",
        "from a import ()",
        "from a import *, b",
        "pass pass",
        "a; ; b",
        "; a",
        "print 'a'",
        "exec 'a'",
        "a b = c",
        "x: int: int",
        "(x := 1) = 2",
        "a if b else c = 1",
        "raise a, b",
        "lambda: x = 1",
        "x = pass",
    };

    (void)state;
    py_rows_refuse(codes, BZ_COUNTOF(codes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simple_statements_have_the_calls_of_their_parts),
        cmocka_unit_test(statements_that_say_nothing_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
