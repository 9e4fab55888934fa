#include "code/py_module.h"

#include "tests/unit/bz_test.h"

static const char text[] = "import os\n"
                           "\n"
                           "def one(d):\n"
                           "    return two(d.getVar('A'))\n"
                           "\n"
                           "# about two\n"
                           "@bb.parse.vardeps(\"B\", 'C')\n"
                           "@bb.parse.vardepsexclude('D')\n"
                           "def two(x, d):\n"
                           "    # a comment\n"
                           "    return d.getVar('D') + os.path.join(d.getVar('E'))\n"
                           "    # the end\n"
                           "\n"
                           "def _hidden(d):\n"
                           "    return d.getVar('F')\n"
                           "\n"
                           "if os.name:\n"
                           "    def three(): return _hidden(one())\n"
                           "\n"
                           "class Four:\n"
                           "    def inner(self): three()\n"
                           "\n"
                           "two.visitorcode = _hidden\n";

static const struct bz_py_function *find(const struct bz_py_module *m, const char *name)
{
    size_t i;

    for (i = 0; i < m->functions.len; i++)
        if (bz_str_eq(m->functions.at[i].name, bz_str_from(name)))
            return &m->functions.at[i];
    fail_msg("%s is not there", name);
    return NULL;
}

static bool reads(const struct bz_py_function *f, const char *name)
{
    return bz_map_get(&f->found.refs.reads, bz_str_from(name)) != NULL;
}

static bool calls(const struct bz_py_function *f, const char *name)
{
    return bz_map_get(&f->found.refs.execs, bz_str_from(name)) != NULL;
}

static void each_function_is_scanned_by_itself(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct bz_py_source src = {.code = bz_str_from(text), .name = BZ_STR("oe.x")};
    struct bz_py_module m = {0};
    const struct bz_py_function *f;
    struct bz_err err = {0};

    (void)state;
    assert_ok(bz_py_module_scan(&src, &arena, &m, &err), &err);
    assert_int_equal(m.functions.len, 4);
    f = find(&m, "oe.x.one");
    assert_true(reads(f, "A") && f->found.refs.reads.len == 1);
    assert_true(calls(f, "oe.x.two") && f->found.refs.execs.len == 1);
    assert_int_equal(f->line, 3);
    assert_true(bz_str_eq(f->text, BZ_STR("def one(d):\n"
                                          "    return two(d.getVar('A'))")));
    assert_false(f->visited);
    f = find(&m, "oe.x.two");
    assert_true(reads(f, "B") && reads(f, "C") && reads(f, "E"));
    assert_int_equal(f->found.refs.reads.len, 3);
    assert_int_equal(f->line, 7);
    assert_true(f->visited);
    assert_true(bz_str_ends(f->text, BZ_STR("    # the end")));
    f = find(&m, "oe.x.three");
    assert_true(calls(f, "_hidden") && calls(f, "oe.x.one"));
    assert_true(calls(find(&m, "oe.x.Four"), "oe.x.three"));
    bz_py_module_release(&m);
}

static void the_last_of_a_name_counts(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct bz_py_source src = {.code = BZ_STR("def f(): a()\ndef f(): b()\n"),
                               .name = BZ_STR("n")};
    struct bz_py_module m = {0};
    struct bz_err err = {0};

    (void)state;
    assert_ok(bz_py_module_scan(&src, &arena, &m, &err), &err);
    assert_int_equal(m.functions.len, 1);
    assert_true(calls(find(&m, "n.f"), "b"));
    bz_py_module_release(&m);
}

static void errors_have_their_place(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct bz_py_source src = {.name = BZ_STR("n"), .file = "n.py"};
    struct bz_py_module m = {0};
    struct bz_err err = {0};

    (void)state;
    src.code = BZ_STR("\ndef f(:\n");
    assert_int_equal(bz_py_module_scan(&src, &arena, &m, &err), BZ_E_INVAL);
    assert_string_equal(err.msg, "n.py:2: SyntaxError: ':' is not expected here");
    src.code = BZ_STR("def g(): pass\ndef f():\n    d.getVar()\n");
    assert_int_equal(bz_py_module_scan(&src, &arena, &m, &err), BZ_E_INVAL);
    assert_string_equal(err.msg, "n.py:3: IndexError: list index out of range");
    bz_py_module_release(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_function_is_scanned_by_itself),
        cmocka_unit_test(the_last_of_a_name_counts),
        cmocka_unit_test(errors_have_their_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
