#include "tests/unit/vars/script.h"

#include "vars/assign.h"

static void renaming_moves_operations_and_variants(void **state)
{
    static const struct script_case cases[] = {
        {"X=1\nrename X Y",                                                              "Y",      "1"              },
        {"X=1\nrename X Y",                                                              "X",      NULL             },
        {"X=1\nX:append=2\nrename X Y",                                                  "Y",      "12"             },
        {"X=1\nX:append=2\nY=0\nY:append=3\nrename X Y",                                 "Y",      "132"            },
        {"X~=1\nrename X Y",                                                             "Y",      "1"              },
        {"X[f]=1\nrename X Y",                                                           "Y[f]",   NULL             },
        {"X=1\nX[f]=1\nrename X Y",                                                      "Y[f]",   NULL             },
        {"OVERRIDES=class-target\nA:tools:class-target=a\nrename A:tools A:lib32-tools",
         "A:lib32-tools",                                                                          "a"              },
        {"OVERRIDES=o\nX=0\nX:o=1\nrename X Y",                                          "Y",      "1"              },
        {"OVERRIDES=o\nX=0\nX:o=1\nrename X Y",                                          "!names", "OVERRIDES Y Y:o"},
        {"OVERRIDES=o\nX=0\nX:o=1\nY:o=5\nrename X Y",                                   "Y",      "1"              },
        {"OVERRIDES=o\nX:o:append=1\nrename X Y",                                        "Y",      "1"              },
        {"OVERRIDES=o\nX=1\nrename X Y:o",                                               "Y",      "1"              },
        {"X=1\nrename X Y:append\nY=0",                                                  "Y",      "01"             },
        {"X=1\nrename X X",                                                              "X",      "1"              },
        {"rename X Y",                                                                   "!names", ""               },
        {"X:a=1\ncopy\nrename X Y",                                                      "!names", "Y:a"            },
        {"P=p\nX_${P}=1\nexpandkeys",                                                    "X_p",    "1"              },
        {"P=p\nX:${P}=1\nOVERRIDES=p\nexpandkeys",                                       "X",      "1"              },
        {"F=foo\nB=foo\nV_${F}=A\nV_${B}=B\nexpandkeys",                                 "V_foo",  "A"              },
        {"OVERRIDES=libc:gtk\nP=gtk\nR:${P}=a\nR:${P}:libc=b\nexpandkeys",               "R",      "b"              },
        {"OVERRIDES=libc:gtk\nP=gtk\nR:${P}=a\nR:${P}:libc=b\nexpandkeys",               "!names",
         "OVERRIDES P R R:gtk R:gtk:libc"                                                                           },
        {"P=p\nX:append:${P}=1\nX=0\nOVERRIDES=p\nexpandkeys",                           "X",      "01"             },
        {"X_${U}=1\nexpandkeys",                                                         "!names", "X_${U}"         },
        {"P=p\nX:${P}:append=1\nexpandkeys",                                             "X:p",    "1"              },
        {"P=p\nX_${P}=1\ncopy\nexpandkeys",                                              "X_p",    "1"              },
        {"P=p\nX_${P}=1\ncopy\nP=q\nexpandkeys",                                         "!names", "P X_q"          },
        {"OVERRIDES=bc-dev\nD=A\nD:${P}-dev=${D} B\nP=bc\nexpandkeys\ncode D=E\ncode "
         "D:bc-dev=C D",                                                        "D",      "C D"            },
    };

    (void)state;
    script_check_all(cases, BZ_COUNTOF(cases));
}

static void some_names_may_not_be_set(void **state)
{
    static const struct {
        const char *script, *line, *says;
    } cases[] = {
        {"",                                          "X_append=1",                     "variable X_append contains an operation in the old syntax"},
        {"",                                          "X_prepend_arm=1",                "old syntax"                                               },
        {"",                                          "X_removed=1",                    "old syntax"                                               },
        {"",                                          "X_append:remove=1",              "old syntax"                                               },
        {"",                                          "BB_ENV_WHITELIST=1",
         "BB_ENV_WHITELIST has been renamed to BB_ENV_PASSTHROUGH"                                                                                 },
        {"",                                          "BB_STAMP_POLICY=1",              "variable BB_STAMP_POLICY is no longer supported"          },
        {"",                                          "BB_HASHBASE_WHITELIST:append=1", "renamed to BB_BASEHASH_IGNORE_VARS"                       },
        {"",                                          "MULTI_PROVIDER_WHITELIST[f]=1",  "renamed to BB_MULTI_PROVIDER_ALLOWED"                     },
        {"BB_RENAMED_VARIABLES[OLD]=NEW",             "OLD:o=1",
         "variable OLD has been renamed to NEW"                                                                                                    },
        {"BB_RENAMED_VARIABLES[OLD]=NEW\ncopy",       "OLD=1",                          "renamed to NEW"                                           },
        {"BB_RENAMED_VARIABLES[OLD]=is gone",         "OLD=1",                          "variable OLD is gone"                                     },
        {"BB_RENAMED_VARIABLES[OLD]=NEW\nX=1",        "rename X OLD",                   "renamed to NEW"                                           },
        {"BB_RENAMED_VARIABLES[OLD]=NEW\nX:append=1", "rename X OLD",                   "renamed to NEW"                                           },
        {"",                                          "X[:append]=1",                   "not the name of a flag"                                   },
        {"",                                          "X[]=1",                          "not the name of a flag"                                   },
        {"BB_RENAMED_VARIABLES[OLD]=NEW\nX:a=1",      "rename X OLD",                   "renamed to NEW"                                           },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct script s;
        struct bz_err err = {0};

        assert_ok(script_run(&s, cases[i].script, &err), &err);
        assert_int_equal(script_line(&s, bz_str_from(cases[i].line), &err), BZ_E_INVAL);
        if (!strstr(err.msg, cases[i].says))
            fail_msg("%s: %s", cases[i].line, err.msg);
        script_release(&s);
    }
}

static void names_that_only_look_forbidden_are_fine(void **state)
{
    static const char *const lines[] = {
        "__anon_1_append=1", "X-append=1",          "Xappend=1",
        "X:append=1",        "BB_ENV_WHITELISTS=1", "BB_RENAMED_VARIABLES=1",
    };
    struct script s;
    struct bz_err err = {0};

    (void)state;
    assert_ok(script_run(&s, "", &err), &err);
    for (size_t i = 0; i < BZ_COUNTOF(lines); i++)
        assert_ok(script_line(&s, bz_str_from(lines[i]), &err), &err);
    script_release(&s);
}

static void a_rename_that_feeds_itself_is_stopped(void **state)
{
    struct script s;
    struct bz_err err = {0};

    (void)state;
    assert_ok(script_run(&s, "A=1\nA:b=2", &err), &err);
    assert_int_equal(script_line(&s, BZ_STR("rename A A:b"), &err), BZ_E_LIMIT);
    script_release(&s);
}

static void names_are_bounded(void **state)
{
    struct bz_vars *v = bz_vars_new(NULL);
    struct bz_buf name = {0};
    struct bz_err err = {0};

    (void)state;
    bz_buf_addf(&name, "X");
    for (int i = 0; i < 32; i++)
        bz_buf_addf(&name, ":a");
    assert_ok(bz_vars_set(v, bz_buf_str(&name), BZ_STR("1"), 0, NULL, &err), &err);
    bz_buf_addf(&name, ":a");
    assert_int_equal(bz_vars_set(v, bz_buf_str(&name), BZ_STR("1"), 0, NULL, &err),
                     BZ_E_LIMIT);
    assert_int_equal(bz_vars_del(v, bz_buf_str(&name), NULL, &err), BZ_E_LIMIT);
    assert_int_equal(bz_vars_rename(v, BZ_STR("X"), bz_buf_str(&name), NULL, &err),
                     BZ_E_LIMIT);
    assert_int_equal(
        bz_vars_set_flag(v, bz_buf_str(&name), BZ_STR("f"), BZ_STR("1"), NULL, &err),
        BZ_E_LIMIT);
    bz_buf_truncate(&name, 0);
    for (int i = 0; i < 4096; i++)
        bz_buf_addf(&name, "X");
    assert_ok(bz_vars_set(v, bz_buf_str(&name), BZ_STR("1"), 0, NULL, &err), &err);
    assert_int_equal(bz_vars_append(v, bz_buf_str(&name), BZ_STR("1"), NULL, &err),
                     BZ_E_LIMIT);
    bz_buf_release(&name);
    bz_vars_free(v);
}

static void flags_are_extended_at_both_ends(void **state)
{
    struct script s;
    struct bz_err err = {0};
    struct bz_str out;
    struct bz_vars *v;

    (void)state;
    assert_ok(script_run(&s, "X[f]~=w ${X}", &err), &err);
    v = script_store(&s);
    assert_ok(
        bz_vars_append_flag(v, BZ_STR("X"), BZ_STR("f"), BZ_STR(" z"), NULL, &err),
        &err);
    assert_ok(
        bz_vars_prepend_flag(v, BZ_STR("X"), BZ_STR("f"), BZ_STR("a "), NULL, &err),
        &err);
    assert_ok(bz_vars_append_flag(v, BZ_STR("X"), BZ_STR("g"), BZ_STR(""), NULL, &err),
              &err);
    assert_ok(bz_vars_get_flag(v, BZ_STR("X"), BZ_STR("f"), BZ_VARS_RAW, &out, &err),
              &err);
    assert_true(bz_str_eq(out, BZ_STR("a w ${X} z")));
    assert_ok(bz_vars_get_flag(v, BZ_STR("X"), BZ_STR("g"), 0, &out, &err), &err);
    assert_non_null(out.p);
    assert_int_equal(out.n, 0);
    script_release(&s);
}

static void setting_from_code_fails_if_overrides_do(void **state)
{
    struct script s;
    struct bz_err err = {0};

    (void)state;
    assert_ok(script_run(&s, "OVERRIDES=${P}\nP=a\nP:a=b\nX:a=1", &err), &err);
    assert_int_equal(script_line(&s, BZ_STR("code X=2"), &err), BZ_E_INVAL);
    script_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(renaming_moves_operations_and_variants),
        cmocka_unit_test(some_names_may_not_be_set),
        cmocka_unit_test(names_that_only_look_forbidden_are_fine),
        cmocka_unit_test(a_rename_that_feeds_itself_is_stopped),
        cmocka_unit_test(names_are_bounded),
        cmocka_unit_test(flags_are_extended_at_both_ends),
        cmocka_unit_test(setting_from_code_fails_if_overrides_do),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
