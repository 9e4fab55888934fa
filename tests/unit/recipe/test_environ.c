#include "recipe/environ.h"

#include "base/buf.h"
#include "tests/unit/bz_test.h"

/* What passes by the rules of BitBake 2.18, worked out from them and not recorded, and
 * MACHINE and DISTRO; the names in the order of the input. */
static const struct {
    const char *env[12];
    const char *passes;
} cases[] = {
    {{"HOME=/h", "FOO=1", "PATH=/bin", "USER=me", "LANG=C"},
     "HOME=/h PATH=/bin USER=me LC_ALL=en_US.UTF-8"                                                                      },
    {{"LC_ALL=C", "PWD=/x", "BBPATH=/a", "SHELL=/bin/sh", "LOGNAME=l", "BBSERVER=s",
      "BB_TASKHASH=t"},
     "LC_ALL=en_US.UTF-8 PWD=/x BBPATH=/a SHELL=/bin/sh LOGNAME=l BBSERVER=s "
     "BB_TASKHASH=t"                                                                                                     },
    {{"BB_ENV_PASSTHROUGH_ADDITIONS=FOO BAR", "FOO=1", "BAZ=2", "BAR="},
     "BB_ENV_PASSTHROUGH_ADDITIONS=FOO BAR FOO=1 BAR= LC_ALL=en_US.UTF-8"                                                },
    {{"MACHINE=m", "DISTRO=d", "TCLIBC=musl"},                                    "MACHINE=m DISTRO=d LC_ALL=en_US.UTF-8"},
    {{"BB_ENV_PASSTHROUGH=FOO", "FOO=1", "MACHINE=m"},                            "BB_ENV_PASSTHROUGH=FOO FOO=1"         },
    {{"BB_ENV_PASSTHROUGH=FOO", "FOO=1", "HOME=/h", "PATH=/bin"},
     "BB_ENV_PASSTHROUGH=FOO FOO=1"                                                                                      },
    {{"BB_ENV_PASSTHROUGH=FOO LC_ALL", "FOO=1", "LC_ALL=de_DE", "BBPATH=/a"},
     "BB_ENV_PASSTHROUGH=FOO LC_ALL FOO=1 LC_ALL=en_US.UTF-8"                                                            },
    {{"BB_ENV_PASSTHROUGH=", "BB_ENV_PASSTHROUGH_ADDITIONS=A", "A=1", "HOME=/h"},
     "BB_ENV_PASSTHROUGH= BB_ENV_PASSTHROUGH_ADDITIONS=A A=1"                                                            },
    {{"BB_PRESERVE_ENV=", "FOO=1", "LC_ALL=C", "EDITOR=vi"},
     "BB_PRESERVE_ENV= FOO=1 LC_ALL=C EDITOR=vi"                                                                         },
    {{"HOME=/one", "HOME=/two", "=odd", "none"},                                  "HOME=/one LC_ALL=en_US.UTF-8"         },
};

static void assert_passes(const struct bz_environ *e, const char *expected)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};

    for (size_t i = 0; i < e->vars.len; i++)
        bz_buf_addf(&text, "%s%.*s=%.*s", i ? " " : "", BZ_STR_ARG(e->vars.at[i].name),
                    BZ_STR_ARG(e->vars.at[i].value));
    assert_string_equal(bz_buf_text(&text), expected);
}

static void what_passes_is_what_passes_in_bitbake(void **state)
{
    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        BZ_CLEANUP(bz_environ_release) struct bz_environ e = {0};

        bz_environ_read(&e, cases[i].env, NULL, 0);
        assert_passes(&e, cases[i].passes);
    }
}

static void variables_of_a_project_pass_and_win(void **state)
{
    static const char *const envp[] = {"BB_ENV_PASSTHROUGH=X", "A=1", "B=2", "C=3",
                                       NULL};
    static const struct bz_environ_var more[] = {
        {BZ_STR("A"), BZ_STR("one")},
        {BZ_STR("B"), {0}          }, /* only if it is set */
        {BZ_STR("D"), {0}          },
    };
    BZ_CLEANUP(bz_environ_release) struct bz_environ e = {0};

    (void)state;
    bz_environ_read(&e, envp, more, BZ_COUNTOF(more));
    assert_passes(&e, "BB_ENV_PASSTHROUGH=X A=one B=2");
    assert_true(bz_str_eq(bz_environ_get(&e, BZ_STR("B")), BZ_STR("2")));
    assert_null(bz_environ_get(&e, BZ_STR("C")).p);
}

static void a_variable_is_found_before_any_rule(void **state)
{
    static const char *const envp[] = {"AB=1", "A=2", NULL};

    (void)state;
    assert_string_equal(bz_environ_find(envp, "A"), "2");
    assert_null(bz_environ_find(envp, "B"));
    assert_null(bz_environ_find(NULL, "A"));
}

static void a_variable_that_was_renamed_is_refused(void **state)
{
    static const char *const good[] = {"BB_ENV_PASSTHROUGH_ADDITIONS=A", "none", NULL};
    static const char *const old[] = {"A=1", "BB_ENV_EXTRAWHITE=A", NULL};
    struct bz_err err = {0};

    (void)state;
    assert_ok(bz_environ_check(good, &err), &err);
    assert_ok(bz_environ_check(NULL, &err), &err);
    assert_int_equal(bz_environ_check(old, &err), BZ_E_INVAL);
    assert_string_equal(err.msg, "environment: variable BB_ENV_EXTRAWHITE has been "
                                 "renamed to BB_ENV_PASSTHROUGH_ADDITIONS");
}

static void only_a_few_names_are_exported_unasked(void **state)
{
    (void)state;
    assert_true(bz_environ_exported(BZ_STR("HOME")));
    assert_true(bz_environ_exported(BZ_STR("LC_ALL")));
    assert_false(bz_environ_exported(BZ_STR("BBPATH")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_passes_is_what_passes_in_bitbake),
        cmocka_unit_test(variables_of_a_project_pass_and_win),
        cmocka_unit_test(a_variable_is_found_before_any_rule),
        cmocka_unit_test(a_variable_that_was_renamed_is_refused),
        cmocka_unit_test(only_a_few_names_are_exported_unasked),
    };

    return cmocka_run_group_tests_name("recipe/environ", tests, NULL, NULL);
}
