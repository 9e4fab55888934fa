#include "tests/unit/vars/script.h"

#include "vars/value.h"

static void content_defaults_and_flags_are_read_as_bitbake_does(void **state)
{
    static const struct script_case cases[] = {
        {"X=",                                        "X",         ""           },
        {"X~=1",                                      "X",         "1"          },
        {"X~=1\nX~=2",                                "X",         "2"          },
        {"X~=1\nX=2",                                 "X",         "2"          },
        {"X~=1\nX=2",                                 "X!noweak",  "2"          },
        {"X~=1",                                      "X!noweak",  NULL         },
        {"X~=1",                                      "X!parsing", NULL         },
        {"X~=1",                                      "X!raw",     "1"          },
        {"OVERRIDES=a\nX=0\nX:a=1\nX:append=2",       "X!parsing", "0"          },
        {"OVERRIDES=a\nX=0\nX:a=1\nX:append=2",       "X!raw",     "12"         },
        {"A=1\nX=${A}\nX:append=${A}",                "X!raw",     "${A}${A}"   },
        {"X=1\ndel X",                                "X",         NULL         },
        {"X=1\ncopy\ndel X",                          "X",         NULL         },
        {"X=1\ncopy\ndel X",                          "!names",    ""           },
        {"X=1\ncopy\nX=2",                            "X",         "2"          },
        {"X=1\ncopy\ncopy\ncopy",                     "X",         "1"          },
        {"X=1\nX[f]=2\ndel X\nX=3",                   "X[f]",      NULL         },
        {"X[b]=1\nX[a]=2\nX[c]~=3\nX[a]~=4\nX[_x]=5", "!flags X",  "b=1 a=2 c=3"},
        {"X[b]=1\nX[a]=2\nX[b]=3",                    "!flags X",  "b=3 a=2"    },
        {"X[b]=1\nX[a]=2\ndelflag X b\nX[b]=3",       "!flags X",  "a=2 b=3"    },
        {"X[f]=1\nX[f]~=2\ndelflag X f",              "X[f]",      NULL         },
        {"X[f]~=2\ndelflag X f",                      "X[f]",      "2"          },
        {"X=1\nX[f]=1\nX:append=2\ndelflags X",       "X",         "1"          },
        {"X=1\nX[f]=1\ndelflags X",                   "X[f]",      NULL         },
        {"X[f]=1\ndelflags X",                        "X[f]",      NULL         },
        {"X[f]=1\ncopy\ndelflags X",                  "X[f]",      "1"          },
        {"X=1\nX[f]=1\ncopy\nX[f]=2\ndelflags X",     "X[f]",      NULL         },
        {"X[f]=1\ncopy\nX[f]=2",                      "X[f]",      "2"          },
        {"X[f]=1\ncopy\nX[g]=2",                      "!flags X",  "f=1 g=2"    },
        {"A=1\nB~=2\nC[f]=3\nD:append=4\ndel A",      "!names",    "B C D"      },
    };

    (void)state;
    script_check_all(cases, BZ_COUNTOF(cases));
}

static void a_value_that_did_not_change_is_not_stored_again(void **state)
{
    struct script s;
    struct bz_err err = {0};
    struct bz_str first, again;

    (void)state;
    assert_ok(script_run(&s, "A=1\nX=${A} x\nX:append= y\nX[f]=${A}", &err), &err);
    assert_ok(bz_vars_get(script_store(&s), BZ_STR("X"), 0, &first, &err), &err);
    assert_ok(script_line(&s, BZ_STR("B=2"), &err), &err);
    assert_ok(bz_vars_get(script_store(&s), BZ_STR("X"), 0, &again, &err), &err);
    assert_ptr_equal(first.p, again.p);
    assert_ok(script_line(&s, BZ_STR("A=3"), &err), &err);
    assert_ok(bz_vars_get(script_store(&s), BZ_STR("X"), 0, &again, &err), &err);
    assert_true(bz_str_eq(again, BZ_STR("3 x y")));
    assert_true(bz_str_eq(first, BZ_STR("1 x y"))); /* still there */
    script_release(&s);
}

static void a_flag_is_expanded_again_after_a_change(void **state)
{
    struct script s;
    struct bz_err err = {0};
    struct bz_str out;

    (void)state;
    assert_ok(script_run(&s, "A=1\nX[f]=${A}\nX[f]~=${A}9", &err), &err);
    assert_ok(
        bz_vars_get_flag(script_store(&s), BZ_STR("X"), BZ_STR("f"), 0, &out, &err),
        &err);
    assert_true(bz_str_eq(out, BZ_STR("1")));
    assert_ok(script_line(&s, BZ_STR("A=2"), &err), &err);
    assert_ok(
        bz_vars_get_flag(script_store(&s), BZ_STR("X"), BZ_STR("f"), 0, &out, &err),
        &err);
    assert_true(bz_str_eq(out, BZ_STR("2")));
    assert_ok(bz_vars_get_flag(script_store(&s), BZ_STR("X"), BZ_STR("f"), BZ_VARS_RAW,
                               &out, &err),
              &err);
    assert_true(bz_str_eq(out, BZ_STR("${A}")));
    script_release(&s);
}

static void nothing_is_a_value_too(void **state)
{
    struct script s;
    struct bz_err err = {0};
    struct bz_str out;

    (void)state;
    assert_ok(script_run(&s, "X~=weak", &err), &err);
    assert_ok(
        bz_vars_set(script_store(&s), BZ_STR("X"), (struct bz_str){0}, 0, NULL, &err),
        &err);
    assert_ok(bz_vars_get(script_store(&s), BZ_STR("X"), 0, &out, &err), &err);
    assert_null(out.p); /* d.setVar("X", None) hides the default */
    assert_true(bz_vars_exists(script_store(&s), BZ_STR("X")));
    script_release(&s);
}

static void a_filter_works_on_values_as_they_are_read(void **state)
{
    struct script s;
    struct bz_err err = {0};
    struct bz_str out;
    struct bz_vars *v, *copy;

    (void)state;
    assert_ok(script_run(&s, "OVERRIDES=o\nX=a ${Y}\nX:o=c b\nX:p=d\nY=b\nE=", &err),
              &err);
    v = script_store(&s);
    bz_vars_set_filter(v, BZ_STR("X"), BZ_STR("prefix(val, 'lib-')"));
    bz_vars_set_filter(v, BZ_STR("E"), BZ_STR("prefix(val, 'lib-')"));
    copy = bz_vars_new(v);
    assert_ok(bz_vars_get(copy, BZ_STR("X"), 0, &out, &err), &err);
    assert_true(bz_str_eq(out, BZ_STR("lib-c lib-b")));
    assert_ok(bz_vars_get(copy, BZ_STR("X:p"), 0, &out, &err), &err);
    assert_true(bz_str_eq(out, BZ_STR("lib-d")));
    assert_ok(bz_vars_get(copy, BZ_STR("X"), BZ_VARS_RAW, &out, &err), &err);
    assert_true(bz_str_eq(out, BZ_STR("c b")));
    assert_ok(bz_vars_get(copy, BZ_STR("E"), 0, &out, &err), &err);
    assert_true(bz_str_eq(out, BZ_STR("")));
    bz_vars_set_filter(copy, BZ_STR("X"), (struct bz_str){0});
    assert_ok(bz_vars_get(copy, BZ_STR("X"), 0, &out, &err), &err);
    assert_true(bz_str_eq(out, BZ_STR("c b")));
    assert_ok(bz_vars_get(v, BZ_STR("X"), 0, &out, &err), &err);
    assert_true(bz_str_eq(out, BZ_STR("lib-c lib-b")));
    bz_vars_free(copy);
    bz_vars_set_filter(v, BZ_STR("X"), BZ_STR("open('x')"));
    assert_true(bz_vars_get(v, BZ_STR("X"), 0, &out, &err) < 0);
    assert_non_null(strstr(err.msg, "open('x')"));
    script_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(content_defaults_and_flags_are_read_as_bitbake_does),
        cmocka_unit_test(a_value_that_did_not_change_is_not_stored_again),
        cmocka_unit_test(a_flag_is_expanded_again_after_a_change),
        cmocka_unit_test(nothing_is_a_value_too),
        cmocka_unit_test(a_filter_works_on_values_as_they_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
