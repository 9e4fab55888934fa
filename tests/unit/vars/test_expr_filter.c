#include "vars/expr_filter.h"

#include "tests/unit/vars/expr_rows.h"

static const struct expr_row answers[] = {
    ROW("prefix(val, 'a')", "a2 a1 a3"),
    ROW("suffix(val, 'b')", "2b 1b 3b"),
    ROW("sort(val)", "1 2 3"),
    ROW("remove(val, '2')", "1 3"),
    ROW("remove(val, '1 3')", "2"),
    ROW("remove(val, ['1'])", "2 3"),
    ROW("remove(val, '1', ' ')", "2 3"),
    ROW("remove(val, '1', sep=' ')", "2 3"),
    ROW("remove(val, '9')", "2 1 3"),
    ROW("prefix(prefix(val, 'a'), 'b')", "ba2 ba1 ba3"),
    ROW("val", "2 1 3"),
    ROW("val.upper()", "2 1 3"),
    ROW("val + 'x'", "2 1 3x"),
    ROW("val.replace('1', 'one')", "2 one 3"),
    ROW("' '.join(map(str, [1, 2]))", "1 2"),
    ROW("str(len(val))", "5"),
    ROW("' '.join(x for x in val.split())", "2 1 3"),
    ROW("' '.join(bb.utils.explode_deps(val + ' (x)'))", "2 1 3"),
    ROW("str(max(val.split()))", "3"),
    ROW("str(any([1])) + str(all([0])) + bin(5) + hex(5) + oct(8) + chr(65) + "
        "str(ord('a')) + str(float(1)) + str(int('5')) + str(bool(1)) + str(sum([1])) "
        "+ str(min(1, 2))",
        "TrueFalse0b1010x50o10A971.05True11"),
    ROW("prefix(val=val, prefix='p')", "p2 p1 p3"),
    ROW("val if 1 else 2", "2 1 3"),
    ROW("(lambda x: x + '!')(val)", "2 1 3!"),
};

static const struct expr_row errors[] = {
    ROW("open('foo.txt', 'rb')", "NameError: name 'open' is not defined"),
    ROW("sorted(val)", "NameError: name 'sorted' is not defined"),
    ROW("list(val)", "NameError: name 'list' is not defined"),
    ROW("prefix(None, 'a')",
        "AttributeError: 'NoneType' object has no attribute 'split'"),
    ROW("'x", "SyntaxError: unterminated string literal"),
    ROW("1 +", "SyntaxError: invalid syntax"),
};

static const char *const unknown[] = {
    "' '.join([val for x in 'a'])",
    "d",
    "d.getVar('A')",
    "bb.utils.contains('A', 'a', 1, 0, d)",
    "A",
    "__import__('os')",
    "len(val)",
    "None",
    "max(val), min(val)",
    "pow(2, 3)",
    "format(5)",
    "prefix(val, 5)",
    "prefix",
};

static void check(const char *filter, int want_rc, const char *want)
{
    BZ_CLEANUP(bz_vars_freep) struct bz_vars *v = bz_vars_new(NULL);
    struct bz_err err = {0};
    struct bz_str out;
    int rc = bz_expr_filter(v, bz_str_from(filter), BZ_STR("2 1 3"), &out, &err);
    struct bz_str text = rc < 0 ? bz_str_from(err.msg) : out;

    if (rc != want_rc || (want && !bz_str_eq(text, bz_str_from(want))))
        fail_msg("%s: expected %d '%s', got %d '%.*s'", filter, want_rc,
                 want ? want : "", rc, BZ_STR_ARG(text));
}

static void filters_change_the_value(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(answers); i++)
        check(answers[i].code, 0, answers[i].text);
}

static void most_of_python_is_not_defined(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(errors); i++)
        check(errors[i].code, BZ_E_INVAL, errors[i].text);
}

static void other_filters_are_left_to_python(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(unknown); i++)
        check(unknown[i], BZ_E_NOSUP, NULL);
}

static void an_empty_filter_changes_nothing(void **state)
{
    (void)state;
    check("", 0, "2 1 3");
    check(" \n\t", 0, "2 1 3");
}

static void an_empty_value_stays_empty(void **state)
{
    static const char *const filters[] = {"prefix(val, 'a')", "suffix(val, 'b')",
                                          "sort(val)", "remove(val, 'a')"};
    BZ_CLEANUP(bz_vars_freep) struct bz_vars *v = bz_vars_new(NULL);
    struct bz_err err = {0};
    struct bz_str out;
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(filters); i++) {
        assert_ok(bz_expr_filter(v, bz_str_from(filters[i]), BZ_STR(""), &out, &err),
                  &err);
        assert_int_equal(out.n, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters_change_the_value),
        cmocka_unit_test(most_of_python_is_not_defined),
        cmocka_unit_test(other_filters_are_left_to_python),
        cmocka_unit_test(an_empty_filter_changes_nothing),
        cmocka_unit_test(an_empty_value_stays_empty),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
