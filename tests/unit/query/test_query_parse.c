#include "query/query_parse.h"

#include "base/buf.h"
#include "tests/unit/bz_test.h"

static void show(const struct bz_query *q, struct bz_buf *out);

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the tree */
static void show_args(const struct bz_query *q, struct bz_buf *out)
{
    bz_buf_addf(out, "(");
    for (size_t i = 0; i < 2 && q->words[i].p; i++)
        bz_buf_addf(out, "'%.*s' ", BZ_STR_ARG(q->words[i]));
    for (size_t i = 0; i < q->nargs; i++) {
        if (i > 0)
            bz_buf_addf(out, " ");
        if (q->ops && i > 0)
            bz_buf_addf(out, "%c ", q->ops[i]);
        show(q->args[i], out);
    }
    if (q->depth != UINT32_MAX)
        bz_buf_addf(out, " %u", q->depth);
    bz_buf_addf(out, ")");
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the tree */
static void show(const struct bz_query *q, struct bz_buf *out)
{
    switch (q->kind) {
    case BZ_QUERY_NAME:
        bz_buf_add_str(out, q->text);
        return;
    case BZ_QUERY_REF:
        bz_buf_addf(out, "$%.*s", BZ_STR_ARG(q->text));
        return;
    case BZ_QUERY_LET:
        bz_buf_addf(out, "let %.*s", BZ_STR_ARG(q->text));
        break;
    case BZ_QUERY_SET:
        bz_buf_addf(out, "set");
        break;
    case BZ_QUERY_CHAIN:
        bz_buf_addf(out, "chain");
        break;
    case BZ_QUERY_CALL:
        bz_buf_addf(out, "call%d", (int)q->function);
        break;
    }
    show_args(q, out);
}

static int parse(const char *text, struct bz_arena *arena, const struct bz_query **q,
                 uint32_t *column, struct bz_err *err)
{
    return bz_query_parse(bz_str_from(text), arena, q, column, err);
}

static void expressions_become_trees(void **state)
{
    static const struct {
        const char *text, *tree;
    } rows[] = {
        {"a",                              "a"                                },
        {"(a)",                            "a"                                },
        {"'set'",                          "set"                              },
        {"a + b - c ^ d",                  "chain(a + b - c ^ d)"             },
        {"a union b except c intersect d", "chain(a + b - c ^ d)"             },
        {"a - (b + c)",                    "chain(a - chain(b + c))"          },
        {"deps(x)",                        "call0(x)"                         },
        {"deps(x, 2)",                     "call0(x 2)"                       },
        {"rdeps(a + b, c, 1)",             "call1(chain(a + b) c 1)"          },
        {"somepath(a, b)",                 "call2(a b)"                       },
        {"allpaths(a, b)",                 "call3(a b)"                       },
        {"kind(task, x)",                  "call4('task' x)"                  },
        {"kind(task do_*, x)",             "call4('task' 'do_*' x)"           },
        {"filter('a.*b', x)",              "call5('a.*b' x)"                  },
        {"attr(PV, \"^1\", x)",            "call6('PV' '^1' x)"               },
        {"inputs(x) ^ outputs(y)",         "chain(call7(x) ^ call8(y))"       },
        {"set(a b 'c d')",                 "set(a b c d)"                     },
        {"set()",                          "set()"                            },
        {"let v = a + b in $v - c",        "let v(chain(a + b) chain($v - c))"},
        {"let",                            "let"                              },
        {"set",                            "set"                              },
        {"let v = let w = a in $w in $v",  "let v(let w(a $w) $v)"            },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
        BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};
        const struct bz_query *q = NULL;
        struct bz_err err;
        uint32_t column;

        assert_ok(parse(rows[i].text, &arena, &q, &column, &err), &err);
        show(q, &out);
        assert_string_equal(bz_buf_text(&out), rows[i].tree);
    }
}

static void what_is_wrong_is_said_with_its_column(void **state)
{
    static const struct {
        const char *text, *message;
        uint32_t column;
    } rows[] = {
        {"",                "column 1: expected a name, a function or '(' at the end",    1 },
        {"a b",             "column 3: expected an operator, not 'b'",                    3 },
        {"a +",             "column 4: expected a name, a function or '(' at the end",    4 },
        {"+ a",             "column 1: expected a name, a function or '(', not '+'",      1 },
        {"(a",              "column 3: expected an operator or ')' at the end",           3 },
        {"a)",              "column 2: expected an operator, not ')'",                    2 },
        {"deps()",          "column 6: expected a name, a function or '(', not ')'",      6 },
        {"deps(a, x)",      "column 9: expected a number, not 'x'",                       9 },
        {"deps(a b)",       "column 8: expected ')', not 'b'",                            8 },
        {"rdeps(a)",        "column 8: expected ',', not ')'",                            8 },
        {"somepath(a,b,c)", "column 13: expected ')', not ','",                           13},
        {"kind((a), b)",    "column 6: expected a kind, not '('",                         6 },
        {"filter($x, b)",   "column 8: expected a word or a quoted text, not 'x'",        8 },
        {"set(a, b)",       "column 6: expected a name or ')', not ','",                  6 },
        {"let x in y",      "column 7: expected '=', not 'in'",                           7 },
        {"let x = y",       "column 10: expected 'in' at the end",                        10},
        {"a + 'b",          "column 5: the quote does not end",                           5 },
        {"a union in",      "column 9: expected a name, a function or '(', not 'in'",     9 },
        {"''",              "column 1: expected a name, a function or '(', not ''",       1 },
        {"dep(a)",          "column 1: there is no function 'dep'; did you mean 'deps'?", 1 },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
        const struct bz_query *q = NULL;
        struct bz_err err;
        uint32_t column;

        assert_int_equal(parse(rows[i].text, &arena, &q, &column, &err), BZ_E_INVAL);
        assert_string_equal(err.msg, rows[i].message);
        assert_int_equal(column, rows[i].column);
    }
}

static void depth_and_length_are_bounded(void **state)
{
    static char text[BZ_QUERY_PARSE_LONGEST + 2];
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    const struct bz_query *q = NULL;
    struct bz_err err;
    uint32_t column;

    (void)state;
    memset(text, '(', 300);
    assert_int_equal(parse(text, &arena, &q, &column, &err), BZ_E_LIMIT);
    assert_int_equal(column, BZ_QUERY_PARSE_DEEPEST + 1);
    memset(text, 'a', sizeof(text) - 1);
    assert_int_equal(parse(text, &arena, &q, &column, &err), BZ_E_LIMIT);
    for (size_t i = 0; i + 1 < 8000; i += 2)
        text[i + 1] = '^';
    text[7999] = '\0';
    assert_ok(parse(text, &arena, &q, &column, &err), &err);
    assert_int_equal(q->nargs, 4000); /* a long chain is not deep */
}

static void list_name(void *ctx, struct bz_str name)
{
    struct bz_buf *out = ctx;

    bz_buf_addf(out, "%.*s ", BZ_STR_ARG(name));
}

static void names_are_listed(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};
    const struct bz_query *q = NULL;
    struct bz_err err;
    uint32_t column;

    (void)state;
    assert_ok(parse("let x = a in rdeps($x, set(b c)) ^ kind(task d, e)", &arena, &q,
                    &column, &err),
              &err);
    bz_query_parse_names(q, list_name, &out);
    assert_string_equal(bz_buf_text(&out), "a b c e ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_become_trees),
        cmocka_unit_test(what_is_wrong_is_said_with_its_column),
        cmocka_unit_test(depth_and_length_are_bounded),
        cmocka_unit_test(names_are_listed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
