#include "vars/expr_str.h"

#include "tests/unit/vars/expr_rows.h"

static const struct expr_row answers[] = {
    ROW("' '.join(['a', 'b'])", "a b"),
    ROW("''.join([])", ""),
    ROW("','.join('abc')", "a,b,c"),
    ROW("'-'.join(('x',))", "x"),
    ROW("' '.join(x for x in A.split())", "a b c"),
    ROW("' '.join({'k': 1})", "k"),
    ROW("'aXbX'.replace('X', '-')", "a-b-"),
    ROW("'aaa'.replace('a', 'b', 2)", "bba"),
    ROW("'abc'.replace('x', 'y')", "abc"),
    ROW("'abc'.replace('b', '')", "ac"),
    ROW("'aaa'.replace('aa', 'b')", "ba"),
    ROW("'a.b'.replace('.', '::')", "a::b"),
    ROW("'aa'.replace('a', 'b', 0)", "aa"),
    ROW("'aa'.replace('a', 'bb', -1)", "bbbb"),
    ROW("' a '.strip()", "a"),
    ROW("' a '.lstrip()", "a "),
    ROW("' a '.rstrip()", " a"),
    ROW("'xxaxx'.strip('x')", "a"),
    ROW("'abcba'.strip('ab')", "c"),
    ROW("'aab'.lstrip('a')", "b"),
    ROW("'baa'.rstrip('a')", "b"),
    ROW("'\\t\\n a'.strip()", "a"),
    ROW("'a'.strip(None)", "a"),
    ROW("''.strip()", ""),
    ROW("'aaa'.strip('a')", ""),
    ROW("'abc'.startswith('a')", "True"),
    ROW("'abc'.startswith('b')", "False"),
    ROW("'abc'.startswith('')", "True"),
    ROW("'abc'.endswith('c')", "True"),
    ROW("'abc'.endswith(('x', 'c'))", "True"),
    ROW("'abc'.startswith(('x', 'y'))", "False"),
    ROW("'abc'.startswith(())", "False"),
    ROW("''.startswith('a')", "False"),
    ROW("'foobar'.removeprefix('foo')", "bar"),
    ROW("'foobar'.removesuffix('bar')", "foo"),
    ROW("'foobar'.removeprefix('x')", "foobar"),
    ROW("'foo'.removesuffix('')", "foo"),
    ROW("'foo'.removeprefix('foo')", ""),
    ROW("'hello'.find('l')", "2"),
    ROW("'hello'.rfind('l')", "3"),
    ROW("'hello'.find('x')", "-1"),
    ROW("'hello'.find('')", "0"),
    ROW("'hello'.rfind('')", "5"),
    ROW("'hello'.rfind('xyz')", "-1"),
    ROW("'hello'.index('e')", "1"),
    ROW("'hello'.rindex('l')", "3"),
    ROW("''.find('a')", "-1"),
    ROW("'ab'.rfind('abc')", "-1"),
    ROW("'aXbXc'.rfind('Xc')", "3"),
    ROW("U.find('\\u00e9')", "1"),
    ROW("U.rfind('\\u00e9')", "2"),
    ROW("U.count('\\u00e9')", "2"),
    ROW("'banana'.count('a')", "3"),
    ROW("'banana'.count('ana')", "1"),
    ROW("'banana'.count('x')", "0"),
    ROW("'abc'.count('')", "4"),
    ROW("''.count('')", "1"),
    ROW("'a'.ljust(3) + '|'", "a  |"),
    ROW("'a'.rjust(3)", "  a"),
    ROW("'a'.ljust(3, '-')", "a--"),
    ROW("'a'.rjust(3, '0')", "00a"),
    ROW("'abc'.ljust(2)", "abc"),
    ROW("'5'.zfill(3)", "005"),
    ROW("'-5'.zfill(4)", "-005"),
    ROW("'+5'.zfill(4)", "+005"),
    ROW("''.zfill(2)", "00"),
    ROW("'abc'.zfill(2)", "abc"),
    ROW("'-'.zfill(3)", "-00"),
    ROW("U.rjust(5)", "  h\xc3\xa9\xc3\xa9"),
    ROW("d.getVar('PV').replace('.', '_')", "1_2_3"),
    ROW("('a' + 'b').upper()", "AB"),
    ROW("'a,b'.replace(',', ' ').split()", "['a', 'b']"),
    ROW("'x' .strip ()", "x"),
};

static const struct expr_row errors[] = {
    ROW("','.join(['a', 1])",
        "TypeError: sequence item 1: expected str instance, int found"),
    ROW("','.join([None])",
        "TypeError: sequence item 0: expected str instance, NoneType found"),
    ROW("','.join(5)", "TypeError: can only join an iterable"),
    ROW("','.join(None)", "TypeError: can only join an iterable"),
    ROW("'abc'.replace(1, 'a')",
        "TypeError: replace() argument 1 must be str, not int"),
    ROW("'abc'.replace('a', None)",
        "TypeError: replace() argument 2 must be str, not None"),
    ROW("'a'.strip(5)", "TypeError: strip arg must be None or str"),
    ROW("'a'.rstrip([])", "TypeError: rstrip arg must be None or str"),
    ROW("'abc'.startswith(None)",
        "TypeError: startswith first arg must be str or a tuple of str, not NoneType"),
    ROW("'abc'.endswith(5)",
        "TypeError: endswith first arg must be str or a tuple of str, not int"),
    ROW("'abc'.startswith(['a'])",
        "TypeError: startswith first arg must be str or a tuple of str, not list"),
    ROW("'hello'.index('x')", "ValueError: substring not found"),
    ROW("'hello'.rindex('x')", "ValueError: substring not found"),
    ROW("None.split()", "AttributeError: 'NoneType' object has no attribute 'split'"),
    ROW("None.strip('x')",
        "AttributeError: 'NoneType' object has no attribute 'strip'"),
    ROW("d.getVar('NOPE').split()",
        "AttributeError: 'NoneType' object has no attribute 'split'"),
};

static const char *const unknown[] = {
    "','.join(d)",
    "'abc'.replace('', '-')",
    "'abc'.replace('a', 'b', 'c')",
    "'abc'.replace('a')",
    "'a'.strip('\xc3\xa9')",
    "'abc'.startswith('b', 1)",
    "'foo'.removeprefix(5)",
    "'hello'.find(5)",
    "'hello'.find('l', 3)",
    "'a'.ljust('x')",
    "'a'.rjust(5, 'ab')",
    "'a'.center(5)",
    "'a'.encode()",
    "'a'.nope",
    "'a'.nope()",
    "'a'.upper",
    "'abc'.translate({})",
    "'a'.join",
    "None.__class__",
    "(5).bit_length()",
};

static const char *const too_much[] = {
    "'a'.ljust(10000000000)",
};

static void methods_of_strings_answer_as_in_python(void **state)
{
    (void)state;
    expr_rows_give(answers, BZ_COUNTOF(answers));
}

static void wrong_arguments_of_methods_raise(void **state)
{
    (void)state;
    expr_rows_raise(errors, BZ_COUNTOF(errors));
}

static void other_methods_are_left_to_python(void **state)
{
    (void)state;
    expr_rows_leave(unknown, BZ_COUNTOF(unknown), BZ_E_NOSUP);
}

static void too_much_work_is_refused(void **state)
{
    (void)state;
    expr_rows_leave(too_much, BZ_COUNTOF(too_much), BZ_E_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(methods_of_strings_answer_as_in_python),
        cmocka_unit_test(wrong_arguments_of_methods_raise),
        cmocka_unit_test(other_methods_are_left_to_python),
        cmocka_unit_test(too_much_work_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
