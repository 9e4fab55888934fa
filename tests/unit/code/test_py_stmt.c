#include "code/py_stmt.h"

#include "tests/unit/code/py_rows.h"

static void blocks_have_the_calls_in_the_order_of_the_ast(void **state)
{
    static const struct py_row rows[] = {
        ROW("if a(): b()\nelif c(): d()\nelif e(): f()\nelse: g()", "a b c d e f g"),
        ROW("while a(): b()\nelse: c()", "a b c"),
        ROW("for x in a(): b()\nelse: c()", "a b c"),
        ROW("with a() as x, b(): c()", "a b c"),
        ROW("with (a() as x, b()): c()", "a b c"),
        ROW("with (a(), b()): c()", "a b c"),
        ROW("with (a(), b()) as x: c()", "c a b"),
        ROW("with (a()).b as x: c()", "c a"),
        ROW("with (a()): b()", "a b"),
        ROW("with (yield a()): b()", "b a"),
        ROW("with (a() as x, ): b()", "a b"),
        ROW("try: a()\nexcept b() as e: c()\nexcept: d()\nelse: e()\nfinally: f()",
            "a b e f c d"),
        ROW("try: a()\nfinally: b()", "a b"),
        ROW("try: a()\nexcept* b(): c()", "a b c"),
        ROW("@a()\n@b\ndef f(x=c()) -> d(): e()", "a d c e"),
        ROW("@a()\nclass B(c()): d()", "c a d"),
        ROW("async def f():\n  async for x in a(): b()\n  async with c() as d: await "
            "e()",
            "a b c e"),
        ROW("@a()\nasync def f(): b()", "a b"),
        ROW("def f():\n  def g():\n    a()\n  b()\nc()", "c b a"),
        ROW("if x:\n\ta()\n\n  # c()\n\tb()", "a b"),
        ROW("if x:\n        a()\nelse:\n  b()", "a b"),
        ROW("match a():\n  case B(c=1) if d(): e()\n  case _: f()", "a d e f"),
        ROW("match(a())", "match a"),
        ROW("match = a()", "a"),
        ROW("match.b()", "match.b"),
        ROW("match[a()]: b()", "b a"),
        ROW("match (a(), b()), c():\n  case x: d()", "c a b d"),
        ROW("match -a():\n  case x: b()", "a b"),
        ROW("match * a()", "a"),
        ROW("case = a()", "a"),
        ROW("print(match, case)", "print"),
        ROW("if x: a(); b()\nc()", "c a b"),
        ROW("class A:\n  x = a()\n  def b(self): c()\nd()", "d a c"),
        ROW("if a():\n  b() \\\n    .c()\nd()", "a d ? b"),
        ROW("\\\nif a():\n  b()", "a b"),
        ROW("if x:\n  a()\n  \\\n  b()", "a b"),
        ROW("x = (a(\n), b())\nc()", "c a b"),
        ROW("\n\n  \n#c\na()", "a"),
        ROW("if x := a(): b()", "a b"),
        ROW("while x := a(): b()", "a b"),
        ROW("", ""),
        ROW("# a()", ""),
        ROW("if a: # b()\n  c()\n", "c"),
        ROW("\f\nif a:\n  b()\n\f  c()", "b c"),
        ROW("@a.b[c()]\ndef f(): d()", "d c"),
        ROW("try:\n  try:\n    a()\n  finally:\n    b()\nexcept (c(), d()):\n  e()",
            "a b c d e"),
    };

    (void)state;
    py_rows_call(rows, BZ_COUNTOF(rows));
}

static void blocks_that_are_cut_short_are_refused(void **state)
{
    static const char *const codes[] = {
        "if a:\nb()",
        "if a:",
        "if a: if b: c",
        "if a\n  b",
        "  a\nb",
        "if a:\n  b\n c",
        "if a:\n    b\n  c",
        "if a:\n\tb\n        c",
        "if a:\n        b\n\tc",
        "else: a",
        "elif a: b",
        "while: a",
        "for x: a",
        "for x in: a",
        "for 1 in a: b",
        "for f() in a: b",
        "with: a",
        "with a as 1: b",
        "with a as f(): b",
        "with (a as b: c",
        "try: a",
        "try: a\nexcept b, c: d",
        "try: a\nexcept: b\nexcept* c: d",
        "try: a\nexcept*: b",
        "try: a\nfinally: b\nexcept: c",
        "try: a\nelse: b",
        "except: a",
        "def f: a",
        "def (): a",
        "def f() a",
        "def f() -> : a",
        "class: a",
        "class A(: b",
        "class 1: a",
        "@a",
        "@a\nb = 1",
        "@a def f(): pass",
        "async a",
        "async while a: b",
        "@a\nasync for x in y: z",
        "match a:\n  x = 1",
        "match a:\n  case b: c\n  d",
        "match:\n  case a: b",
        "match *a:\n  case b: c",
        "a\n  b",
        "def f():\n  a\n   b",
        "if a: b\n  c",
        "class A: def f(): pass",
        "if a: \\\n",
        "a \\ b",
        "a\\",
        "for x in a b: c",
        "if a = b: c",
        "while True print(1)",
    };

    (void)state;
    py_rows_refuse(codes, BZ_COUNTOF(codes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_have_the_calls_in_the_order_of_the_ast),
        cmocka_unit_test(blocks_that_are_cut_short_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
