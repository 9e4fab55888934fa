#include "vars/expr_version.h"

#include "tests/unit/vars/expr_rows.h"

static const struct expr_row answers[] = {
    ROW("bb.utils.vercmp_string('1.0', '1.1')", "-1"),
    ROW("bb.utils.vercmp_string('1.10', '1.9')", "1"),
    ROW("bb.utils.vercmp_string('1.0', '1.0')", "0"),
    ROW("bb.utils.vercmp_string('1:1.0', '2.0')", "1"),
    ROW("bb.utils.vercmp_string('1.0-r1', '1.0-r2')", "-1"),
    ROW("bb.utils.vercmp_string('1.0', '1.0-r0')", "-1"),
    ROW("bb.utils.vercmp_string('3:1', '1:1')", "2"),
    ROW("bb.utils.vercmp_string('1.0~rc1', '1.0')", "-1"),
    ROW("bb.utils.vercmp_string('1.0', '1.0~rc1')", "1"),
    ROW("bb.utils.vercmp_string('1.0a', '1.0')", "1"),
    ROW("bb.utils.vercmp_string('1.0a', '1.0b')", "-1"),
    ROW("bb.utils.vercmp_string('1.0+git', '1.0')", "1"),
    ROW("bb.utils.vercmp_string('1.0.0', '1.0')", "1"),
    ROW("bb.utils.vercmp_string('1.a', '1.1')", "1"),
    ROW("bb.utils.vercmp_string('', '')", "0"),
    ROW("bb.utils.vercmp_string('', '1')", "-1"),
    ROW("bb.utils.vercmp_string('1', '')", "1"),
    ROW("bb.utils.vercmp_string('001', '1')", "0"),
    ROW("bb.utils.vercmp_string('10000000000000000000001', '10000000000000000000000')",
        "1"),
    ROW("bb.utils.vercmp_string('0', '00')", "0"),
    ROW("bb.utils.vercmp_string('1..2', '1.2')", "1"),
    ROW("bb.utils.vercmp_string('>= 1.0', '1.0')", "0"),
    ROW("bb.utils.vercmp_string('1:2:3', '1:2')", "0"),
    ROW("bb.utils.vercmp_string('a', 'B')", "1"),
    ROW("bb.utils.vercmp_string('~', '')", "-1"),
    ROW("bb.utils.vercmp_string('1~~', '1~')", "-1"),
    ROW("bb.utils.vercmp_string('0', '')", "1"),
    ROW("bb.utils.vercmp_string_op('1.0', '1.1', '<')", "True"),
    ROW("bb.utils.vercmp_string_op('1.0', '1.0', '=')", "True"),
    ROW("bb.utils.vercmp_string_op('1.0', '1.0', '>=')", "True"),
    ROW("bb.utils.vercmp_string_op('1.0', '1.1', '!=')", "True"),
    ROW("bb.utils.vercmp_string_op('1.0', '1.1', '>>')", "False"),
    ROW("bb.utils.vercmp_string_op('1', '2', '<=')", "True"),
    ROW("bb.utils.vercmp_string_op('1', '2', '<<')", "True"),
    ROW("bb.utils.vercmp_string_op('1', '1', '==')", "True"),
    ROW("bb.utils.vercmp_string_op('2', '1', '>')", "True"),
    ROW("oe.utils.version_less_or_equal('PV', '1.3', 'y', 'n', d)", "y"),
    ROW("oe.utils.version_less_or_equal('PV', '1.2', 'y', 'n', d)", "n"),
    ROW("oe.utils.version_less_or_equal('PV', '1.2.3', 'y', 'n', d)", "y"),
};

static const struct expr_row errors[] = {
    ROW("bb.utils.vercmp_string_op('1', '2', '<>')",
        "VersionStringException: Unsupported comparison operator \"<>\""),
    ROW("bb.utils.vercmp_string(None, '1')",
        "AttributeError: 'NoneType' object has no attribute 'strip'"),
    ROW("bb.utils.vercmp_string('x:1', '1')",
        "ValueError: invalid literal for int() with base 10: 'x'"),
    ROW("bb.utils.vercmp_string('1', 5)",
        "AttributeError: 'int' object has no attribute 'strip'"),
    ROW("oe.utils.version_less_or_equal('NOPE', '1.2', 'y', 'n', d)",
        "AttributeError: 'NoneType' object has no attribute 'strip'"),
};

static const char *const unknown[] = {
    "bb.utils.vercmp_string('1', '\xc3\xa9')",
};

static void versions_are_ordered_as_in_bitbake(void **state)
{
    (void)state;
    expr_rows_give(answers, BZ_COUNTOF(answers));
}

static void what_is_no_version_raises(void **state)
{
    (void)state;
    expr_rows_raise(errors, BZ_COUNTOF(errors));
}

static void odd_versions_are_left_to_python(void **state)
{
    (void)state;
    expr_rows_leave(unknown, BZ_COUNTOF(unknown), BZ_E_NOSUP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_are_ordered_as_in_bitbake),
        cmocka_unit_test(what_is_no_version_raises),
        cmocka_unit_test(odd_versions_are_left_to_python),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
