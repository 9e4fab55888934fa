#include "code/py_scan.h"

#include <stdlib.h>

#include "tests/unit/code/py_rows.h"

static int by_text(const void *a, const void *b)
{
    return bz_str_cmp(*(const struct bz_str *)a, *(const struct bz_str *)b);
}

/* The keys of a map, sorted. */
static size_t sorted_keys(const struct bz_map *map, struct bz_str keys[16])
{
    struct bz_map_entry *e;
    size_t n = 0;

    for (e = bz_map_next(map, NULL); e; e = bz_map_next(map, e)) {
        assert_in_range(n, 0, 15);
        keys[n++] = e->key;
    }
    qsort(keys, n, sizeof(*keys), by_text);
    return n;
}

static void add_word(struct bz_buf *to, struct bz_str word, const char *after)
{
    bz_buf_addf(to, "%s%.*s%s", to->len > 0 ? " " : "", BZ_STR_ARG(word), after);
}

static void add_items(struct bz_buf *to, const struct bz_map *items)
{
    struct bz_str keys[16];
    size_t i, n = sorted_keys(items, keys);

    for (i = 0; i < n; i++)
        bz_buf_addf(to, "%s%.*s", i > 0 ? "|" : "", BZ_STR_ARG(keys[i]));
    bz_buf_add_char(to, '}');
}

/* "READ EXEC() RUN!() VARIABLE{item|item} ~CALLED(what is no literal)" */
static void describe(const struct bz_py_found *f, struct bz_buf *to)
{
    struct bz_str keys[16];
    size_t i, n = sorted_keys(&f->refs.reads, keys);

    for (i = 0; i < n; i++)
        add_word(to, keys[i], "");
    n = sorted_keys(&f->refs.execs, keys);
    for (i = 0; i < n; i++)
        add_word(to, keys[i], bz_map_get(&f->runs, keys[i]) ? "!()" : "()");
    n = sorted_keys(&f->refs.contains, keys);
    for (i = 0; i < n; i++) {
        add_word(to, keys[i], "{");
        add_items(to, bz_map_get(&f->refs.contains, keys[i])->p);
    }
    for (i = 0; i < f->loose.len; i++)
        bz_buf_addf(to, "%s~%.*s(%.*s)", to->len > 0 ? " " : "",
                    BZ_STR_ARG(f->loose.at[i].name), BZ_STR_ARG(f->loose.at[i].arg));
}

static int scan(struct bz_py_source src, struct bz_buf *to, struct bz_err *err)
{
    static const struct bz_str vars[] = {BZ_STR("ERROR_QA"), BZ_STR("WARN_QA")};
    static const struct bz_py_asker askers[] = {
        {BZ_STR("oe.qa.handle_error"), vars, BZ_COUNTOF(vars)}
    };
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct bz_py_found found;
    int rc;

    src.askers = askers;
    src.naskers = BZ_COUNTOF(askers);
    bz_py_scan_init(&found, &arena);
    rc = bz_py_scan(&src, &found, err);
    if (rc == 0)
        describe(&found, to);
    bz_py_scan_release(&found);
    return rc;
}

/* Recorded from BitBake's PythonParser. */
static const struct py_row answers[] = {
    ROW("d.getVar('A')", "A"),
    ROW("d.getVar('A', False) + d.getVar(\"B\")", "A B"),
    ROW("d.getVar('f' + 'oo')", "~d.getVar('f' + 'oo')"),
    ROW("d.getVar(x)", "~d.getVar(x)"),
    ROW("e.data.getVar('A')", "A"),
    ROW("getVar('A')", "getVar()"),
    ROW("x().getVar('A')", "x()"),
    ROW("d.appendVar('A', 'x')", "A"),
    ROW("d.prependVar('A', 'x')", "A"),
    ROW("d.setVar('A', 'x')", "d.setVar()"),
    ROW("d.getVarFlag('A', 'f')", "A[f]"),
    ROW("d.getVarFlag('A', f)", "~d.getVarFlag(f)"),
    ROW("d.getVarFlag('A', 0x10)", "A[16]"),
    ROW("d.getVarFlag('A', None)", "A[None]"),
    ROW("d.getVarFlag('A', True)", "A[True]"),
    ROW("d.getVarFlag('A', ...)", "A[Ellipsis]"),
    ROW("d.getVarFlag(x, 'f')", "~d.getVarFlag(x)"),
    ROW("d.appendVarFlag('A', 'f', 'x')", "A[f]"),
    ROW("d.prependVarFlag('A', 'f', 'x')", "A[f]"),
    ROW("d.getVarFlag('A', -1)", "~d.getVarFlag(-1)"),
    ROW("d.getVar(f'A')", "~d.getVar(f'A')"),
    ROW("d.getVar('A' 'B')", "AB"),
    ROW("d.getVar(b'A')", "~d.getVar(b'A')"),
    ROW("d.getVar(*a)", "~d.getVar(*a)"),
    ROW("d.getVar(('A'))", "A"),
    ROW("d.getVar('\\x41')", "A"),
    ROW("d.getVar(r'\\x41')", "\\x41"),
    ROW("(d.getVar)('A')", "A"),
    ROW("oe.utils.conditional('A', 'b', d.getVar('C'), d.getVar('D'), d)", "A C D"),
    ROW("my.oe.utils.conditional('A')", "A"),
    ROW("bb.utils.contains('A', 'one', 't', 'f', d)", "A{one}"),
    ROW("bb.utils.contains('A', 'one two', 't', 'f', d)", "A{one two}"),
    ROW("bb.utils.contains('A', ['one'], 't', 'f', d)", "A"),
    ROW("bb.utils.contains(x, 'one', 't', 'f', d)", "~bb.utils.contains(x)"),
    ROW("bb.utils.contains('A', '', 't', 'f', d)", "A{}"),
    ROW("base_contains('A', 'one', 't', 'f', d)", "A{one}"),
    ROW("my.bb.utils.contains('A', 'one', 't', 'f', d)", "my.bb.utils.contains()"),
    ROW("bb.utils.contains_any('A', 'one two', 't', 'f', d)", "A{one|two}"),
    ROW("bb.utils.contains_any('A', x, 't', 'f', d)", "A"),
    ROW("bb.utils.filter('A', 'one two', d)", "A{one|two}"),
    ROW("bb.utils.filter('A', '', d)", "A{}"),
    ROW("bb.utils.contains('A', 'one', bb.utils.contains('A', 'two', 't', 'f', d), "
        "'f', d)",
        "A{one|two}"),
    ROW("bb.build.exec_func('do_x', d)", "do_x!()"),
    ROW("bb.build.exec_task('do_x', d)", "do_x!()"),
    ROW("bb.build.exec_func(x, d)", "~bb.build.exec_func(x)"),
    ROW("d.expand('plain')", ""),
    ROW("d.expand('${X} and ${Y}')", "X Y"),
    ROW("d.expand(x)", ""),
    ROW("d.expand(5)", ""),
    ROW("d.expand('${@d.getVar(\"Z\") or \"\"}')", "Z"),
    ROW("d.expand(\"${@bb.utils.contains('A', 'b', 'c', 'd', d)}\")", "A{b}"),
    ROW("oe.qa.handle_error('one', m, d)", "ERROR_QA{one} WARN_QA{one}"),
    ROW("oe.qa.handle_error(x + y, m, d)",
        "oe.qa.handle_error() ~oe.qa.handle_error(x + y)"),
    ROW("oe.qa.handle_error('one', m, d)\noe.qa.handle_error('two', m, d)",
        "ERROR_QA{two} WARN_QA{two}"),
    ROW("if a:\n  oe.qa.handle_error('one', m, d)\noe.qa.handle_error('two', m, d)",
        "ERROR_QA{one} WARN_QA{one}"),
    ROW("oe.qa.handle_error('one', bb.utils.contains('WARN_QA', 'x', 1, 2, d), "
        "d)\nbb.utils.contains('WARN_QA', 'y', 1, 2, d)",
        "ERROR_QA{one} WARN_QA{one|x|y}"),
    ROW("    x = d.getVar('A')\n    f(x)\n", "A f()"),
    ROW("\n    f()\n\ng()\n", "f() g()"),
    ROW("\tf()\n", "f()"),
    ROW("def f(d):\n    return d.getVar('A').split()[0]\n", "A"),
    ROW("import os\nos.path.join(d.getVar('D'), 'x')", "D os.path.join()"),
    ROW("f'{d.getVar(\"A\")} {f()}'", "A f()"),
    ROW("[f(x) for x in d.getVar('A').split() if g(x)]", "A f() g()"),
    ROW("' '.join(f(x))", "f()"),
    ROW("lambda: d.getVar('A')", "A"),
    ROW("with open(d.expand('${B}/x')) as f:\n  f.write(d.getVar('A'))",
        "A B f.write() open()"),
    ROW("a().b.c()", "a()"),
    ROW("x['y'].z()", ""),
    ROW("f()()", "f()"),
    ROW("d.getVar('A')\r\nd.getVar('B')\rd.getVar('C')", "A B C"),
    ROW("  \n\n", ""),
    ROW("# d.getVar('A')", ""),
    ROW("'d.getVar(\"A\")'", ""),
};

static void code_mentions_what_bitbake_finds(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(answers); i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf found = {0};
        struct bz_err err = {0};

        assert_ok(scan((struct bz_py_source){.code = bz_str_from(answers[i].code)},
                       &found, &err),
                  &err);
        if (strcmp(bz_buf_text(&found), answers[i].calls) != 0)
            fail_msg("%s: expected '%s', got '%s'", answers[i].code, answers[i].calls,
                     bz_buf_text(&found));
    }
}

static void calls_that_bitbake_stumbles_over_raise(void **state)
{
    static const struct py_row rows[] = {
        ROW("d.getVar()", "IndexError: list index out of range"),
        ROW("d.getVar(var='A')", "IndexError: list index out of range"),
        ROW("d.getVarFlag('A')", "IndexError: list index out of range"),
        ROW("bb.utils.contains('A')", "IndexError: list index out of range"),
        ROW("d.expand()", "IndexError: list index out of range"),
        ROW("bb.build.exec_func()", "IndexError: list index out of range"),
        ROW("bb.build.exec_func(5)",
            "TypeError: intern() argument must be str, not int"),
        ROW("bb.utils.contains('A', 5, 1, 0, d)",
            "TypeError: intern() argument must be str, not int"),
        ROW("bb.utils.contains('A', None, 1, 0, d)",
            "TypeError: intern() argument must be str, not None"),
        ROW("bb.utils.contains('A', b'x', 1, 0, d)",
            "TypeError: intern() argument must be str, not bytes"),
        ROW("bb.utils.filter('A', 5, d)",
            "AttributeError: 'int' object has no attribute 'split'"),
        ROW("bb.utils.filter('A', None, d)",
            "AttributeError: 'NoneType' object has no attribute 'split'"),
        ROW("bb.utils.filter('A', ..., d)",
            "AttributeError: 'ellipsis' object has no attribute 'split'"),
        ROW("bb.utils.filter('A', 1.5, d)",
            "AttributeError: 'float' object has no attribute 'split'"),
        ROW("bb.utils.filter('A', 1j, d)",
            "AttributeError: 'complex' object has no attribute 'split'"),
        ROW("oe.qa.handle_error()", "IndexError: list index out of range"),
    };
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(rows); i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf found = {0};
        struct bz_err err = {0};

        assert_int_equal(scan((struct bz_py_source){.code = bz_str_from(rows[i].code)},
                              &found, &err),
                         BZ_E_INVAL);
        assert_string_equal(err.msg, rows[i].calls);
    }
}

/* The body of a function begins in the line after its name. */
static void messages_have_the_line_in_the_file(void **state)
{
    static const struct py_row rows[] = {
        ROW("    a\n    b c\n", "x.bb:8: SyntaxError: 'c' is not expected here"),
        ROW("\n    a\n    b c\n", "x.bb:9: SyntaxError: 'c' is not expected here"),
        ROW("a\nb c\n", "x.bb:8: SyntaxError: 'c' is not expected here"),
        ROW("    a\n    d.getVar()\n", "x.bb:8: IndexError: list index out of range"),
    };
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(rows); i++) {
        struct bz_py_source src = {
            .code = bz_str_from(rows[i].code), .file = "x.bb", .line = 7};
        BZ_CLEANUP(bz_buf_release) struct bz_buf found = {0};
        struct bz_err err = {0};

        assert_int_equal(scan(src, &found, &err), BZ_E_INVAL);
        assert_string_equal(err.msg, rows[i].calls);
    }
}

static void an_inline_expression_may_have_space_around_it(void **state)
{
    struct bz_py_source src = {.form = BZ_PY_FORM_EXPRESSION};
    BZ_CLEANUP(bz_buf_release) struct bz_buf found = {0};
    struct bz_err err = {0};

    (void)state;
    src.code = BZ_STR("  d.getVar('A') ");
    assert_ok(scan(src, &found, &err), &err);
    assert_string_equal(bz_buf_text(&found), "A");
    src.code = BZ_STR("import os");
    assert_int_equal(scan(src, &found, &err), BZ_E_INVAL);
}

static void a_function_that_expands_itself_fails(void **state)
{
    struct bz_py_source src = {.code = BZ_STR("d.expand('${do_x}')"),
                               .name = BZ_STR("do_x")};
    BZ_CLEANUP(bz_buf_release) struct bz_buf found = {0};
    struct bz_err err = {0};

    (void)state;
    assert_int_equal(scan(src, &found, &err), BZ_E_INVAL);
    src.name = BZ_STR("do_y");
    assert_ok(scan(src, &found, &err), &err);
    assert_string_equal(bz_buf_text(&found), "do_x");
}

static void names_that_are_not_known_are_left_to_python(void **state)
{
    static const char *const codes[] = {
        "d.getVar('\\N{DIGIT ONE}')", "bb.utils.contains('A', '\\N{DASH}', 1, 2, d)",
        "oe.qa.handle_error('\\N{DASH}')", "d.getVarFlag('A', 1.5)",
        "d.getVarFlag('A', 99999999999999999999)"};
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(codes); i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf found = {0};
        struct bz_err err = {0};

        assert_int_equal(
            scan((struct bz_py_source){.code = bz_str_from(codes[i])}, &found, &err),
            BZ_E_NOSUP);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_mentions_what_bitbake_finds),
        cmocka_unit_test(calls_that_bitbake_stumbles_over_raise),
        cmocka_unit_test(messages_have_the_line_in_the_file),
        cmocka_unit_test(an_inline_expression_may_have_space_around_it),
        cmocka_unit_test(a_function_that_expands_itself_fails),
        cmocka_unit_test(names_that_are_not_known_are_left_to_python),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
