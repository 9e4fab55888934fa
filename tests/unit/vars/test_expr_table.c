#include "vars/expr_table.h"

#include "tests/unit/vars/expr_rows.h"

static const struct expr_row answers[] = {
    ROW("{'a': 1}['a']", "1"),
    ROW("{'a': 1, 'b': 2}.get('b')", "2"),
    ROW("{'a': 1}.get('x')", "None"),
    ROW("{'a': 1}.get('x', 5)", "5"),
    ROW("{1: 'i', '1': 's', None: 'n', (1, 2): 't', True: 'b'}",
        "{1: 'b', '1': 's', None: 'n', (1, 2): 't'}"),
    ROW("{(1,): 2}[(1,)]", "2"),
    ROW("sorted(set('banana'))", "['a', 'b', 'n']"),
    ROW("sorted(set(A.split()) & set('b c d'.split()))", "['b', 'c']"),
    ROW("sorted(set('ab') | set('bc'))", "['a', 'b', 'c']"),
    ROW("sorted(set('ab') - set('bc'))", "['a']"),
    ROW("sorted(set('ab') ^ set('bc'))", "['a', 'c']"),
    ROW("set('ab') <= set('abc')", "True"),
    ROW("set('ab') < set('ab')", "False"),
    ROW("set('abc') >= set('c')", "True"),
    ROW("set('abc') > set('abc')", "False"),
    ROW("set('a') == set('b')", "False"),
    ROW("len(set(str(i % 30) for i in range(100)))", "30"),
    ROW("len({i: i for i in range(100)})", "100"),
    ROW("{i: i * i for i in range(100)}[77]", "5929"),
    ROW("{str(i): i for i in range(40)}.get('39')", "39"),
    ROW("[k for k in {'z': 1, 'a': 2, 'z': 3}]", "['z', 'a']"),
    ROW("{'z': 1, 'a': 2, 'z': 3}", "{'z': 3, 'a': 2}"),
    ROW("{x: 1 for x in 'aab'}", "{'a': 1, 'b': 1}"),
    ROW("dict([('a', 1), ('b', 2)])", "{'a': 1, 'b': 2}"),
    ROW("dict()", "{}"),
    ROW("dict({'q': 1})", "{'q': 1}"),
    ROW("dict(['ab', 'cd'])", "{'a': 'b', 'c': 'd'}"),
    ROW("list({'a': 1}.keys())", "['a']"),
    ROW("list({'a': 1}.values())", "[1]"),
    ROW("list({'a': 1}.items())", "[('a', 1)]"),
    ROW("{'b': 1}.copy()", "{'b': 1}"),
    ROW("' '.join({'a': 1, 'b': 2})", "a b"),
    ROW("{'a'} | {'a'}", "{'a'}"),
    ROW("set()", "set()"),
    ROW("{'a'} - {'a'}", "set()"),
    ROW("sorted({'a', 'b'}.union('cd', ['e']))", "['a', 'b', 'c', 'd', 'e']"),
    ROW("sorted({'a', 'b'}.intersection('bc'))", "['b']"),
    ROW("sorted({'a', 'b'}.difference('b'))", "['a']"),
    ROW("sorted({'a'}.symmetric_difference('ab'))", "['b']"),
    ROW("{'a'}.issubset('ab')", "True"),
    ROW("{'a', 'b'}.issuperset('a')", "True"),
    ROW("{'a'}.isdisjoint('b')", "True"),
    ROW("{'a'}.isdisjoint('a')", "False"),
    ROW("{1: 1, True: 2}", "{1: 2}"),
    ROW("{0, False}", "{0}"),
    ROW("'a' in {'a': 1}.keys()", "True"),
    ROW("len({'a': 1}.keys())", "1"),
};

static const struct expr_row errors[] = {
    ROW("{'a': 1}['b']", "KeyError: 'b'"),
    ROW("{1: 2}[3]", "KeyError: 3"),
    ROW("{[1]: 2}", "TypeError: unhashable type: 'list'"),
    ROW("{{}: 1}", "TypeError: unhashable type: 'dict'"),
    ROW("set([[1]])", "TypeError: unhashable type: 'list'"),
};

static const char *const unknown[] = {
    "{1.5: 2}",        "dict([1])",       "dict(['abc'])",       "str({'a', 'b'})",
    "set('ab') & 'b'", "{'a': 1}.keys()", "{'a': 1}.items()[0]", "{'a': 1}.pop('a')",
};

static void sets_and_dictionaries_find_their_keys(void **state)
{
    (void)state;
    expr_rows_give(answers, BZ_COUNTOF(answers));
}

static void bad_keys_raise(void **state)
{
    (void)state;
    expr_rows_raise(errors, BZ_COUNTOF(errors));
}

static void what_depends_on_hashes_is_left_to_python(void **state)
{
    (void)state;
    expr_rows_leave(unknown, BZ_COUNTOF(unknown), BZ_E_NOSUP);
}

static void many_keys_are_found_and_kept_apart(void **state)
{
    struct bz_err err = {0};
    struct bz_expr_scratch mem;
    struct bz_expr_run r = {.mem = &mem, .budget = 1000000, .err = &err};
    struct bz_expr_seq *seq;
    size_t at;
    int i;

    (void)state;
    bz_expr_scratch_init(&mem);
    assert_ok(bz_expr_value_new_seq(&r, 0, &seq), &err);
    for (i = 0; i < 6000; i++) {
        struct bz_expr_value key = bz_expr_value_int(i % 3000);
        struct bz_expr_value value = bz_expr_value_int(i);

        assert_ok(bz_expr_table_put(&r, seq, &key, &value), &err);
    }
    assert_int_equal(seq->len, 3000);
    for (i = 0; i < 3000; i++) {
        struct bz_expr_value key = bz_expr_value_int(i);

        assert_ok(bz_expr_table_find(&r, seq, &key, &at), &err);
        assert_int_equal(at, i);
        assert_int_equal(seq->values[at].i, i + 3000);
    }
    assert_ok(
        bz_expr_table_find(&r, seq, &(struct bz_expr_value){.kind = BZ_EXPR_NONE}, &at),
        &err);
    assert_int_equal(at, seq->len);
    bz_expr_scratch_release(&mem);
}

static void words_make_a_set(void **state)
{
    struct bz_err err = {0};
    struct bz_expr_scratch mem;
    struct bz_expr_run r = {.mem = &mem, .budget = 1000, .err = &err};
    struct bz_expr_value text = bz_expr_value_str(BZ_STR(" b a  b ")), set;

    (void)state;
    bz_expr_scratch_init(&mem);
    assert_ok(bz_expr_table_words(&r, &text, &set), &err);
    assert_int_equal(set.kind, BZ_EXPR_SET);
    assert_int_equal(set.seq->len, 2);
    assert_true(bz_str_eq(set.seq->at[0].s, BZ_STR("b")));
    assert_true(bz_str_eq(set.seq->at[1].s, BZ_STR("a")));
    bz_expr_scratch_release(&mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_and_dictionaries_find_their_keys),
        cmocka_unit_test(bad_keys_raise),
        cmocka_unit_test(what_depends_on_hashes_is_left_to_python),
        cmocka_unit_test(many_keys_are_found_and_kept_apart),
        cmocka_unit_test(words_make_a_set),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
