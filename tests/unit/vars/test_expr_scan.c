#include "vars/expr_scan.h"

#include <stdlib.h>

#include "base/buf.h"

#include "tests/unit/vars/expr_rows.h"

static int by_text(const void *a, const void *b)
{
    return bz_str_cmp(*(const struct bz_str *)a, *(const struct bz_str *)b);
}

/* The keys of a map, sorted, each with something before, between and after. */
static void add_keys(struct bz_buf *to, const struct bz_map *map, const char *between,
                     const char *after)
{
    struct bz_str keys[16];
    struct bz_map_entry *e;
    size_t i, n = 0;

    for (e = bz_map_next(map, NULL); e; e = bz_map_next(map, e)) {
        assert_in_range(n, 0, BZ_COUNTOF(keys) - 1);
        keys[n++] = e->key;
    }
    qsort(keys, n, sizeof(*keys), by_text);
    for (i = 0; i < n; i++)
        bz_buf_addf(to, "%s%.*s%s", i || (to->len && *between == ' ') ? between : "",
                    BZ_STR_ARG(keys[i]), after);
}

/* "READ EXEC() VARIABLE{item|item}" */
static void describe(const struct bz_refs *refs, struct bz_buf *to)
{
    struct bz_map_entry *e;

    add_keys(to, &refs->reads, " ", "");
    add_keys(to, &refs->execs, " ", "()");
    for (e = bz_map_next(&refs->contains, NULL); e;
         e = bz_map_next(&refs->contains, e)) {
        bz_buf_addf(to, "%s%.*s{", to->len ? " " : "", BZ_STR_ARG(e->key));
        add_keys(to, e->p, "|", "");
        bz_buf_add_char(to, '}');
    }
}

static int scan(const char *code, struct bz_buf *to, struct bz_err *err)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    BZ_CLEANUP(bz_refs_release) struct bz_refs refs;
    struct bz_expr_scratch mem;
    struct bz_expr_node *tree;
    int rc;

    bz_refs_init(&refs, &arena);
    bz_expr_scratch_init(&mem);
    rc = bz_expr_parse(bz_str_from(code), &mem, &tree, err);
    if (rc == 0)
        rc = bz_expr_scan_tree(tree, &refs, err);
    bz_expr_scratch_release(&mem);
    describe(&refs, to);
    return rc;
}

static const struct expr_row answers[] = {
    ROW("d.getVar('A')", "A"),
    ROW("d.getVar('A', False) + d.getVar(\"B\")", "A B"),
    ROW("d.getVar('f' + 'oo')", ""),
    ROW("d.getVar(x)", ""),
    ROW("e.data.getVar('A')", "A"),
    ROW("getVar('A')", "getVar()"),
    ROW("x().getVar('A')", "x()"),
    ROW("d.appendVar('A', 'x')", "A"),
    ROW("d.prependVar('A', 'x')", "A"),
    ROW("d.setVar('A', 'x')", "d.setVar()"),
    ROW("d.getVarFlag('A', 'f')", "A[f]"),
    ROW("d.getVarFlag('A', f)", ""),
    ROW("d.getVarFlag('A', 5)", "A[5]"),
    ROW("d.getVarFlag(x, 'f')", ""),
    ROW("d.appendVarFlag('A', 'f', 'x')", "A[f]"),
    ROW("d.prependVarFlag('A', 'f', 'x')", "A[f]"),
    ROW("d.getVarFlags('A')", "d.getVarFlags()"),
    ROW("oe.utils.conditional('A', 'b', d.getVar('C'), d.getVar('D'), d)", "A C D"),
    ROW("bb.utils.contains('A', 'one', 't', 'f', d)", "A{one}"),
    ROW("bb.utils.contains('A', 'one two', 't', 'f', d)", "A{one two}"),
    ROW("bb.utils.contains('A', ['one'], 't', 'f', d)", "A"),
    ROW("bb.utils.contains(x, 'one', 't', 'f', d)", ""),
    ROW("bb.utils.contains('A', '', 't', 'f', d)", "A{}"),
    ROW("base_contains('A', 'one', 't', 'f', d)", "A{one}"),
    ROW("bb.utils.contains_any('A', 'one two', 't', 'f', d)", "A{one|two}"),
    ROW("bb.utils.contains_any('A', x, 't', 'f', d)", "A"),
    ROW("bb.utils.filter('A', 'one two', d)", "A{one|two}"),
    ROW("bb.utils.filter('A', '', d)", "A{}"),
    ROW("bb.utils.contains('A', 'one', bb.utils.contains('A', 'two', 't', 'f', d), "
        "'f', d)",
        "A{one|two}"),
    ROW("testget().strip()", "testget()"),
    ROW("time.time()", "time.time()"),
    ROW("time.strftime('%Y%m%d',time.gmtime())", "time.gmtime() time.strftime()"),
    ROW("eval('3 * 5')", "eval()"),
    ROW("foo(bar(baz))", "bar() foo()"),
    ROW("[f(x) for x in g(y) if h(z)]", "f() g() h()"),
    ROW("{a(): b()}[c()]", "a() b() c()"),
    ROW("lambda x: f(x)", "f()"),
    ROW("f(x)(y)", "f()"),
    ROW("f(k=g())", "f() g()"),
    ROW("a[b():c():d()]", "b() c() d()"),
    ROW("f(1) if g(2) else h(3)", "f() g() h()"),
    ROW("not f(1)", "f()"),
    ROW("-f(1) + g(2)", "f() g()"),
    ROW("f(1) < g(2) < h(3)", "f() g() h()"),
    ROW("f(1) or g(2) and h(3)", "f() g() h()"),
    ROW("bb.build.exec_func('do_x', d)", "do_x()"),
    ROW("bb.build.exec_task('do_x', d)", "do_x()"),
    ROW("bb.build.exec_func(x, d)", ""),
    ROW("d.expand('plain')", ""),
    ROW("d.expand('${X} and ${Y}')", "X Y"),
    ROW("d.expand(x)", ""),
    ROW("d.expand(5)", ""),
    ROW("' '.join(f(x))", "f()"),
    ROW("A.split()", "A.split()"),
    ROW("os . path . join ( 'a' )", "os.path.join()"),
    ROW("1 + 1", ""),
    ROW("'d.getVar(\"A\")'", ""),
    ROW("d.getVar('A' 'B')", "AB"),
    ROW("bb.utils.contains('A', 'x' 'y', 1, 2, d)", "A{xy}"),
    ROW("(d.getVar)('A')", "A"),
};

static void calls_refer_to_what_bitbake_finds(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(answers); i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf found = {0};
        struct bz_err err = {0};

        assert_ok(scan(answers[i].code, &found, &err), &err);
        if (strcmp(bz_buf_text(&found), answers[i].text) != 0)
            fail_msg("%s: expected '%s', got '%s'", answers[i].code, answers[i].text,
                     bz_buf_text(&found));
    }
}

static void calls_that_bitbake_stumbles_over_raise(void **state)
{
    static const struct expr_row rows[] = {
        ROW("d.getVar()", "IndexError: list index out of range"),
        ROW("d.getVar(var='A')", "IndexError: list index out of range"),
        ROW("d.getVarFlag('A')", "IndexError: list index out of range"),
        ROW("bb.utils.contains('A')", "IndexError: list index out of range"),
        ROW("d.expand()", "IndexError: list index out of range"),
        ROW("bb.build.exec_func()", "IndexError: list index out of range"),
        ROW("bb.utils.contains('A', 5, 1, 0, d)",
            "TypeError: intern() argument must be str, not int"),
        ROW("bb.utils.contains('A', None, 1, 0, d)",
            "TypeError: intern() argument must be str, not None"),
        ROW("bb.utils.filter('A', 5, d)",
            "AttributeError: 'int' object has no attribute 'split'"),
        ROW("bb.utils.filter('A', None, d)",
            "AttributeError: 'NoneType' object has no attribute 'split'"),
    };
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(rows); i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf found = {0};
        struct bz_err err = {0};

        assert_int_equal(scan(rows[i].code, &found, &err), BZ_E_INVAL);
        assert_string_equal(err.msg, rows[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_refer_to_what_bitbake_finds),
        cmocka_unit_test(calls_that_bitbake_stumbles_over_raise),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
