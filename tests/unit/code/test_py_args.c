#include "code/py_args.h"

#include "tests/unit/code/py_rows.h"

static void arguments_come_before_keywords_and_defaults_last(void **state)
{
    static const struct py_row rows[] = {
        ROW("f(a(), *b(), k=c(), **d())", "f a b c d"),
        ROW("f(k=a(), *b())", "f b a"),
        ROW("f(a(), b(),)", "f a b"),
        ROW("f(x := a())", "f a"),
        ROW("f(a() for b in c())", "f a c"),
        ROW("f((a() for b in c()), d())", "f d a c"),
        ROW("f(*a() or b())", "f a b"),
        ROW("f(**a() or b(), k=c())", "f c a b"),
        ROW("x[a()]", "a"),
        ROW("x[a():b():c()]", "a b c"),
        ROW("x[:]", ""),
        ROW("x[::a()]", "a"),
        ROW("x[a(), b():c(), ...]", "a b c"),
        ROW("x[*a()]", "a"),
        ROW("x[*a(), b()]", "b a"),
        ROW("x[y := a()]", "a"),
        ROW("x[a(),]", "a"),
        ROW("def f(a, b=c(), /, d=e(), *f, g, h=i(), **j): k()", "i c e k"),
        ROW("def f(a: b(), *c: d(), e: f() = g(), **h: i()) -> j(): k()",
            "j g k b d f i"),
        ROW("def f(*, a=b()): c()", "b c"),
        ROW("def f(*a: *b()): c()", "c b"),
        ROW("def f(a,): b()", "b"),
        ROW("def f(*, a, **b): c()", "c"),
        ROW("lambda a, b=c(), *d, e=f(), **g: h()", "h f c"),
        ROW("lambda *a, b: c()", "c"),
        ROW("lambda *, a: b()", "b"),
        ROW("lambda a, /: b()", "b"),
        ROW("lambda a=b(), : c()", "c b"),
        ROW("class A(b(), *c(), m=d(), **e()): f()", "b c d e f"),
        ROW("class A(): b()", "b"),
    };

    (void)state;
    py_rows_call(rows, BZ_COUNTOF(rows));
}

static void arguments_in_the_wrong_order_are_refused(void **state)
{
    static const char *const codes[] = {
        "f(k=1, a)",
        "f(**a, b)",
        "f(**a, *b)",
        "f(a=)",
        "f(a.b=1)",
        "f(True=1)",
        "f((a)=1)",
        "f(a for a in b, c)",
        "f(c, a for a in b)",
        "f(a b)",
        "f(,)",
        "f(a,,b)",
        "f(*)",
        "f(**)",
        "f(=1)",
        "x[]",
        "x[a:b:c:d]",
        "x[a b]",
        "x[,]",
        "x[*a:b]",
        "def f(a, a=1, b): pass",
        "def f(*): pass",
        "def f(*, **k): pass",
        "def f(*a, *b): pass",
        "def f(/, a): pass",
        "def f(a, /, b, /): pass",
        "def f(*a, /): pass",
        "def f(**k, a): pass",
        "def f(a=): pass",
        "def f(1): pass",
        "def f(a.b): pass",
        "def f(**k=1): pass",
        "def f(*a=1): pass",
        "lambda a: int: a",
        "lambda *: a",
        "lambda (a): a",
        "lambda a, b=1, c: a",
        "class A(b for b in c, d): pass",
        "def f(a b): pass",
        "def f((a, b)): pass",
        "f(a=1=2)",
        "f(a := 1 = 2)",
    };

    (void)state;
    py_rows_refuse(codes, BZ_COUNTOF(codes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_come_before_keywords_and_defaults_last),
        cmocka_unit_test(arguments_in_the_wrong_order_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
