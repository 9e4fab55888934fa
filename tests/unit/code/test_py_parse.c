#include "code/py_parse.h"

#include "base/mem.h"

#include "tests/unit/code/py_rows.h"

static int parse(struct bz_str code, enum bz_py_form form, struct bz_err *err)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct bz_py_node *tree = NULL;
    int rc =
        bz_py_parse(code, form, (struct bz_py_origin){"a.bb", 4}, &arena, &tree, err);

    assert_int_equal(rc == 0, tree != NULL);
    return rc;
}

static void messages_name_the_line(void **state)
{
    static const struct py_row rows[] = {
        ROW("a\nb c\n", "a.bb:6: SyntaxError: 'c' is not expected here"),
        ROW("a\nb =\nc", "a.bb:6: SyntaxError: the line ends too early"),
        ROW("if a:\nb", "a.bb:6: SyntaxError: expected an indented block"),
        ROW("a\n  b", "a.bb:6: SyntaxError: unexpected indentation"),
        ROW("x = '\\x1'", "a.bb:5: SyntaxError: an escape in the string is cut short"),
        ROW("f() = 1", "a.bb:5: SyntaxError: cannot assign to what stands here"),
    };
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(rows); i++) {
        struct bz_err err = {0};

        assert_int_equal(parse(bz_str_from(rows[i].code), BZ_PY_FORM_MODULE, &err),
                         BZ_E_INVAL);
        assert_string_equal(err.msg, rows[i].calls);
    }
}

static void an_expression_is_less_than_a_module(void **state)
{
    static const char *const fine[] = {"a", "a()\n\n", "a, b", "lambda: x", "(yield)"};
    static const char *const wrong[] = {"",     "a = 1", "import a", "a; b",
                                        "a\nb", " a",    "*a",       "x := 1"};
    struct bz_err err = {0};
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(fine); i++)
        assert_ok(parse(bz_str_from(fine[i]), BZ_PY_FORM_EXPRESSION, &err), &err);
    for (i = 0; i < BZ_COUNTOF(wrong); i++)
        assert_int_equal(parse(bz_str_from(wrong[i]), BZ_PY_FORM_EXPRESSION, &err),
                         BZ_E_INVAL);
}

/* `times` times `what`, then `end`. */
static int parse_repeated(const char *what, size_t times, const char *end,
                          struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf code = {0};
    size_t i;

    for (i = 0; i < times; i++)
        bz_buf_addf(&code, "%s", what);
    bz_buf_addf(&code, "%s", end);
    return parse(bz_buf_str(&code), BZ_PY_FORM_MODULE, err);
}

static void depth_is_bounded_and_length_is_not(void **state)
{
    struct bz_err err = {0};

    (void)state;
    assert_int_equal(parse_repeated("-", 100000, "1", &err), BZ_E_LIMIT);
    assert_int_equal(parse_repeated("not ", 100000, "1", &err), BZ_E_LIMIT);
    assert_int_equal(parse_repeated("lambda: ", 100000, "1", &err), BZ_E_LIMIT);
    assert_int_equal(parse_repeated("a ** ", 100000, "1", &err), BZ_E_LIMIT);
    assert_int_equal(parse_repeated("(", 100000, "1", &err), BZ_E_INVAL);
    assert_int_equal(parse_repeated("f'{", 100000, "1", &err), BZ_E_INVAL);
    assert_ok(parse_repeated("a + ", 100000, "1", &err), &err);
    assert_ok(parse_repeated("a if b else ", 100000, "1", &err), &err);
    assert_ok(parse_repeated("a.b().", 100000, "c", &err), &err);
    assert_ok(parse_repeated("elif a: b\n", 0, "a", &err), &err);
}

static void what_is_too_long_or_has_null_bytes_is_refused(void **state)
{
    size_t n = BZ_PY_PARSE_SIZE + 1;
    BZ_CLEANUP(bz_mem_freep) char *spaces = bz_mem_alloc(n);
    struct bz_err err = {0};

    (void)state;
    memset(spaces, '\n', n);
    assert_int_equal(parse(bz_str_of(spaces, n), BZ_PY_FORM_MODULE, &err), BZ_E_LIMIT);
    assert_ok(parse(bz_str_of(spaces, n - 1), BZ_PY_FORM_MODULE, &err), &err);
    assert_int_equal(parse(BZ_STR("a\0b"), BZ_PY_FORM_MODULE, &err), BZ_E_INVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_name_the_line),
        cmocka_unit_test(an_expression_is_less_than_a_module),
        cmocka_unit_test(depth_is_bounded_and_length_is_not),
        cmocka_unit_test(what_is_too_long_or_has_null_bytes_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
