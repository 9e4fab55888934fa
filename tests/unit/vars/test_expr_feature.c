#include "vars/expr_feature.h"

#include "tests/unit/vars/expr_rows.h"

static const struct expr_row answers[] = {
    ROW("oe.utils.both_contain('DF', 'MF', 'x11', d)", "x11"),
    ROW("oe.utils.both_contain('DF', 'MF', 'bt', d)", ""),
    ROW("oe.utils.both_contain('DF', 'MF', ['pam'], d)", "pam"),
    ROW("oe.utils.both_contain('DF', 'MF', '', d)", ""),
    ROW("sorted(oe.utils.both_contain('DF', 'MF', 'pam x11', d).split())",
        "['pam', 'x11']"),
    ROW("sorted(oe.utils.set_intersect('DF', 'MF', d).split())", "['pam', 'x11']"),
    ROW("oe.utils.set_intersect('DF', 'E', d)", ""),
    ROW("oe.utils.set_difference('DF', 'MF', d)", "wayland"),
    ROW("oe.utils.set_difference('MF', 'DF', d)", "bt"),
    ROW("oe.utils.set_difference('DF', 'NOPE', d)", "x11 wayland pam"),
    ROW("oe.utils.set_difference('NOPE', 'DF', d)", ""),
    ROW("oe.utils.set_difference('DF', 'E', d)", "x11 wayland pam"),
    ROW("oe.utils.filter_default_features('F', d)", "one three"),
    ROW("oe.utils.filter_default_features('G', d)", ""),
    ROW("oe.utils.all_distro_features(d, 'x11')", "1"),
    ROW("oe.utils.all_distro_features(d, 'x11 wayland', 'y', 'n')", "n"),
    ROW("oe.utils.any_distro_features(d, 'x11 wayland', 'y', 'n')", "y"),
    ROW("oe.utils.any_distro_features(d, 'z')", ""),
};

static const struct expr_row errors[] = {
    ROW("oe.utils.both_contain('DF', 'NOPE', 'pam', d)",
        "AttributeError: 'NoneType' object has no attribute 'split'"),
    ROW("oe.utils.set_intersect('DF', 'NOPE', d)",
        "AttributeError: 'NoneType' object has no attribute 'split'"),
    ROW("oe.utils.set_intersect('NOPE', 'DF', d)",
        "AttributeError: 'NoneType' object has no attribute 'split'"),
};

static const char *const unknown[] = {
    "oe.utils.filter_default_features(None, d)",
};

static void variables_are_treated_as_sets(void **state)
{
    (void)state;
    expr_rows_give(answers, BZ_COUNTOF(answers));
}

static void variables_that_are_not_set_raise(void **state)
{
    (void)state;
    expr_rows_raise(errors, BZ_COUNTOF(errors));
}

static void names_that_are_no_strings_are_left_to_python(void **state)
{
    (void)state;
    expr_rows_leave(unknown, BZ_COUNTOF(unknown), BZ_E_NOSUP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_are_treated_as_sets),
        cmocka_unit_test(variables_that_are_not_set_raise),
        cmocka_unit_test(names_that_are_no_strings_are_left_to_python),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
