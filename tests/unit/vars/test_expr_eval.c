#include "vars/expr_eval.h"

#include "tests/unit/vars/expr_rows.h"

static const struct expr_row answers[] = {
    ROW("B if B == 'b' else 'x'", "b"),
    ROW("['', '-sf'][B == 'soft']", ""),
    ROW("['d', ''][B == 'b']", ""),
    ROW("{'ppc': 'powerpc'}.get(B, B)", "b"),
    ROW("{'b': 'bee'}.get(d.getVar('B'), d.getVar('B'))", "bee"),
    ROW("'.'.join(PV.split('.')[0:2])", "1.2"),
    ROW("\"_\".join(d.getVar(\"PV\").split(\".\"))", "1_2_3"),
    ROW("' '.join([x + ':do_build' for x in A.split()])",
        "a:do_build b:do_build c:do_build"),
    ROW("','.join(A.split(' ')[0].split(';')[::-1]) or 'ttyS0'", "a"),
    ROW("''.join([':df-' + x for x in sorted(set(L.split()) & set((d.getVar('A') or "
        "'').split()))])",
        ":df-a:df-b:df-c"),
    ROW("any(x in (d.getVar(\"A\") or \"\") for x in [\"c\", \"zz\"])", "True"),
    ROW("[d.getVar('A'), d.getVar('B')][bool(d.getVar('B'))].replace('-', '_')", "b"),
    ROW("'kvm' if not os.path.exists('/nonexistent-name') else ''", "kvm"),
    ROW("d.getVar('A:tune-' + (d.getVar('B') or 'INVALID')) or d.getVar('N')", "5"),
    ROW("' (%s)' % B if 'B' in d else ''", " (b)"),
    ROW("\"gnupg\" if (\"native\" in d.getVar(\"PN\")) else \"gnupg-gpg\"", "gnupg"),
    ROW("['','x_'][int(d.getVar('PE') or 0) > 0]", ""),
    ROW("(d.getVar('NOPE') or '').split()", "[]"),
    ROW("[1, 2][5] if 0 else 'ok'", "ok"),
    ROW("1 or nope", "1"),
    ROW("None", "None"),
    ROW("True", "True"),
    ROW("5", "5"),
    ROW("1.5", "1.5"),
    ROW("[]", "[]"),
    ROW("'x' if E else 'y'", "y"),
    ROW("B and E", ""),
    ROW("E and B", ""),
    ROW("E or B", "b"),
    ROW("B or E", "b"),
    ROW("not E", "True"),
    ROW("not B", "False"),
    ROW("U", "h\xc3\xa9\xc3\xa9"),
    ROW("U + 'x'", "h\xc3\xa9\xc3\xa9x"),
    ROW("'a\\nb'", "a\nb"),
    ROW("'%s' % U", "h\xc3\xa9\xc3\xa9"),
};

static const struct expr_row errors[] = {
    ROW("d.getVar('NOPE') + 'x'",
        "TypeError: unsupported operand type(s) for +: 'NoneType' and 'str'"),
    ROW("1 / 0", "ZeroDivisionError: division by zero"),
};

static const char *const unknown[] = {
    "[nope][0]", "nope or 1", "d", "len", "(lambda: 1)", "(x for x in A)",
};

static void expressions_of_real_metadata_are_evaluated(void **state)
{
    (void)state;
    expr_rows_give(answers, BZ_COUNTOF(answers));
}

static void failures_are_those_of_python(void **state)
{
    (void)state;
    expr_rows_raise(errors, BZ_COUNTOF(errors));
}

static void what_is_not_known_is_left_to_python(void **state)
{
    (void)state;
    expr_rows_leave(unknown, BZ_COUNTOF(unknown), BZ_E_NOSUP);
}

static void answers_outlive_the_expression(void **state)
{
    BZ_CLEANUP(bz_vars_freep) struct bz_vars *v = expr_store();
    struct bz_err err = {0};
    struct bz_str out[3];
    char code[] = "'kept' + 'text'";

    (void)state;
    assert_ok(bz_expr_eval(v, bz_str_from(code), NULL, &out[0], &err), &err);
    assert_ok(bz_expr_eval(v, BZ_STR("B"), NULL, &out[1], &err), &err);
    assert_ok(bz_expr_eval(v, BZ_STR("''"), NULL, &out[2], &err), &err);
    memset(code, 'x', sizeof(code));
    assert_ok(bz_vars_set(v, BZ_STR("B"), BZ_STR("other"), 0, NULL, &err), &err);
    assert_true(bz_str_eq(out[0], BZ_STR("kepttext")));
    assert_true(bz_str_eq(out[1], BZ_STR("b")));
    assert_non_null(out[2].p);
    assert_int_equal(out[2].n, 0);
}

static void what_is_read_is_told_also_when_it_fails(void **state)
{
    BZ_CLEANUP(bz_vars_freep) struct bz_vars *v = expr_store();
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    BZ_CLEANUP(bz_refs_release) struct bz_refs refs;
    struct bz_err err = {0};
    struct bz_str out;

    (void)state;
    bz_refs_init(&refs, &arena);
    assert_int_equal(
        bz_expr_eval(v, BZ_STR("d.getVar('NOPE').split()"), &refs, &out, &err),
        BZ_E_INVAL);
    assert_non_null(bz_map_get(&refs.reads, BZ_STR("NOPE")));
    assert_int_equal(bz_expr_eval(v, BZ_STR("nope(d.getVar('A'))"), &refs, &out, &err),
                     BZ_E_NOSUP);
    assert_non_null(bz_map_get(&refs.reads, BZ_STR("A")));
    assert_non_null(bz_map_get(&refs.execs, BZ_STR("nope")));
}

static void failures_of_variables_are_passed_on(void **state)
{
    BZ_CLEANUP(bz_vars_freep) struct bz_vars *v = expr_store();
    struct bz_err err = {0};
    struct bz_str out;

    (void)state;
    assert_ok(bz_vars_set(v, BZ_STR("X"), BZ_STR("${X}"), 0, NULL, &err), &err);
    assert_true(bz_expr_eval(v, BZ_STR("d.getVar('X')"), NULL, &out, &err) < 0);
    assert_true(bz_expr_eval(v, BZ_STR("X"), NULL, &out, &err) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_of_real_metadata_are_evaluated),
        cmocka_unit_test(failures_are_those_of_python),
        cmocka_unit_test(what_is_not_known_is_left_to_python),
        cmocka_unit_test(answers_outlive_the_expression),
        cmocka_unit_test(what_is_read_is_told_also_when_it_fails),
        cmocka_unit_test(failures_of_variables_are_passed_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
