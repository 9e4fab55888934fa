#include "tests/unit/vars/script.h"

#include "base/log.h"
#include "vars/names.h"

static void names_are_sorted_and_seen_through_copies(void **state)
{
    static const struct script_case cases[] = {
        {"b=1\na=2\nB=3",                           "!names", "B a b"        },
        {"a=1\nb=1\ncopy\nc=1\ndel a",              "!names", "b c"          },
        {"a=1\ncopy\ndel a\ncopy\na=2",             "!names", "a"            },
        {"a[f]=1\nb:append=1\nc~=1",                "!names", "a b c"        },
        {"a[f]=1\ncopy\ndelflag a f",               "!names", ""             },
        {"OVERRIDES=o\nX:o=1\ncopy\nOVERRIDES=p",   "!names", "OVERRIDES X:o"},
        {"X:o=1\ncopy\nOVERRIDES=o\ncopy\ndel X:o", "!names", "OVERRIDES"    },
        {"",                                        "!names", ""             },
    };

    (void)state;
    script_check_all(cases, BZ_COUNTOF(cases));
}

static void the_list_follows_changes(void **state)
{
    struct script s;
    struct bz_err err = {0};
    const struct bz_str *names, *again;
    size_t n;

    (void)state;
    assert_ok(script_run(&s, "a=1", &err), &err);
    assert_ok(bz_vars_names(script_store(&s), &names, &n, &err), &err);
    assert_int_equal(n, 1);
    assert_ok(bz_vars_names(script_store(&s), &again, &n, &err), &err);
    assert_ptr_equal(names, again);
    assert_ok(script_line(&s, BZ_STR("b=1"), &err), &err);
    assert_ok(bz_vars_names(script_store(&s), &names, &n, &err), &err);
    assert_int_equal(n, 2);
    script_release(&s);
}

static void exports_are_those_with_a_true_flag(void **state)
{
    struct script s;
    struct bz_err err = {0};
    struct bz_buf list = {0};
    const struct bz_str *names;
    const struct bz_str flags[] = {BZ_STR("C"), BZ_STR("D"), BZ_STR("H")};
    size_t n;
    bool yes;

    (void)state;
    assert_ok(script_run(&s,
                         "Z[export]=1\nA[export]=Yes\nB[export]=0\nC[export]=\n"
                         "D[export]=1\nD[unexport]=1\nE=1\nE[unexport]=1\n"
                         "F[export]=true\nG[export]=1\ndel G\n__x[export]=1\n"
                         "H[export]=${T}\nT=y\nI[export]=1\ncopy\nI[unexport]=1\n"
                         "Z[export]=1\nB[export]=1",
                         &err),
              &err);
    assert_ok(bz_vars_exported(script_store(&s), &names, &n, &err), &err);
    for (size_t i = 0; i < n; i++)
        bz_buf_addf(&list, "%.*s ", BZ_STR_ARG(names[i]));
    assert_string_equal(bz_buf_text(&list), "A B F H Z ");
    bz_buf_release(&list);
    assert_ok(script_line(&s, BZ_STR("A[export]=perhaps"), &err), &err);
    for (size_t i = 0; i < BZ_COUNTOF(flags); i++) {
        assert_ok(
            bz_vars_flag_true(script_store(&s), flags[i], BZ_STR("export"), &yes, &err),
            &err);
        assert_int_equal(yes, i > 0);
    }
    assert_int_equal(
        bz_vars_flag_true(script_store(&s), BZ_STR("A"), BZ_STR("export"), &yes, &err),
        BZ_E_INVAL);
    assert_int_equal(bz_vars_exported(script_store(&s), &names, &n, &err), BZ_E_INVAL);
    assert_string_equal(err.msg, "A[export]: not a boolean: 'perhaps'");
    script_release(&s);
}

struct lines {
    char text[512];
    int n;
};

static void take_line(void *arg, enum bz_log_level level, const char *line, size_t n)
{
    struct lines *lines = arg;

    (void)level;
    snprintf(lines->text, sizeof(lines->text), "%.*s", (int)n, line);
    lines->n++;
}

static void a_name_that_replaces_another_is_warned_of(void **state)
{
    static const struct bz_vars_at at = {.file = "conf/a.conf", .line = 12};
    struct lines lines = {0};
    const struct bz_log_sink sink = {take_line, &lines};
    struct script s;
    struct bz_err err = {0};
    struct bz_str out;
    struct bz_vars *v;

    (void)state;
    assert_ok(script_run(&s, "P=p\nX_p=old\nY_${P}=1", &err), &err);
    v = script_store(&s);
    assert_ok(
        bz_vars_set(v, BZ_STR("X_${P}"), BZ_STR("new"), BZ_VARS_SET_PARSING, &at, &err),
        &err);
    bz_log_set_sink(&sink);
    assert_ok(bz_vars_expand_keys(v, &err), &err);
    bz_log_set_sink(NULL);
    assert_int_equal(lines.n, 1);
    assert_string_equal(
        lines.text,
        "vars: warn: conf/a.conf:12: variable X_${P} (new) replaces X_p (old)");
    assert_ok(bz_vars_get(v, BZ_STR("X_p"), 0, &out, &err), &err);
    assert_true(bz_str_eq(out, BZ_STR("new")));
    assert_ok(bz_vars_get(v, BZ_STR("Y_p"), 0, &out, &err), &err);
    assert_true(bz_str_eq(out, BZ_STR("1")));
    script_release(&s);
}

static void a_name_that_cannot_be_expanded_is_an_error(void **state)
{
    struct script s;
    struct bz_err err = {0};

    (void)state;
    assert_ok(script_run(&s, "P=${P}\nX_${P}=1", &err), &err);
    assert_int_equal(bz_vars_expand_keys(script_store(&s), &err), BZ_E_INVAL);
    script_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_sorted_and_seen_through_copies),
        cmocka_unit_test(the_list_follows_changes),
        cmocka_unit_test(exports_are_those_with_a_true_flag),
        cmocka_unit_test(a_name_that_replaces_another_is_warned_of),
        cmocka_unit_test(a_name_that_cannot_be_expanded_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
