#include "vars/expr_list.h"

#include "tests/unit/vars/expr_rows.h"

static const struct expr_row answers[] = {
    ROW("[1, 2, 1].index(2)", "1"),
    ROW("[1, 2, 1].count(1)", "2"),
    ROW("(1, 2).index(1)", "0"),
    ROW("('a',).count('b')", "0"),
    ROW("['a', 'b'].index('b')", "1"),
    ROW("sorted([3, 1, 2])", "[1, 2, 3]"),
    ROW("sorted('cab')", "['a', 'b', 'c']"),
    ROW("sorted(['b', 'a'], reverse=True)", "['b', 'a']"),
    ROW("sorted([])", "[]"),
    ROW("sorted((2, 1))", "[1, 2]"),
    ROW("sorted({'b': 1, 'a': 2})", "['a', 'b']"),
    ROW("sorted(['b', 'A', 'a'])", "['A', 'a', 'b']"),
    ROW("sorted([True, 0, 2])", "[0, True, 2]"),
    ROW("sorted(['bb', 'a', 'cc'], key=len)", "['a', 'bb', 'cc']"),
    ROW("sorted(['bb', 'a', 'cc'], key=len, reverse=True)", "['bb', 'cc', 'a']"),
    ROW("sorted(['b', 'A'], key=lambda x: x.lower())", "['A', 'b']"),
    ROW("sorted([3, 1], key=lambda x: -x)", "[3, 1]"),
    ROW("sorted(['b', 'a'], key=None)", "['a', 'b']"),
    ROW("sorted([None])", "[None]"),
    ROW("sorted(L.split())", "['a', 'a', 'b', 'c']"),
    ROW("' '.join(sorted(set(L.split())))", "a b c"),
};

static const struct expr_row errors[] = {
    ROW("[1].index(2)", "ValueError: 2 is not in list"),
    ROW("['a'].index('b')", "ValueError: 'b' is not in list"),
    ROW("(1,).index(2)", "ValueError: tuple.index(x): x not in tuple"),
    ROW("sorted(5)", "TypeError: 'int' object is not iterable"),
};

static const char *const unknown[] = {
    "[1].append(2)",      "[1].sort()",         "[1].nope",
    "sorted([1, 'a'])",   "sorted([None, 1])",  "sorted([[2], [1]])",
    "sorted(['a'], len)", "sorted([1.5, 0.5])",
};

static void methods_of_containers_and_sorting_answer_as_in_python(void **state)
{
    (void)state;
    expr_rows_give(answers, BZ_COUNTOF(answers));
}

static void what_is_not_there_raises(void **state)
{
    (void)state;
    expr_rows_raise(errors, BZ_COUNTOF(errors));
}

static void what_changes_a_value_is_left_to_python(void **state)
{
    (void)state;
    expr_rows_leave(unknown, BZ_COUNTOF(unknown), BZ_E_NOSUP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(methods_of_containers_and_sorting_answer_as_in_python),
        cmocka_unit_test(what_is_not_there_raises),
        cmocka_unit_test(what_changes_a_value_is_left_to_python),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
