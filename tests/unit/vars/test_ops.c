#include "tests/unit/vars/script.h"

#include "vars/ops.h"

static void operations_are_applied_when_the_value_is_read(void **state)
{
    static const struct script_case cases[] = {
        {"X:append= b\nX=a",                                               "X",            "a b"        },
        {"X=a\nX:append=b\nX:append=c",                                    "X",            "abc"        },
        {"X=a\nX:prepend=b\nX:prepend=c",                                  "X",            "cba"        },
        {"X:append=b",                                                     "X",            "b"          },
        {"X:prepend=b\nX:append=c",                                        "X",            "bc"         },
        {"X~=w\nX:append=b",                                               "X",            "wb"         },
        {"X~=w\nX:append=b",                                               "X!parsing",    NULL         },
        {"OVERRIDES=foo:bar:local\nX=a\nX:append:bar=b\nX:append:other=c", "X",            "ab"         },
        {"OVERRIDES=foo:bar:local\nX=a\nX:append:foo:bar=b",               "X",            "ab"         },
        {"OVERRIDES=foo:bar:local\nX=a\nX:append:foo:other=b",             "X",            "a"          },
        {"OVERRIDES=foo:bar:local\nX=a\nX:append:=b",                      "X",            "ab"         },
        {"OVERRIDES=foo:bar:local\nX:append:other=b",                      "X",            NULL         },
        {"OVERRIDES=foo:bar:local\nX=a\nX:append:Bar=b",                   "X",            "a"          },
        {"OVERRIDES=foo:bar:local\nX=a\nX:append:Bar=b",                   "X:append:Bar", "b"          },
        {"X=a\nX:appendix=b",                                              "X",            "a"          },
        {"X=a\nX:append:a:append=b",                                       "X",            "a"          },
        {"OVERRIDES=a:append\nX=a\nX:append:a:append=b",                   "X",            "ab"         },
        {"X=a b c\nX:remove=b",                                            "X",            "a  c"       },
        {"X=a b c\nX:remove=b",                                            "X!raw",        "a b c"      },
        {"X= a  b\tc\nX:remove=a c",                                       "X",            "   b\t"     },
        {"X=a b\nX:remove=c",                                              "X",            "a b"        },
        {"X=a b c d\nR=b d\nX:remove=${R}",                                "X",            "a  c "      },
        {"X=a b\nX:remove=a b",                                            "X",            " "          },
        {"X=a\nX:remove=aa",                                               "X",            "a"          },
        {"OVERRIDES=foo:bar:local\nX=a b\nX:remove:bar=a",                 "X",            " b"         },
        {"OVERRIDES=foo:bar:local\nX=a b\nX:remove:other=a",               "X",            "a b"        },
        {"X:remove=a",                                                     "X",            NULL         },
        {"Y=a b\nX=${Y} c\nX:remove=b",                                    "X",            "a  c"       },
        {"X=a\nX:append= b\nX:remove=b",                                   "X",            "a "         },
        {"X=a\nX:prepend=b\nX:remove=ba",                                  "X",            ""           },
        {"X=a\nX:append=b\ncode X=c",                                      "X",            "c"          },
        {"X=a b\nX:remove=b\ncode X=a b",                                  "X",            "a b"        },
        {"X=a\nX:append=b\nX=c",                                           "X",            "cb"         },
        {"append X b\nX=a",                                                "X",            "ab"         },
        {"prepend X b\nX=a",                                               "X",            "ba"         },
        {"X=a\nX:append=1\ncopy\nX:append=2",                              "X",            "a12"        },
        {"X=a\302\240b c\nX:remove=b",                                     "X",            "a\302\240 c"},
    };

    (void)state;
    script_check_all(cases, BZ_COUNTOF(cases));
}

static void a_name_is_split_at_the_first_keyword_that_fits(void **state)
{
    static const struct {
        const char *name, *base, *override;
        enum bz_store_kind kind;
    } cases[] = {
        {"X:append",           "X",          "",          BZ_STORE_APPEND },
        {"X:prepend",          "X",          "",          BZ_STORE_PREPEND},
        {"X:remove:a:b",       "X",          "a:b",       BZ_STORE_REMOVE },
        {"X:a:append",         "X:a",        "",          BZ_STORE_APPEND },
        {"X:append:a:prepend", "X",          "a:prepend", BZ_STORE_APPEND },
        {"X:append:A:prepend", "X:append:A", "",          BZ_STORE_PREPEND},
        {":append",            "",           "",          BZ_STORE_APPEND },
        {"X:append:",          "X",          "",          BZ_STORE_APPEND },
        {"X:append\n",         "X",          "",          BZ_STORE_APPEND },
        {"X:append:a\nb",      "X",          "a\nb",      BZ_STORE_APPEND },
        {"X",                  NULL,         NULL,        0               },
        {"",                   NULL,         NULL,        0               },
        {"X:appended",         NULL,         NULL,        0               },
        {"X:append:A",         NULL,         NULL,        0               },
        {"X\nY:append",        NULL,         NULL,        0               },
        {"append",             NULL,         NULL,        0               },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_ops_name name;
        bool is = bz_ops_parse(bz_str_from(cases[i].name), &name);

        assert_int_equal(is, cases[i].base != NULL);
        if (!is)
            continue;
        assert_true(bz_str_eq(name.base, bz_str_from(cases[i].base)));
        assert_true(bz_str_eq(name.override, bz_str_from(cases[i].override)));
        assert_int_equal(name.kind, cases[i].kind);
    }
}

static void removals_that_had_an_effect_are_told(void **state)
{
    struct script s;
    struct bz_err err = {0};
    const struct bz_str *texts;
    size_t n;

    (void)state;
    assert_ok(script_run(&s,
                         "X=a b c\nN=b\nX:remove=z\nX:remove=c\nX:remove=${N} q\n"
                         "X:remove=c",
                         &err),
              &err);
    assert_ok(bz_vars_removed(script_store(&s), BZ_STR("X"), &texts, &n, &err), &err);
    assert_int_equal(n, 2);
    assert_true(bz_str_eq(texts[0], BZ_STR("${N} q")));
    assert_true(bz_str_eq(texts[1], BZ_STR("c")));
    assert_ok(bz_vars_removed(script_store(&s), BZ_STR("N"), &texts, &n, &err), &err);
    assert_int_equal(n, 0);
    script_release(&s);
}

static void a_copy_adds_operations_without_changing_its_parent(void **state)
{
    struct script s;
    struct bz_err err = {0};
    struct bz_str out;

    (void)state;
    assert_ok(script_run(&s,
                         "X=a\nX:append=1\nX:append=2\nX:append=3\ncopy\nX:append=4",
                         &err),
              &err);
    assert_ok(bz_vars_get(s.stores[0], BZ_STR("X"), 0, &out, &err), &err);
    assert_true(bz_str_eq(out, BZ_STR("a123")));
    assert_ok(bz_vars_get(s.stores[1], BZ_STR("X"), 0, &out, &err), &err);
    assert_true(bz_str_eq(out, BZ_STR("a1234")));
    script_release(&s);
}

static void a_removal_that_cannot_be_expanded_fails_the_value(void **state)
{
    struct script s;
    struct bz_err err = {0};
    struct bz_str out;

    (void)state;
    assert_ok(script_run(&s, "X=a\nX:remove=${R}\nR=${R}", &err), &err);
    assert_int_equal(bz_vars_get(script_store(&s), BZ_STR("X"), 0, &out, &err),
                     BZ_E_INVAL);
    assert_non_null(strstr(err.msg, "R references itself"));
    script_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_are_applied_when_the_value_is_read),
        cmocka_unit_test(a_name_is_split_at_the_first_keyword_that_fits),
        cmocka_unit_test(removals_that_had_an_effect_are_told),
        cmocka_unit_test(a_copy_adds_operations_without_changing_its_parent),
        cmocka_unit_test(a_removal_that_cannot_be_expanded_fails_the_value),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
