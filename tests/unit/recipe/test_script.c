#include "recipe/script.h"

#include "base/buf.h"
#include "tests/unit/bz_test.h"

/* NAME value, or NAME[flag] value; the expected texts are BitBake's. */
static const char *const rows[][2] = {
    {"A",                     "a"                       },
    {"E",                     "x \"y\" `z` $w ${A}\nq\\"},
    {"E[export]",             "1"                       },
    {"U",                     "u"                       },
    {"U[unexport]",           "1"                       },
    {"N-1",                   "n"                       },
    {"N-1[export]",           "1"                       },
    {"do_x",                  "    f1 a\n    f3\n\n"    },
    {"do_x[func]",            "1"                       },
    {"do_x[lineno]",          "3"                       },
    {"do_x[filename]",        "/x.bb"                   },
    {"do_x[vardeps]",         "f4 A"                    },
    {"f1",                    "f2; do_x"                },
    {"f1[func]",              "1"                       },
    {"f2",                    ":"                       },
    {"f2[func]",              "1"                       },
    {"f3",                    "    pass\n"              },
    {"f3[func]",              "1"                       },
    {"f3[python]",            "1"                       },
    {"f4",                    "f1"                      },
    {"f4[func]",              "1"                       },
    {"f5",                    ":"                       },
    {"f5[func]",              "1"                       },
    {"BASH_FUNC_b%%",         "() { :\n}"               },
    {"BASH_FUNC_b%%[export]", "1"                       },
    {"${A}v",                 "1"                       },
    {"${A}v[export]",         "yes"                     },
    {"__y",                   "1"                       },
    {"__y[export]",           "1"                       },
};

static void set(struct bz_vars *v, const char *key, const char *value)
{
    struct bz_str name, flag;
    struct bz_err err;
    int rc;

    if (bz_str_cut(bz_str_from(key), '[', &name, &flag)) {
        bz_str_cut_suffix(&flag, BZ_STR("]"));
        rc = bz_vars_set_flag(v, name, flag, bz_str_from(value), NULL, &err);
    } else {
        rc = bz_vars_set(v, name, bz_str_from(value), 0, NULL, &err);
    }
    assert_ok(rc, &err);
}

static struct bz_vars *filled(void)
{
    struct bz_vars *v = bz_vars_new(NULL);

    for (size_t i = 0; i < BZ_COUNTOF(rows); i++)
        set(v, rows[i][0], rows[i][1]);
    return v;
}

/* NULL: nothing is written. */
static void check_var(struct bz_vars *v, const char *name, bool function,
                      const char *text)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};
    struct bz_err err;
    bool is;

    assert_ok(bz_script_var(v, bz_str_from(name), 0, &out, &is, &err), &err);
    assert_string_equal(bz_buf_text(&out), text);
    assert_int_equal(is, function);
}

static void a_variable_is_written_as_the_shell_reads_it(void **state)
{
    struct bz_vars *v = filled();

    (void)state;
    check_var(v, "A", false, "");
    check_var(v, "E", false, "export E=\"x \\\"y\\\" \\`z\\` \\$w a \\\nq\\\"\n");
    check_var(v, "U", false, "unset U\n");
    check_var(v, "N-1", false, "");
    check_var(v, "no", false, "");
    check_var(v, "f2", true, "# line: None, file: None\nf2() {\n:\n}\n");
    check_var(v, "f3", false, "");
    check_var(v, "do_x", true,
              "# line: 3, file: /x.bb\ndo_x() {\n    f1 a\n    f3\n}\n");
    check_var(v, "BASH_FUNC_b%%", true, "b() { :\n}\nexport -f b\n");
    bz_vars_free(v);
}

static void a_task_gets_exports_and_the_functions_it_reaches(void **state)
{
    struct bz_vars *v = filled();
    struct bz_buf out = {0};
    struct bz_err err;

    (void)state;
    assert_ok(bz_script_func(v, BZ_STR("do_x"), &out, &err), &err);
    assert_string_equal(bz_buf_text(&out),
                        "b() { :\n}\nexport -f b\n"
                        "export E=\"x \\\"y\\\" \\`z\\` \\$w a \\\nq\\\"\nunset U\n\n"
                        "# line: 3, file: /x.bb\ndo_x() {\n    f1 a\n    f3\n}\n\n"
                        "# line: None, file: None\nf1() {\nf2; do_x\n}\n\n"
                        "# line: None, file: None\nf4() {\nf1\n}\n\n"
                        "# line: 3, file: /x.bb\ndo_x() {\n    f1 a\n    f3\n}\n\n"
                        "# line: None, file: None\nf2() {\n:\n}\n\n");
    bz_buf_release(&out);
    bz_vars_free(v);
}

static void a_listing_has_variables_then_functions_sorted(void **state)
{
    static const char *const parts[] = {
        "#\n# $${A}v\n#   [no history recorded]\n#\n#   \"1\"\nexport av=\"1\"\n#\n# "
        "$A\n",
        "b() { :\n}\nexport -f b\n\n#\n# $E\n#   [no history recorded]\n#\n"
        "#   \"x \"y\" `z` $w ${A}\n#q\\\"\nexport E=",
        "export N-1=\"n\"\n",
        "unset U\n# line: 3, file: /x.bb\ndo_x() {\n",
        "# line: None, file: None\nf4() {\nf1\n}\n\n# line: None, file: None\nf5() {\n",
    };
    struct bz_vars *v = filled();
    struct bz_buf out = {0};
    const char *at;
    size_t missing;
    struct bz_err err;

    (void)state;
    assert_ok(bz_script_env(v, &out, &missing, &err), &err);
    assert_int_equal(missing, 0);
    at = bz_buf_text(&out);
    for (size_t i = 0; i < BZ_COUNTOF(parts); i++) {
        at = strstr(at ? at : "", parts[i]);
        if (!at)
            fail_msg("missing: %s", parts[i]);
    }
    assert_null(strstr(bz_buf_text(&out), "__y"));
    assert_null(strstr(bz_buf_text(&out), "f3()"));
    bz_buf_truncate(&out, 0);
    assert_ok(bz_script_pythons(v, &out, &err), &err);
    assert_string_equal(bz_buf_text(&out), "\npython f3 () {\n    pass\n}\n\n");
    bz_buf_release(&out);
    bz_vars_free(v);
}

static void a_value_that_cannot_be_had_is_a_comment_in_a_listing(void **state)
{
    struct bz_vars *v = bz_vars_new(NULL);
    struct bz_buf out = {0};
    size_t missing;
    struct bz_err err;

    (void)state;
    set(v, "A", "${@nobody(d)}");
    set(v, "A[export]", "1");
    set(v, "B", "b");
    set(v, "C", "c");
    set(v, "C[export]", "perhaps");
    set(v, "do_x", ":");
    set(v, "do_x[func]", "1");
    assert_ok(bz_script_env(v, &out, &missing, &err), &err);
    assert_int_equal(missing, 2);
    assert_non_null(strstr(bz_buf_text(&out),
                           "\n#   \"${@nobody(d)}\"\n# A has no value "
                           "here: "));
    assert_non_null(strstr(bz_buf_text(&out), "\nB=\"b\"\n"));
    assert_non_null(strstr(bz_buf_text(&out), "# C has no value here: C[export]: not a "
                                              "boolean: 'perhaps'\n"));
    bz_buf_truncate(&out, 0);
    assert_int_equal(bz_script_func(v, BZ_STR("do_x"), &out, &err), BZ_E_NOSUP);
    bz_buf_release(&out);
    bz_vars_free(v);
}

static void a_function_that_is_no_shell_text_is_named(void **state)
{
    struct bz_vars *v = bz_vars_new(NULL);
    struct bz_buf out = {0};
    struct bz_err err;

    (void)state;
    set(v, "do_x", "f\n");
    set(v, "do_x[func]", "1");
    set(v, "f", "if a; then\nb\n");
    set(v, "f[func]", "1");
    assert_int_equal(bz_script_func(v, BZ_STR("do_x"), &out, &err), BZ_E_INVAL);
    assert_string_equal(err.msg,
                        "function f: line 3: expected 'fi', but the text ends");
    assert_int_equal(bz_script_func(v, BZ_STR("do_y"), &out, &err), BZ_E_NOENT);
    assert_string_equal(err.msg, "function do_y has no text");
    bz_buf_release(&out);
    bz_vars_free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_variable_is_written_as_the_shell_reads_it),
        cmocka_unit_test(a_task_gets_exports_and_the_functions_it_reaches),
        cmocka_unit_test(a_listing_has_variables_then_functions_sorted),
        cmocka_unit_test(a_value_that_cannot_be_had_is_a_comment_in_a_listing),
        cmocka_unit_test(a_function_that_is_no_shell_text_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
