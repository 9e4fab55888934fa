#include "vars/expr_lib.h"

#include "tests/unit/vars/expr_rows.h"

static const struct expr_row answers[] = {
    ROW("d.getVar('A')", "a b c"),
    ROW("d.getVar('NOPE')", "None"),
    ROW("d.getVar('INNER')", "<b>"),
    ROW("d.getVar('INNER', False)", "<${B}>"),
    ROW("d.getVar('INNER', 0)", "<${B}>"),
    ROW("d.getVar('INNER', 1)", "<b>"),
    ROW("d.getVar('E')", ""),
    ROW("d.getVarFlag('A', 'doc')", "text b"),
    ROW("d.getVarFlag('A', 'doc', False)", "text ${B}"),
    ROW("d.getVarFlag('A', 'nope')", "None"),
    ROW("d.getVarFlag('NOPE', 'doc')", "None"),
    ROW("d.expand('x$' + '{B}y')", "xby"),
    ROW("d.expand('plain')", "plain"),
    ROW("d.expand('$' + '{NOPE}')", "${NOPE}"),
    ROW("d.expand(d.getVar('INNER', False))", "<b>"),
    ROW("d.expand('$' + '{@1+1}')", "2"),
    ROW("d.expand(5)", "5"),
    ROW("d.expand(None)", "None"),
    ROW("d.getVar('A').split()[0]", "a"),
    ROW("d.getVar('NOPE') or 'default'", "default"),
    ROW("d.getVar('NOPE') == None", "True"),
    ROW("d.getVar('B' + 'AD')", "maybe"),
    ROW("d.getVar(oe.utils.vartrue('T', 'A', 'B', d))", "a b c"),
};

static const struct expr_row errors[] = {
    ROW("d.getVar()", "IndexError: list index out of range"),
    ROW("d.getVarFlag('A')", "IndexError: list index out of range"),
};

static const char *const unknown[] = {
    "d.getVar('BB_ORIGENV').getVar('PATH')",
    "d.getVar('BB_ORIGENV', False) or 'none'",
    "d.getVar(None)",
    "d.getVar(5)",
    "d.getVarFlag('A', None)",
    "d.setVar('A', 'b')",
    "d.keys()",
    "d.nope",
    "d.getVar",
    "d.getVarFlags('A')",
    "time.nope()",
    "os.nope()",
};

static void the_store_is_read_through_d(void **state)
{
    (void)state;
    expr_rows_give(answers, BZ_COUNTOF(answers));
}

static void variables_that_are_not_set_are_none(void **state)
{
    (void)state;
    expr_rows_raise(errors, BZ_COUNTOF(errors));
}

static void other_methods_of_d_are_left_to_python(void **state)
{
    (void)state;
    expr_rows_leave(unknown, BZ_COUNTOF(unknown), BZ_E_NOSUP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_store_is_read_through_d),
        cmocka_unit_test(variables_that_are_not_set_are_none),
        cmocka_unit_test(other_methods_of_d_are_left_to_python),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
