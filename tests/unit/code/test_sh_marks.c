#include "code/sh_marks.h"

#include "tests/unit/bz_test.h"

/* The lines of `text` that may be marked, as digits. */
static void assert_marks(const char *text, const char *want)
{
    struct bz_sh_marks m;
    struct bz_err err;
    char got[40] = "";
    size_t n = 0;

    assert_ok(bz_sh_marks_find(bz_str_from(text), &m, &err), &err);
    for (size_t i = 0; i < 10; i++)
        if (bz_bitset_test(&m.lines, i))
            got[n++] = (char)('0' + i);
    assert_string_equal(got, want);
    bz_sh_marks_release(&m);
}

static void commands_that_begin_a_line_of_a_function_are_found(void **state)
{
    (void)state;
    assert_marks("A=1\nf() {\n  a\n  b; c\n\n  # no\n  D=2\n}\nf\n", "347");
    assert_marks("f()\n{\n  a \\\n  b\n  c 'x\n y'\n  d\n}\n", "357");
    assert_marks("f() {\n  cat <<E >x\na\nE\n  b\n}\n", "25");
}

static void lists_in_lists_are_looked_into(void **state)
{
    (void)state;
    assert_marks("f() {\n  if a\n  then\n    b\n  else\n    c\n  fi\n}\n", "246");
    assert_marks("f() {\n  for x in a b; do\n    c\n  done\n  d\n}\n", "235");
    assert_marks("f() {\n  while a\n  do\n    echo done\n  done\n}\n", "24");
    assert_marks("f() {\n  (\n    a\n  )\n  {\n    b\n  }\n}\n", "2356");
    assert_marks(
        "f() {\n  case $x in\n  a|b)\n    c;;\n  *) d\n    e\n  esac\n  g\n}\n",
        "2468");
}

static void a_command_that_goes_on_is_left_alone(void **state)
{
    (void)state;
    assert_marks("f() {\n  a &&\n  b ||\n\n  c |\n  d\n}\n", "2");
    assert_marks("f() {\n  if\n  a\n  then b\n  fi\n}\n", "3");
    assert_marks("f() {\n  g()\n  {\n    a\n  }\n}\n", "24");
}

static void what_asks_for_the_last_status_gets_it(void **state)
{
    (void)state;
    assert_marks("f() {\n  a && b\n  x=$?\n  c\n}\n", "24");
    assert_marks("f() {\n  a\n  echo \\\n   ${?}\n  return\n  return 1\n}\n", "2");
    assert_marks("f() {\n  a\n  echo 'x\n $?'\n}\n", "2");
}

static void functions_are_found_with_their_lines(void **state)
{
    struct bz_sh_marks m;
    struct bz_err err;

    (void)state;
    assert_ok(
        bz_sh_marks_find(BZ_STR("f() {\n a\n}\n\ng() {\n h() { x; }\n}\n"), &m, &err),
        &err);
    assert_int_equal(m.funcs.len, 2);
    assert_true(bz_str_eq(m.funcs.at[1].name, BZ_STR("g")));
    assert_int_equal(m.funcs.at[0].last, 3);
    assert_int_equal(m.funcs.at[1].first, 5);
    assert_int_equal(m.funcs.at[1].last, 7);
    bz_sh_marks_release(&m);
}

static void text_that_is_not_understood_is_refused(void **state)
{
    static const char *const texts[] = {"f() {\n a\n", "f() {\n if a\n}\n", "a\n)\n",
                                        "f() {\n case x\n in a) b;; esac\n}",
                                        "f() {\n 'a\n}\n"};
    struct bz_err err;

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(texts); i++) {
        struct bz_sh_marks m;

        assert_true(bz_sh_marks_find(bz_str_from(texts[i]), &m, &err) < 0);
        bz_sh_marks_release(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_that_begin_a_line_of_a_function_are_found),
        cmocka_unit_test(lists_in_lists_are_looked_into),
        cmocka_unit_test(a_command_that_goes_on_is_left_alone),
        cmocka_unit_test(what_asks_for_the_last_status_gets_it),
        cmocka_unit_test(functions_are_found_with_their_lines),
        cmocka_unit_test(text_that_is_not_understood_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
