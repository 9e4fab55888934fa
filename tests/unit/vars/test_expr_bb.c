#include "vars/expr_bb.h"

#include "tests/unit/vars/expr_rows.h"

static const struct expr_row answers[] = {
    ROW("bb.utils.which('/dev:/proc', 'null')", "/dev/null"),
    ROW("bb.utils.which('/proc:/dev:/dev/.', 'null')", "/dev/null"),
    ROW("bb.utils.which('/proc:/dev:/dev/.', 'null', 1)", "/dev/./null"),
    ROW("bb.utils.which('/proc:/dev:/dev/.', 'null', direction=True)", "/dev/./null"),
    ROW("bb.utils.which('/dev:/dev/.', 'null', None)", "/dev/./null"),
    ROW("bb.utils.which('/dev:/dev/.', 'null', 0)", "/dev/null"),
    ROW("bb.utils.which('/dev', 'no-such')", ""),
    ROW("bb.utils.which('/a:/dev', '/proc')", "/proc"),
    ROW("bb.utils.which('x:/dev', '/dev/null')", "/dev/null"),
    ROW("bb.utils.which('', '/dev/null')", "/dev/null"),
    ROW("bb.utils.which(None, '/no-such')", ""),
    ROW("bb.utils.which(0, '/dev')", "/dev"),
    ROW("bb.utils.which('/dev/', 'null')", "/dev/null"),
    ROW("bb.utils.which('/a:/dev:/b', 'null', history=True)",
        "('/dev/null', ['/a/null', '/dev/null'])"),
    ROW("bb.utils.which('/a:/b', 'x', 1, True)", "('', ['/b/x', '/a/x'])"),
    ROW("bb.utils.which('/dev', 'null', executable=True)", ""),
    ROW("bb.utils.which('/dev:/bin', 'sh', executable=True)", "/bin/sh"),
    ROW("bb.utils.which('/bin', '', executable=True)", ""),
    ROW("bb.utils.which('/bin', '')", "/bin/"),
    ROW("bb.utils.which('/dev', 'a\\0b')", ""),
    ROW("bb.utils.which(item='null', path='/dev')", "/dev/null"),
    ROW("bb.utils.contains('A', 'a', 'yes', 'no', d)", "yes"),
    ROW("bb.utils.contains('A', 'z', 'yes', 'no', d)", "no"),
    ROW("bb.utils.contains('A', 'a b', 'yes', 'no', d)", "yes"),
    ROW("bb.utils.contains('A', 'a z', 'yes', 'no', d)", "no"),
    ROW("bb.utils.contains('A', '', 'yes', 'no', d)", "yes"),
    ROW("bb.utils.contains('E', '', 'yes', 'no', d)", "no"),
    ROW("bb.utils.contains('NOPE', 'a', 'yes', 'no', d)", "no"),
    ROW("bb.utils.contains('A', ['a', 'b'], 1, 0, d)", "1"),
    ROW("bb.utils.contains('A', ['a', 'z'], 1, 0, d)", "0"),
    ROW("bb.utils.contains('A', ('c',), True, False, d)", "True"),
    ROW("bb.utils.contains('A', {'a'}, True, False, d)", "True"),
    ROW("bb.utils.contains('A', [], True, False, d)", "True"),
    ROW("bb.utils.contains('A', 'a b c a b c', 1, 0, d)", "1"),
    ROW("bb.utils.contains('A', 'a b c a b d', 1, 0, d)", "0"),
    ROW("bb.utils.contains_any('A', 'z a', 'yes', 'no', d)", "yes"),
    ROW("bb.utils.contains_any('A', 'z y', 'yes', 'no', d)", "no"),
    ROW("bb.utils.contains_any('A', '', 'yes', 'no', d)", "no"),
    ROW("bb.utils.contains_any('A', ['z', 'c'], 1, 0, d)", "1"),
    ROW("bb.utils.contains_any('NOPE', 'a', 1, 0, d)", "0"),
    ROW("bb.utils.contains_any('A', 'u v w x y z', 1, 0, d)", "0"),
    ROW("bb.utils.contains_any('A', 'u v w x y c', 1, 0, d)", "1"),
    ROW("bb.utils.contains('A', [5], 1, 0, d)", "0"),
    ROW("bb.utils.contains('A', 'a', d.getVar('B'), d.getVar('NOPE'), d)", "b"),
    ROW("bb.utils.filter('A', 'c a z', d)", "a c"),
    ROW("bb.utils.filter('A', 'z', d)", ""),
    ROW("bb.utils.filter('NOPE', 'a', d)", ""),
    ROW("bb.utils.filter('A', '', d)", ""),
    ROW("bb.utils.filter('L', ['c', 'a'], d)", "a c"),
    ROW("bb.utils.filter('A', ['a b', '', 'c'], d)", "c"),
    ROW("bb.utils.filter('A', 'c c a a', d)", "a c"),
    ROW("bb.utils.filter('A', 'z y x w v c b', d)", "b c"),
    ROW("bb.utils.contains('A', ['a b'], 1, 0, d)", "0"),
    ROW("bb.utils.contains('A', [''], 1, 0, d)", "0"),
    ROW("bb.utils.contains_any('A', ['b c', ''], 1, 0, d)", "0"),
    ROW("bb.utils.filter_string('c b a', 'a c')", "a c"),
    ROW("bb.utils.filter_string('', 'a')", ""),
    ROW("bb.utils.filter_string(None, 'a')", ""),
    ROW("bb.utils.to_boolean('yes')", "True"),
    ROW("bb.utils.to_boolean('NO')", "False"),
    ROW("bb.utils.to_boolean('1')", "True"),
    ROW("bb.utils.to_boolean('0')", "False"),
    ROW("bb.utils.to_boolean('')", "None"),
    ROW("bb.utils.to_boolean(None)", "None"),
    ROW("bb.utils.to_boolean(None, True)", "True"),
    ROW("bb.utils.to_boolean('', 'x')", "x"),
    ROW("bb.utils.to_boolean(5)", "True"),
    ROW("bb.utils.to_boolean(0)", "None"),
    ROW("bb.utils.to_boolean('True')", "True"),
    ROW("bb.utils.to_boolean('y', default=False)", "True"),
    ROW("bb.utils.explode_deps('a (>= 1.0) b c (= 2)')", "['a', 'b', 'c']"),
    ROW("bb.utils.explode_deps('')", "[]"),
    ROW("bb.utils.explode_deps('a (x)b c) d')", "['a', 'd']"),
    ROW("bb.utils.explode_deps('(a) b')", "['b']"),
    ROW("bb.data.inherits_class('native', d)", "True"),
    ROW("bb.data.inherits_class('nativ', d)", "False"),
    ROW("bb.data.inherits_class('ative', d)", "False"),
    ROW("bb.data.inherits_class('', d)", "False"),
    ROW("bb.parse.vars_from_file('/a/b/foo_1.0_r1.bb', d)", "['foo', '1.0', 'r1']"),
    ROW("bb.parse.vars_from_file('foo.bb', d)", "['foo', None, None]"),
    ROW("bb.parse.vars_from_file('foo_1.bbappend', d)", "['foo', '1', None]"),
    ROW("bb.parse.vars_from_file('foo.txt', d)", "(None, None, None)"),
    ROW("bb.parse.vars_from_file('', d)", "(None, None, None)"),
    ROW("bb.parse.vars_from_file(None, d)", "(None, None, None)"),
    ROW("bb.parse.vars_from_file('a/x.y_1.2.bb', d)", "['x.y', '1.2', None]"),
    ROW("bb.parse.vars_from_file(d.getVar('FILE', False), d)[0] or 'defaultpkgname'",
        "foo"),
    ROW("bb.parse.vars_from_file(d.getVar('FILE', False), d)[1] or '1.0'", "1.2"),
    ROW("'pam' if bb.utils.contains('DF', 'pam', True, False, d) else ''", "pam"),
    ROW("bb.utils.contains('A', 'a', bb.utils.contains('A', 'b', 'ab', 'a', d), '', d)",
        "ab"),
    ROW("bb.utils.contains('U', 'h\\u00e9\\u00e9', 'y', 'n', d)", "y"),
};

static const struct expr_row errors[] = {
    ROW("bb.utils.which(5, 'x')",
        "AttributeError: 'int' object has no attribute 'split'"),
    ROW("bb.utils.contains('A', 5, 1, 0, d)",
        "TypeError: intern() argument must be str, not int"),
    ROW("bb.utils.contains('A', None, 1, 0, d)",
        "TypeError: intern() argument must be str, not None"),
    ROW("bb.utils.filter('A', 5, d)",
        "AttributeError: 'int' object has no attribute 'split'"),
    ROW("bb.utils.filter('A', None, d)",
        "AttributeError: 'NoneType' object has no attribute 'split'"),
    ROW("bb.utils.contains('A', True, 1, 0, d)",
        "TypeError: intern() argument must be str, not bool"),
    ROW("bb.utils.contains('A', 1.5, 1, 0, d)",
        "TypeError: intern() argument must be str, not float"),
    ROW("bb.utils.to_boolean('maybe')",
        "ValueError: Invalid value for to_boolean: maybe"),
    ROW("bb.utils.to_boolean('t')", "ValueError: Invalid value for to_boolean: t"),
    ROW("bb.utils.explode_deps(None)",
        "AttributeError: 'NoneType' object has no attribute 'split'"),
    ROW("bb.parse.vars_from_file('a_b_c_d.bb', d)",
        "ParseError: ParseError in a_b_c_d.bb: Unable to generate default variables "
        "from filename (too many underscores)"),
};

static const char *const unknown[] = {
    "bb.utils.which('bin:/dev', 'null')",
    "bb.utils.which(None, 'null')",
    "bb.utils.which('/dev', None)",
    "bb.utils.which('/dev', 'null', 0.0)",
    "bb.utils.contains('A', 'a', 1, 0, 5)",
    "bb.utils.contains(5, 'a', 1, 0, d)",
    "d.getVarFlag('A', 5)",
    "d.getVarFlag('A', True)",
    "bb.utils.to_boolean([1])",
    "bb.parse.vars_from_file('/a/.bb', d)",
    "bb.parse.BBHandler.vars_from_file(d.getVar('FILE', False), d)[0]",
    "bb.parse.vars_from_file(5, d)",
};

static void functions_of_bb_answer_as_in_bitbake(void **state)
{
    (void)state;
    expr_rows_give(answers, BZ_COUNTOF(answers));
}

static void wrong_values_raise_in_bb(void **state)
{
    (void)state;
    expr_rows_raise(errors, BZ_COUNTOF(errors));
}

static void other_functions_of_bb_are_left_to_python(void **state)
{
    (void)state;
    expr_rows_leave(unknown, BZ_COUNTOF(unknown), BZ_E_NOSUP);
}

static void words_are_whole_words(void **state)
{
    static const struct {
        struct bz_str text, wanted;
        bool all, any;
    } cases[] = {
        {BZ_STR("ab b"),       BZ_STR("a"),   false, false},
        {BZ_STR("ab a"),       BZ_STR("a"),   true,  true },
        {BZ_STR("a ab"),       BZ_STR("ab"),  true,  true },
        {BZ_STR("aa"),         BZ_STR("a"),   false, false},
        {BZ_STR("aaa aa"),     BZ_STR("aa"),  true,  true },
        {BZ_STR("\ta\nb\r"),   BZ_STR("b a"), true,  true },
        {BZ_STR("a b"),        BZ_STR("b c"), false, true },
        {BZ_STR("a b"),        BZ_STR("  "),  true,  false},
        {BZ_STR("x\xe3\x80\x80"
                "a"),
         BZ_STR("a"),                         true,  true },
        {BZ_STR("x\xc2\xa0"
                "a"),
         BZ_STR("a x"),                       true,  true },
        {BZ_STR("\xc3\xa9"
                "a"),
         BZ_STR("a"),                         false, false},
        {BZ_STR("a\xc3\xa9"),  BZ_STR("a"),   false, false},
    };
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(cases); i++) {
        bool all = false, any = false;

        assert_true(bz_expr_bb_has_few(cases[i].text, cases[i].wanted, false, &all));
        assert_true(bz_expr_bb_has_few(cases[i].text, cases[i].wanted, true, &any));
        assert_int_equal(all, cases[i].all);
        assert_int_equal(any, cases[i].any);
    }
    assert_false(bz_expr_bb_has_few(BZ_STR("a b c d e"), BZ_STR("a b c d e"), false,
                                    &(bool){false}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_of_bb_answer_as_in_bitbake),
        cmocka_unit_test(wrong_values_raise_in_bb),
        cmocka_unit_test(other_functions_of_bb_are_left_to_python),
        cmocka_unit_test(words_are_whole_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
