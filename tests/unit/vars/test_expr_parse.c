#include "vars/expr_parse.h"

#include "base/buf.h"
#include "base/mem.h"
#include "tests/unit/vars/expr_rows.h"

static const struct expr_row answers[] = {
    ROW("1 + 2 * 3", "7"),
    ROW("(1 + 2) * 3", "9"),
    ROW("2 ** 3 ** 2", "512"),
    ROW("-2 ** 2", "-4"),
    ROW("not 1 == 2", "True"),
    ROW("not not 1", "True"),
    ROW("1 < 2 < 3", "True"),
    ROW("1 < 3 < 2", "False"),
    ROW("3 > 2 >= 2 != 1", "True"),
    ROW("1 if 0 else 2 if 0 else 3", "3"),
    ROW("1 or 2 and 3", "1"),
    ROW("0 or '' or None", "None"),
    ROW("1 and 2 and 3", "3"),
    ROW("(1, 2)", "(1, 2)"),
    ROW("1, 2", "(1, 2)"),
    ROW("1,", "(1,)"),
    ROW("(1,)", "(1,)"),
    ROW("()", "()"),
    ROW("[]", "[]"),
    ROW("{}", "{}"),
    ROW("[1, 2,]", "[1, 2]"),
    ROW("{1: 2,}", "{1: 2}"),
    ROW("{'a': 1, 'b': [2, (3,)]}", "{'a': 1, 'b': [2, (3,)]}"),
    ROW("[1, [2, [3]]]", "[1, [2, [3]]]"),
    ROW("{1}", "{1}"),
    ROW("'a' in 'abc' and 'd' not in 'abc'", "True"),
    ROW("None is None", "True"),
    ROW("1 is not None", "True"),
    ROW("A.split()[1:][0]", "b"),
    ROW("[x for x in A.split() if x != 'a' if x != 'b']", "['c']"),
    ROW("[x + y for x in 'ab' for y in 'cd' if x != y]", "['ac', 'ad', 'bc', 'bd']"),
    ROW("[[y for y in x] for x in ['ab', 'c']]", "[['a', 'b'], ['c']]"),
    ROW("[x if x else 'e' for x in ['', 'a']]", "['e', 'a']"),
    ROW("{x for x in 'a'}", "{'a'}"),
    ROW("{x: y for x, y in [('a', 1)]}", "{'a': 1}"),
    ROW("(lambda x, y: x + y)(1, 2)", "3"),
    ROW("(lambda: 5)()", "5"),
    ROW("((lambda: 5) if 1 else 6)()", "5"),
    ROW("(lambda: 5 if 0 else 6)()", "6"),
    ROW("(lambda x: lambda y: x + y)(1)(2)", "3"),
    ROW("sorted('cab')", "['a', 'b', 'c']"),
    ROW("d . getVar ( 'B' )", "b"),
    ROW("bb . utils . contains('A', 'a', 1, 2, d)", "1"),
    ROW("((((((((((1))))))))))", "1"),
};

static const struct expr_row errors[] = {
    ROW("1 +", "SyntaxError: invalid syntax"),
    ROW("(1", "SyntaxError: invalid syntax"),
    ROW("f(1", "SyntaxError: invalid syntax"),
    ROW("[1, 2", "SyntaxError: invalid syntax"),
    ROW("{1: ", "SyntaxError: invalid syntax"),
    ROW("1)", "SyntaxError: unmatched ')'"),
    ROW("]", "SyntaxError: unmatched ']'"),
    ROW("foo = 5", "SyntaxError: invalid syntax"),
    ROW("d.getVar('A') = 1", "SyntaxError: invalid syntax"),
    ROW("5*", "SyntaxError: invalid syntax"),
    ROW("", "SyntaxError: invalid syntax"),
    ROW("   ", "SyntaxError: invalid syntax"),
    ROW("not", "SyntaxError: invalid syntax"),
    ROW("a is", "SyntaxError: invalid syntax"),
    ROW("a.b.", "SyntaxError: invalid syntax"),
};

static const char *const unknown[] = {
    "2 ** -1",
    "1 2",
    "a b",
    "x for x in y",
    "lambda x=1: x",
    "f(*A)",
    "f(**A)",
    "[*A]",
    "x := 1",
    "(x := 1)",
    "await x",
    "yield",
    "a[1, 2]",
    "a[]",
    "import os",
    "print 1",
    "1; 2",
    "1\n2",
    "a not b",
    "if",
    "f(x for x in y, 1)",
    "f(a=1, 2)",
    "[1 for]",
    "[for x in y]",
    "{1: 2, 3}",
    "{1, 2: 3}",
    "a..b",
};

static void operators_bind_as_in_python(void **state)
{
    (void)state;
    expr_rows_give(answers, BZ_COUNTOF(answers));
}

static void what_can_end_in_nothing_is_a_syntax_error(void **state)
{
    (void)state;
    expr_rows_raise(errors, BZ_COUNTOF(errors));
}

static void other_syntax_is_left_to_python(void **state)
{
    (void)state;
    expr_rows_leave(unknown, BZ_COUNTOF(unknown), BZ_E_NOSUP);
}

static int parse(struct bz_str code, struct bz_err *err)
{
    struct bz_expr_scratch mem;
    struct bz_expr_node *tree;
    int rc;

    bz_expr_scratch_init(&mem);
    rc = bz_expr_parse(code, &mem, &tree, err);
    if (rc == 0)
        assert_true(tree->depth > 0 && tree->depth <= BZ_EXPR_PARSE_DEPTH);
    bz_expr_scratch_release(&mem);
    return rc;
}

/* n times `open`, then "1", then n times `close`. */
static int parse_nested(const char *open, const char *close, size_t n)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf code = {0};
    struct bz_err err = {0};
    size_t i;

    for (i = 0; i < n; i++)
        bz_buf_add_str(&code, bz_str_from(open));
    bz_buf_add_str(&code, BZ_STR("1"));
    for (i = 0; i < n; i++)
        bz_buf_add_str(&code, bz_str_from(close));
    return parse(bz_buf_str(&code), &err);
}

static void depth_is_bounded_however_it_comes_about(void **state)
{
    static const struct expr_row nests[] = {
        {"(",            ")"           },
        {"[",            "]"           },
        {"{1: ",         "}"           },
        {"f(",           ")"           },
        {"- ",           ""            },
        {"not ",         ""            },
        {"lambda: ",     ""            },
        {"",             " + 1"        },
        {"",             ".a"          },
        {"",             "()"          },
        {"",             "[0]"         },
        {"",             " if 1 else 2"},
        {"2 ** ",        ""            },
        {"1 if 2 else ", ""            },
        {"[x for x in ", "]"           },
        {"[0 for (",     ") in x]"     },
    };
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(nests); i++) {
        assert_int_not_equal(parse_nested(nests[i].code, nests[i].text, 3), BZ_E_LIMIT);
        if (parse_nested(nests[i].code, nests[i].text, 20000) == 0)
            fail_msg("%s1%s: no limit", nests[i].code, nests[i].text);
    }
    assert_int_equal(parse_nested("(", ")", 50), 0);
    assert_int_equal(parse_nested("(", ")", 20000), BZ_E_LIMIT);
    assert_int_equal(parse_nested("", " + 1", 150), 0);
    assert_int_equal(parse_nested("", " + 1", 1000), BZ_E_LIMIT);
}

static void lists_may_be_long(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf code = {0};
    struct bz_err err = {0};
    size_t i;

    (void)state;
    bz_buf_add_char(&code, '[');
    for (i = 0; i < 20000; i++)
        bz_buf_add_str(&code, BZ_STR("'a' 'b',"));
    bz_buf_add_char(&code, ']');
    assert_ok(parse(bz_buf_str(&code), &err), &err);
}

static void size_is_bounded(void **state)
{
    BZ_CLEANUP(bz_mem_freep) char *blanks = bz_mem_alloc(BZ_EXPR_PARSE_SIZE + 1);
    struct bz_err err = {0};

    (void)state;
    memset(blanks, ' ', BZ_EXPR_PARSE_SIZE + 1);
    blanks[0] = '1';
    assert_ok(parse(bz_str_of(blanks, BZ_EXPR_PARSE_SIZE), &err), &err);
    assert_int_equal(parse(bz_str_of(blanks, BZ_EXPR_PARSE_SIZE + 1), &err),
                     BZ_E_LIMIT);
}

static void a_nul_is_not_python(void **state)
{
    struct bz_err err = {0};

    (void)state;
    assert_int_equal(parse(BZ_STR("'a\0b'"), &err), BZ_E_NOSUP);
    assert_int_equal(parse((struct bz_str){0}, &err), BZ_E_INVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_bind_as_in_python),
        cmocka_unit_test(what_can_end_in_nothing_is_a_syntax_error),
        cmocka_unit_test(other_syntax_is_left_to_python),
        cmocka_unit_test(depth_is_bounded_however_it_comes_about),
        cmocka_unit_test(lists_may_be_long),
        cmocka_unit_test(size_is_bounded),
        cmocka_unit_test(a_nul_is_not_python),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
