#include "vars/expr_oe.h"

#include "tests/unit/vars/expr_rows.h"

static const struct expr_row answers[] = {
    ROW("oe.utils.conditional('B', 'b', 'yes', 'no', d)", "yes"),
    ROW("oe.utils.conditional('B', 'x', 'yes', 'no', d)", "no"),
    ROW("oe.utils.conditional('NOPE', None, 'yes', 'no', d)", "yes"),
    ROW("oe.utils.conditional('NOPE', '', 'yes', 'no', d)", "no"),
    ROW("oe.utils.conditional('E', '', 1, 2, d)", "1"),
    ROW("oe.utils.conditional('N', 5, 1, 2, d)", "2"),
    ROW("oe.utils.vartrue('T', 'y', 'n', d)", "y"),
    ROW("oe.utils.vartrue('Z', 'y', 'n', d)", "n"),
    ROW("oe.utils.vartrue('NOPE', 'y', 'n', d)", "n"),
    ROW("oe.utils.ifelse(1)", "True"),
    ROW("oe.utils.ifelse(0)", "False"),
    ROW("oe.utils.ifelse(B == 'b', 'y', 'n')", "y"),
    ROW("oe.utils.ifelse('', 'y', 'n')", "n"),
    ROW("oe.utils.ifelse(0, iffalse='f')", "f"),
    ROW("oe.types.boolean('yes')", "True"),
    ROW("oe.types.boolean('F')", "False"),
    ROW("oe.types.boolean(None)", "False"),
    ROW("oe.types.boolean(True)", "True"),
    ROW("oe.types.boolean('T')", "True"),
    ROW("oe.utils.less_or_equal('N', '5', 'y', 'n', d)", "y"),
    ROW("oe.utils.less_or_equal('N', 4.5, 'y', 'n', d)", "n"),
    ROW("oe.utils.less_or_equal('V', '2.2', 'y', 'n', d)", "y"),
    ROW("oe.utils.less_or_equal('Z', True, 'y', 'n', d)", "y"),
    ROW("oe.utils.prune_suffix('foo-native', ['-native', '-cross'], d)", "foo"),
    ROW("oe.utils.prune_suffix('lib32-foo', [], d)", "foo"),
    ROW("oe.utils.prune_suffix('foo-cross-native', ['-native', '-cross'], d)", "foo"),
    ROW("oe.utils.prune_suffix('foo', ['', '-x'], d)", "foo"),
    ROW("oe.utils.prune_suffix('foo', [None, 'o'], d)", "fo"),
    ROW("oe.utils.str_filter('a', A, d)", "a"),
    ROW("oe.utils.str_filter_out('a', A, d)", "b c"),
    ROW("oe.utils.str_filter('x', A, d)", ""),
    ROW("oe.utils.str_filter('', A, d)", "a b c"),
    ROW("oe.utils.build_depends_string('a b', 'do_x')", "a:do_x b:do_x"),
    ROW("oe.utils.build_depends_string('', 'do_x')", ""),
    ROW("oe.utils.build_depends_string(' a ', 'do_populate_sysroot')",
        "a:do_populate_sysroot"),
    ROW("oe.utils.inherits(d, 'x', 'native')", "True"),
    ROW("oe.utils.inherits(d, 'x')", "False"),
    ROW("oe.utils.inherits(d)", "False"),
    ROW("oe.utils.trim_version('1.2.3')", "1.2"),
    ROW("oe.utils.trim_version('1.2.3', 1)", "1"),
    ROW("oe.utils.trim_version('1', 2)", "1"),
    ROW("oe.utils.trim_version('', 1)", ""),
    ROW("oe.utils.trim_version('1.2.3', 9)", "1.2.3"),
    ROW("oe.utils.trim_version('1.2.3', num_parts=3)", "1.2.3"),
    ROW("oe.utils.parallel_make(d)", "8"),
    ROW("oe.utils.parallel_make(d, True)", ""),
    ROW("oe.utils.parallel_make(d, makeinst=False)", "8"),
    ROW("oe.utils.parallel_make_argument(d, '-n %d')", "-n 8"),
    ROW("oe.utils.parallel_make_argument(d, '-j%d', limit=4)", "-j4"),
    ROW("oe.utils.parallel_make_argument(d, '-j%d', limit=64)", "-j8"),
    ROW("oe.utils.parallel_make_argument(d, '-j%d', None, True)", ""),
    ROW("oe.utils.cpu_count(at_least=100, at_most=200)", "100"),
    ROW("oe.utils.cpu_count(1, 1)", "1"),
    ROW("oe.utils.cpu_count() >= 1", "True"),
    ROW("oe.utils.base_set_filespath(['/a', '', '/b/'], d)",
        "/x/o2:/a/o2:/b/o2:/x/o1:/a/o1:/b/o1:/x/:/a/:/b/"),
    ROW("oe.utils.base_set_filespath([], d)", "/x/o2:/x/o1:/x/"),
    ROW("oe.utils.multilib_pkg_extend(d, 'pkg')", "pkg lib32-pkg lib64-pkg"),
    ROW("oe.utils.extend_variants(d, 'MULTILIBS', 'multilib')", "lib32 lib64"),
    ROW("oe.utils.extend_variants(d, 'NOPE', 'multilib')", ""),
    ROW("oe.utils.extend_variants(d, 'MULTILIBS', 'none')", ""),
    ROW("oe.path.join('a', '/b', '../c')", "a/c"),
    ROW("oe.path.join('/a')", "/a"),
    ROW("oe.path.join('a', '')", "a"),
    ROW("oe.path.join('')", "."),
    ROW("oe.path.relative('/usr/bin', '/usr/lib')", "../lib"),
    ROW("oe.path.relative('/tmp', '/tmp/foo/bar')", "foo/bar"),
    ROW("oe.path.relative('/usr/bin', '/tmp/foo/bar')", "../../tmp/foo/bar"),
};

static const struct expr_row errors[] = {
    ROW("oe.utils.vartrue('BAD', 'y', 'n', d)",
        "ValueError: Invalid boolean value 'maybe'"),
    ROW("oe.utils.vartrue('E', 'y', 'n', d)", "ValueError: Invalid boolean value ''"),
    ROW("oe.types.boolean('maybe')", "ValueError: Invalid boolean value 'maybe'"),
    ROW("oe.utils.less_or_equal('B', '5', 'y', 'n', d)",
        "ValueError: could not convert string to float: 'b'"),
    ROW("oe.utils.less_or_equal('NOPE', '5', 'y', 'n', d)",
        "TypeError: float() argument must be a string or a real number, not "
        "'NoneType'"),
    ROW("oe.utils.prune_suffix(None, ['-native'], d)",
        "AttributeError: 'NoneType' object has no attribute 'endswith'"),
    ROW("oe.utils.prune_suffix(None, [], d)",
        "AttributeError: 'NoneType' object has no attribute 'startswith'"),
    ROW("oe.utils.prune_suffix('a', None, d)",
        "TypeError: 'NoneType' object is not iterable"),
    ROW("oe.utils.build_depends_string(None, 'do_x')",
        "AttributeError: 'NoneType' object has no attribute 'split'"),
    ROW("oe.utils.trim_version(5)", "TypeError: Version should be a string"),
    ROW("oe.utils.trim_version('1', 0)", "ValueError: Cannot split to parts < 1"),
    ROW("oe.path.join('a', None)",
        "TypeError: sequence item 1: expected str instance, NoneType found"),
};

static const char *const unknown[] = {
    "oe.types.boolean(5)",
    "oe.utils.str_filter('a.*', A, d)",
    "oe.utils.base_set_filespath(None, d)",
    "oe.utils.read_file('/etc/hostname')",
    "oe.utils.nope()",
};

static void functions_of_oe_answer_as_in_openembedded(void **state)
{
    (void)state;
    expr_rows_give(answers, BZ_COUNTOF(answers));
}

static void wrong_values_raise_in_oe(void **state)
{
    (void)state;
    expr_rows_raise(errors, BZ_COUNTOF(errors));
}

static void other_functions_of_oe_are_left_to_python(void **state)
{
    (void)state;
    expr_rows_leave(unknown, BZ_COUNTOF(unknown), BZ_E_NOSUP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_of_oe_answer_as_in_openembedded),
        cmocka_unit_test(wrong_values_raise_in_oe),
        cmocka_unit_test(other_functions_of_oe_are_left_to_python),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
