#include "tests/unit/vars/script.h"

#include "vars/override.h"

static void the_strongest_active_override_wins(void **state)
{
    static const struct script_case cases[] = {
        {"OVERRIDES=foo:bar:local\nX=0\nX:bar=1",                               "X",        "1"                },
        {"OVERRIDES=foo:bar:local\nX=0\nX:bar=1\nX:local=2\nX:foo=3",           "X",        "2"                },
        {"OVERRIDES=foo:bar:local\nX=0\nX:other=1",                             "X",        "0"                },
        {"OVERRIDES=foo:bar:local\nX:bar=1",                                    "X",        "1"                },
        {"OVERRIDES=foo:bar:local\nX:local:foo:bar=1\nX=0",                     "X",        "1"                },
        {"OVERRIDES=foo:bar:local\nX=0\nX:foo=1\nX:foo:bar=2",                  "X",        "2"                },
        {"OVERRIDES=foo:bar:local\nX=0\nX:local=1\nX:foo:bar=2",                "X",        "2"                },
        {"OVERRIDES=foo:bar:local\nX=0\nX:foo:bar=2\nX:bar:foo=3",              "X",        "2"                },
        {"OVERRIDES=foo:bar:local\nX=0\nX:foo:other=1",                         "X",        "0"                },
        {"OVERRIDES=foo:bar:local\nX=0\nX:foo:other=1",                         "X:foo",    NULL               },
        {"OVERRIDES=foo:bar:local\nX:foo:bar=2",                                "X:foo",    "2"                },
        {"OVERRIDES=foo:Bar\nX=0\nX:Bar=1",                                     "X",        "0"                },
        {"OVERRIDES=1a\nX=0\nX:1a=1",                                           "X",        "1"                },
        {"OVERRIDES=-a\nX=0\nX:-a=1",                                           "X",        "0"                },
        {"OVERRIDES=a:b\nX=0\nX:a=1\nX:b=2\nX:a:append=q",                      "X",        "2"                },
        {"OVERRIDES=a:b\nX=0\nX:a=1\nX:b=2\nX:a:append=q",                      "X:a",      "1q"               },
        {"OVERRIDES=a:b:a\nX:a=1\nX:b=2",                                       "X",        "2"                },
        {"OVERRIDES=\nX=0\nX:a=1",                                              "X",        "0"                },
        {"X=0\nX:a=1",                                                          "X",        "0"                },
        {"OVERRIDES=a\nX:a~=1\nX=0",                                            "X",        "1"                },
        {"OVERRIDES=a\nX:a~=1\nX=0",                                            "X!noweak", "1"                },
        {"OVERRIDES=a\nX:a=1\nX:append= 2",                                     "X",        "1 2"              },
        {"OVERRIDES=a\nX=0\nX:a:append=2",                                      "X",        "2"                },
        {"OVERRIDES=a\nX=0\nX:a[f]=2",                                          "X",        "0"                },
        {"OVERRIDES=a\nX=r s\nX:a=p q r\nX:a:remove=q\nX:remove=p",             "X",        "  r"              },
        {"OVERRIDES=a\nX:a=p q\nX:a:remove=q\nX:append= q",                     "X",        "p  "              },
        {"OVERRIDES=a\nX:a=p\nX:a:remove=q\nX:append= q",                       "X",        "p q"              },
        {"OVERRIDES=a-x:a\nX=0\nX:foo:a-x:a=1",                                 "X",        "0"                },
        {"OVERRIDES=foo:a-x:a\nX=0\nX:foo:a-x:a=1\nX:a=2",                      "X",        "2"                },
        {"OVERRIDES=b:b-c:d\nX=0\nX:d:b-c:b=1\nX:d-c=2\nX:d=3",                 "X",        "1"                },
        {"OVERRIDES=${P}\nP=a\nX:a=1\nX:b=2\nP=b",                              "X",        "2"                },
        {"P=a\nOVERRIDES=${P}\nX:a=1\nX:b=2\nP=b",                              "X",        "2"                },
        {"OVERRIDES=${P}\nP=a\nX:a=1\nX:b=2\nP:append=:b",                      "X",        "2"                },
        {"OVERRIDES=a:${P}\nP=b\nP:a=c\nX:b=1\nX:c=2",                          "X",        "2"                },
        {"OVERRIDES=a:${P}\nP=a\nP:a=b\nP:b=c\nX:c=2",                          "X",        SCRIPT_FAILS       },
        {"OVERRIDES=a\nX=0\nX:a=1\ncode X=2",                                   "X",        "2"                },
        {"OVERRIDES=a\nX=0\nX:a=1\nX:b=2\ncode X=3\nOVERRIDES=b",               "X",        "3"                },
        {"OVERRIDES=a\nX=0\nX:a=1\nX=2",                                        "X",        "1"                },
        {"OVERRIDES=a\nX=0\nX:a=1\ndel X:a",                                    "X",        "0"                },
        {"OVERRIDES=a\nX=0\nX:a=1\ndel X",                                      "X",        NULL               },
        {"OVERRIDES=a\nX:a=1\ncopy\nX:a=2",                                     "X",        "2"                },
        {"OVERRIDES=a\nX:a=1\ncopy\nOVERRIDES=b\nX:b=3",                        "X",        "3"                },
        {"OVERRIDES=a\nX=0\nX:a=1\ncopy\ncode X=2\n",                           "X",        "2"                },
        {"OVERRIDES=a\nX=0\n:a=1",                                              "!names",   " :a OVERRIDES X"  },
        {"OVERRIDES=a\nX:a=1\nY=2",                                             "!names",   "OVERRIDES X X:a Y"},
        {"OVERRIDES=a\nX:b=1\nY=2",                                             "!names",   "OVERRIDES X:b Y"  },
        {"OVERRIDES=b\nB=${A}\nA=${C}\nC=b\nX:b=1\nX:c=2\nOVERRIDES=${A}\nC=c", "X",
         "2"                                                                                                   },
    };

    (void)state;
    script_check_all(cases, BZ_COUNTOF(cases));
}

static struct bz_str get(struct bz_vars *v, const char *name)
{
    struct bz_err err = {0};
    struct bz_str out;

    assert_ok(bz_vars_get(v, bz_str_from(name), 0, &out, &err), &err);
    return out;
}

static void set(struct bz_vars *v, const char *name, const char *value)
{
    struct bz_err err = {0};

    assert_ok(bz_vars_set(v, bz_str_from(name), bz_str_from(value), BZ_VARS_SET_PARSING,
                          NULL, &err),
              &err);
}

/* BitBake follows what OVERRIDES names, but not what these name in turn, unless they
 * are set later. */
static void overrides_follow_the_variables_they_name_directly(void **state)
{
    struct bz_vars *v = bz_vars_new(NULL);

    (void)state;
    set(v, "FOO", "${BAR}");
    set(v, "BAR", "a");
    set(v, "OVERRIDES", "${FOO}");
    set(v, "X", "0");
    set(v, "X:a", "1");
    set(v, "X:b", "2");
    assert_true(bz_str_eq(get(v, "X"), BZ_STR("1")));
    set(v, "BAR", "b");
    assert_true(bz_str_eq(get(v, "X"), BZ_STR("1")));
    set(v, "FOO", "${BAR}");
    assert_true(bz_str_eq(get(v, "X"), BZ_STR("2")));
    set(v, "BAR", "a");
    assert_true(bz_str_eq(get(v, "X"), BZ_STR("1")));
    bz_vars_free(v);
}

static void a_variable_may_be_read_again_while_overrides_are_computed(void **state)
{
    struct bz_vars *v = bz_vars_new(NULL);

    (void)state;
    set(v, "OVERRIDES", "${X}");
    set(v, "X", "${Y}");
    set(v, "Y", "a");
    set(v, "Y:d", "b");
    assert_true(bz_str_eq(get(v, "X"), BZ_STR("a")));
    set(v, "Y", "c");
    assert_true(bz_str_eq(get(v, "X"), BZ_STR("c")));
    bz_vars_free(v);
}

static void unstable_overrides_are_an_error(void **state)
{
    struct bz_vars *v = bz_vars_new(NULL);
    struct bz_err err = {0};
    struct bz_str out;

    (void)state;
    set(v, "OVERRIDES", "${P}");
    set(v, "P", "a");
    set(v, "P:a", "b");
    set(v, "X:a", "1");
    assert_int_equal(bz_vars_get(v, BZ_STR("X"), 0, &out, &err), BZ_E_INVAL);
    assert_non_null(strstr(err.msg, "no stable value"));
    set(v, "OVERRIDES", "a"); /* and the store goes on */
    assert_true(bz_str_eq(get(v, "X"), BZ_STR("1")));
    bz_vars_free(v);
}

/* More variants than are searched one by one, in a parent and in its copies. */
static void thousands_of_variants_can_be_added_and_deleted(void **state)
{
    struct bz_vars *v = bz_vars_new(NULL), *copy;
    struct bz_err err = {0};
    char name[32];

    (void)state;
    set(v, "OVERRIDES", "p1999:p7");
    for (int i = 0; i < 2000; i++) {
        snprintf(name, sizeof(name), "X:p%d", i);
        set(v, name, name);
        set(v, name, name);
    }
    assert_int_equal(bz_store_cell(v, BZ_STR("X"))->variants->n, 2000);
    copy = bz_vars_new(v);
    assert_true(bz_str_eq(get(copy, "X"), BZ_STR("X:p7")));
    for (int i = 0; i < 1999; i++) {
        snprintf(name, sizeof(name), "X:p%d", i);
        assert_ok(bz_vars_del(copy, bz_str_from(name), NULL, &err), &err);
    }
    assert_true(bz_str_eq(get(copy, "X"), BZ_STR("X:p1999")));
    assert_true(bz_store_cell(copy, BZ_STR("X"))->variants->n < 10);
    set(copy, "X:p7", "again");
    assert_true(bz_str_eq(get(copy, "X"), BZ_STR("again")));
    assert_true(bz_str_eq(get(v, "X"), BZ_STR("X:p7")));
    bz_vars_free(copy);
    bz_vars_free(v);
}

static void a_failure_in_what_is_set_on_overrides_is_reported_then(void **state)
{
    struct bz_vars *v = bz_vars_new(NULL);
    struct bz_err err = {0};

    (void)state;
    assert_int_equal(bz_vars_set(v, BZ_STR("OVERRIDES"), BZ_STR("${OVERRIDES}:a"),
                                 BZ_VARS_SET_PARSING, NULL, &err),
                     BZ_E_INVAL);
    assert_non_null(strstr(err.msg, "references itself"));
    bz_vars_free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_strongest_active_override_wins),
        cmocka_unit_test(overrides_follow_the_variables_they_name_directly),
        cmocka_unit_test(a_variable_may_be_read_again_while_overrides_are_computed),
        cmocka_unit_test(unstable_overrides_are_an_error),
        cmocka_unit_test(thousands_of_variants_can_be_added_and_deleted),
        cmocka_unit_test(a_failure_in_what_is_set_on_overrides_is_reported_then),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
