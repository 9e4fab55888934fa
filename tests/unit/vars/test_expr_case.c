#include "vars/expr_case.h"

#include "tests/unit/vars/expr_rows.h"

static const struct expr_row answers[] = {
    ROW("'aBc1'.lower()", "abc1"),
    ROW("'aBc1'.upper()", "ABC1"),
    ROW("'hello wORLD'.title()", "Hello World"),
    ROW("'hELLO'.capitalize()", "Hello"),
    ROW("'aBc'.swapcase()", "AbC"),
    ROW("''.upper()", ""),
    ROW("\"it's a-b\".title()", "It'S A-B"),
    ROW("'a1b'.title()", "A1B"),
    ROW("'5'.isdigit()", "True"),
    ROW("''.isdigit()", "False"),
    ROW("'5a'.isdigit()", "False"),
    ROW("'ab'.isalpha()", "True"),
    ROW("'a1'.isalpha()", "False"),
    ROW("'a1'.isalnum()", "True"),
    ROW("'a-'.isalnum()", "False"),
    ROW("' \\t'.isspace()", "True"),
    ROW("''.isspace()", "False"),
    ROW("'a'.isspace()", "False"),
    ROW("'5'.isdecimal()", "True"),
    ROW("'5'.isnumeric()", "True"),
    ROW("'ab'.islower()", "True"),
    ROW("'aB'.islower()", "False"),
    ROW("'1'.islower()", "False"),
    ROW("'a1'.islower()", "True"),
    ROW("'AB'.isupper()", "True"),
    ROW("'A1'.isupper()", "True"),
    ROW("''.isupper()", "False"),
    ROW("'1'.isupper()", "False"),
};

static const char *const unknown[] = {
    "U.upper()", "U.isalpha()",  "U.islower()",
    "U.title()", "'a'.upper(1)", "'a'.islower(1)",
};

static void letters_change_case_and_are_told_apart(void **state)
{
    (void)state;
    expr_rows_give(answers, BZ_COUNTOF(answers));
}

static void other_alphabets_are_left_to_python(void **state)
{
    (void)state;
    expr_rows_leave(unknown, BZ_COUNTOF(unknown), BZ_E_NOSUP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_change_case_and_are_told_apart),
        cmocka_unit_test(other_alphabets_are_left_to_python),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
