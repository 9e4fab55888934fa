#include "vars/expr_value.h"

#include "tests/unit/vars/expr_rows.h"

static const struct expr_row answers[] = {
    ROW("bool(0)", "False"),
    ROW("bool(1)", "True"),
    ROW("bool('')", "False"),
    ROW("bool('0')", "True"),
    ROW("bool([])", "False"),
    ROW("bool([0])", "True"),
    ROW("bool(())", "False"),
    ROW("bool({})", "False"),
    ROW("bool(set())", "False"),
    ROW("bool(None)", "False"),
    ROW("bool(0.0)", "False"),
    ROW("bool(d)", "True"),
    ROW("1 == 1.0", "True"),
    ROW("1 == True", "True"),
    ROW("0 == False", "True"),
    ROW("'1' == 1", "False"),
    ROW("None == 0", "False"),
    ROW("None == None", "True"),
    ROW("[1, 2] == [1, 2]", "True"),
    ROW("[1, 2] == (1, 2)", "False"),
    ROW("(1, 2) == (1, 2)", "True"),
    ROW("[1] == [1, 2]", "False"),
    ROW("[1.0] == [1]", "True"),
    ROW("{1: 2} == {1: 2}", "True"),
    ROW("{1: 2} == {1: 3}", "False"),
    ROW("{1, 2} == {2, 1}", "True"),
    ROW("{1} == {2}", "False"),
    ROW("{1: 2} == {2: 2}", "False"),
    ROW("'a' < 'b'", "True"),
    ROW("'a' < 'B'", "False"),
    ROW("'' < 'a'", "True"),
    ROW("'ab' < 'abc'", "True"),
    ROW("'\xc3\xa9' > 'z'", "True"),
    ROW("1 < 1.5", "True"),
    ROW("2 > 1.5", "True"),
    ROW("True < 2", "True"),
    ROW("[1, 2] < [1, 3]", "True"),
    ROW("[1] < [1, 0]", "True"),
    ROW("(2,) > (1, 9)", "True"),
    ROW("[] < [0]", "True"),
    ROW("d == 1", "False"),
    ROW("1 != 2", "True"),
    ROW("'a' != 'a'", "False"),
    ROW("'a' in ['a']", "True"),
    ROW("'a' in ('b',)", "False"),
    ROW("1 in {1: 2}", "True"),
    ROW("2 in {1: 2}", "False"),
    ROW("'x' in {'x'}", "True"),
    ROW("3 in range(3)", "False"),
    ROW("'b' in A", "True"),
    ROW("'x' in A", "False"),
    ROW("'' in ''", "True"),
    ROW("'A' in d", "True"),
    ROW("'NOPE' in d", "False"),
    ROW("'A[doc]' in d", "False"),
    ROW("None is None", "True"),
    ROW("None is not None", "False"),
    ROW("True is True", "True"),
    ROW("1 is None", "False"),
    ROW("'' is not None", "True"),
    ROW("True is 1", "False"),
    ROW("False is None", "False"),
    ROW("[1] * 3 == [1, 1, 1]", "True"),
    ROW("'\xc3\xa9' == '\xc3\xa9'", "True"),
    ROW("'\xc3\xa9' in U", "True"),
    ROW("'a' in (x for x in 'abc')", "True"),
    ROW("any(x == y for x in 'ab' for y in 'bc')", "True"),
    ROW("list('abc')", "['a', 'b', 'c']"),
};

static const struct expr_row errors[] = {
    ROW("1 < 'a'", "TypeError: '<' not supported between instances of 'int' and 'str'"),
    ROW("None < 1",
        "TypeError: '<' not supported between instances of 'NoneType' and 'int'"),
    ROW("'a' >= None",
        "TypeError: '>=' not supported between instances of 'str' and 'NoneType'"),
    ROW("[1] < (1,)",
        "TypeError: '<' not supported between instances of 'list' and 'tuple'"),
    ROW("[1] < ['a']",
        "TypeError: '<' not supported between instances of 'int' and 'str'"),
    ROW("1 in 'a'",
        "TypeError: 'in <string>' requires string as left operand, not int"),
    ROW("'a' in None", "TypeError: argument of type 'NoneType' is not iterable"),
    ROW("'a' in 5", "TypeError: argument of type 'int' is not iterable"),
    ROW("[1] in {1: 2}", "TypeError: unhashable type: 'list'"),
    ROW("{1} in {1: 2}", "TypeError: unhashable type: 'set'"),
};

static const char *const unknown[] = {
    "d == d",
    "{1} in {1}",
    "5 in d",
    "'a' is 'a'",
    "9007199254740993 == 9007199254740993.0",
    "[c for c in U]",
    "for",
};

static void truth_equality_and_order_are_pythons(void **state)
{
    (void)state;
    expr_rows_give(answers, BZ_COUNTOF(answers));
}

static void values_without_an_order_raise(void **state)
{
    (void)state;
    expr_rows_raise(errors, BZ_COUNTOF(errors));
}

static void identity_and_mixed_numbers_are_left_to_python(void **state)
{
    (void)state;
    expr_rows_leave(unknown, BZ_COUNTOF(unknown), BZ_E_NOSUP);
}

static void a_budget_is_spent_once(void **state)
{
    struct bz_err err = {0};
    struct bz_expr_run r = {.budget = 10, .err = &err};

    (void)state;
    assert_int_equal(bz_expr_value_charge(&r, 7), 0);
    assert_int_equal(bz_expr_value_charge(&r, 4), BZ_E_LIMIT);
    assert_int_equal(bz_expr_value_charge(&r, 3), 0);
    assert_int_equal(bz_expr_value_charge(&r, 1), BZ_E_LIMIT);
}

static void sequences_grow_and_keep_what_they_have(void **state)
{
    struct bz_err err = {0};
    struct bz_expr_scratch mem;
    struct bz_expr_run r = {.mem = &mem, .budget = 100000, .err = &err};
    struct bz_expr_seq *seq;
    int i;

    (void)state;
    bz_expr_scratch_init(&mem);
    assert_ok(bz_expr_value_new_seq(&r, 0, &seq), &err);
    for (i = 0; i < 1000; i++) {
        struct bz_expr_value v = bz_expr_value_int(i);

        assert_ok(bz_expr_value_push(&r, seq, &v), &err);
    }
    assert_int_equal(seq->len, 1000);
    for (i = 0; i < 1000; i++)
        assert_int_equal(seq->at[i].i, i);
    bz_expr_scratch_release(&mem);
}

static void types_have_pythons_names(void **state)
{
    struct bz_expr_value none = bz_expr_value_none(), yes = bz_expr_value_bool(true);

    (void)state;
    assert_string_equal(bz_expr_value_type(&none), "NoneType");
    assert_string_equal(bz_expr_value_type(&yes), "bool");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truth_equality_and_order_are_pythons),
        cmocka_unit_test(values_without_an_order_raise),
        cmocka_unit_test(identity_and_mixed_numbers_are_left_to_python),
        cmocka_unit_test(a_budget_is_spent_once),
        cmocka_unit_test(sequences_grow_and_keep_what_they_have),
        cmocka_unit_test(types_have_pythons_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
