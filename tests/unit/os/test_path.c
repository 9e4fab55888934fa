#include "os/path.h"

#include "tests/unit/bz_test.h"

/* BZ_E_LIMIT and friends never print as a path, so a failure can stand in a table. */
#define REFUSED NULL

static char long_name[BZ_PATH_MAX + 10];

static void check(const char *what, int rc, const struct bz_path *got, const char *want)
{
    if (!want) {
        if (rc != BZ_E_INVAL)
            fail_msg("%s: got %d '%s', not a refusal", what, rc, got->s);
        return;
    }
    if (rc != 0 || strcmp(got->s, want) != 0)
        fail_msg("%s: got %d '%s', want '%s'", what, rc, got->s, want);
    assert_int_equal(got->n, strlen(want));
}

static void normalising_follows_the_rules(void **state)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"",              "."           },
        {".",             "."           },
        {"./.",           "."           },
        {"/",             "/"           },
        {"//",            "/"           },
        {"///a//b///",    "/a/b"        },
        {"a/./b",         "a/b"         },
        {"a/../b",        "b"           },
        {"a/..",          "."           },
        {"a/b/..",        "a"           },
        {"/a/b/..",       "/a"          },
        {"/a/..",         "/"           },
        {"/..",           "/"           },
        {"/../../a",      "/a"          },
        {"..",            ".."          },
        {"../..",         "../.."       },
        {"../a/..",       ".."          },
        {"a/../..",       ".."          },
        {"a/../../b",     "../b"        },
        {"...",           "..."         },
        {"..a/.b/b..",    "..a/.b/b.."  },
        {"a b/\xc3\xa9/", "a b/\xc3\xa9"},
    };
    struct bz_path out;
    struct bz_err err;

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++)
        check(cases[i].in, bz_path_normalise(bz_str_from(cases[i].in), &out, &err),
              &out, cases[i].out);
}

static void joining_puts_one_slash_between(void **state)
{
    static const struct {
        const char *base, *p, *out;
    } cases[] = {
        {"a",  "b",    "a/b"   },
        {"a/", "b",    "a/b"   },
        {"/",  "b",    "/b"    },
        {"",   "b",    "b"     },
        {"a",  "",     "a"     },
        {"",   "",     ""      },
        {"a",  "/b",   "/b"    },
        {"a",  "../b", "a/../b"},
    };
    struct bz_path out;
    struct bz_err err;

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++)
        check(cases[i].p,
              bz_path_join(bz_str_from(cases[i].base), bz_str_from(cases[i].p), &out,
                           &err),
              &out, cases[i].out);
}

static void a_path_splits_as_the_shell_tools_split_it(void **state)
{
    static const struct {
        const char *in, *dir, *base;
    } cases[] = {
        {"a",      ".",    "a"},
        {"a/b",    "a",    "b"},
        {"a/b/",   "a",    "b"},
        {"a//b",   "a",    "b"},
        {"/a",     "/",    "a"},
        {"//a",    "/",    "a"},
        {"/a/b/c", "/a/b", "c"},
        {"/",      "/",    "/"},
        {"///",    "/",    "/"},
        {"a/",     ".",    "a"},
        {"",       ".",    "" },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_str in = bz_str_from(cases[i].in);
        struct bz_str dir = bz_path_dirname(in), base = bz_path_basename(in);

        if (!bz_str_eq(dir, bz_str_from(cases[i].dir)) ||
            !bz_str_eq(base, bz_str_from(cases[i].base)))
            fail_msg("'%s' splits to '%.*s' and '%.*s'", cases[i].in, BZ_STR_ARG(dir),
                     BZ_STR_ARG(base));
    }
}

static void a_relative_path_leads_from_one_to_the_other(void **state)
{
    static const struct {
        const char *from, *to, *out;
    } cases[] = {
        {"/a/b",        "/a/c",   "../c"   },
        {"/a",          "/a/b/c", "b/c"    },
        {"/a/b",        "/",      "../.."  },
        {"/",           "/a",     "a"      },
        {"/a",          "/a",     "."      },
        {"/ab",         "/a",     "../a"   },
        {"a",           "b",      "../b"   },
        {".",           "b",      "b"      },
        {"a/b",         ".",      "../.."  },
        {"../a",        "../b",   "../b"   },
        {"a",           "../b",   "../../b"},
        {"/a/./b/../c", "/a/c/d", "d"      },
        {"..",          "b",      REFUSED  },
        {"../..",       "../b",   REFUSED  },
        {"/a",          "b",      REFUSED  },
        {"a",           "/b",     REFUSED  },
    };
    struct bz_path out;
    struct bz_err err;

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++)
        check(cases[i].to,
              bz_path_relative(bz_str_from(cases[i].from), bz_str_from(cases[i].to),
                               &out, &err),
              &out, cases[i].out);
}

static void foreign_names_must_stay_below(void **state)
{
    static const struct {
        struct bz_str in;
        bool safe;
    } cases[] = {
        {{"a", 1},            true },
        {{"a/b.c", 5},        true },
        {{"./a", 3},          true },
        {{"..a", 3},          true },
        {{"a..", 3},          true },
        {{".", 1},            true },
        {{"a//b/", 5},        true },
        {{"", 0},             false},
        {{NULL, 0},           false},
        {{"/", 1},            false},
        {{"/etc/passwd", 11}, false},
        {{"..", 2},           false},
        {{"../a", 4},         false},
        {{"a/../b", 6},       false},
        {{"a/..", 4},         false},
        {{"a\0b", 3},         false},
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++)
        if (bz_path_is_safe(cases[i].in) != cases[i].safe)
            fail_msg("'%.*s' is judged wrong", BZ_STR_ARG(cases[i].in));
    memset(long_name, 'x', sizeof(long_name));
    assert_true(bz_path_is_safe(bz_str_of(long_name, 255)));
    assert_false(bz_path_is_safe(bz_str_of(long_name, 256)));
    for (size_t i = 1; i < sizeof(long_name); i += 2)
        long_name[i] = '/';
    assert_true(bz_path_is_safe(bz_str_of(long_name, BZ_PATH_MAX - 1)));
    assert_false(bz_path_is_safe(bz_str_of(long_name, BZ_PATH_MAX)));
}

static void what_the_kernel_would_not_take_is_refused(void **state)
{
    struct bz_str fits, over, nul = {"a\0b", 3};
    struct bz_path out;
    struct bz_err err;

    (void)state;
    memset(long_name, 'x', sizeof(long_name));
    fits = bz_str_of(long_name, BZ_PATH_MAX - 1);
    over = bz_str_of(long_name, BZ_PATH_MAX);
    assert_ok(bz_path_normalise(fits, &out, &err), &err);
    assert_int_equal(strlen(out.s), BZ_PATH_MAX - 1);
    assert_int_equal(bz_path_normalise(over, &out, &err), BZ_E_LIMIT);
    assert_int_equal(bz_path_join(fits, BZ_STR("b"), &out, &err), BZ_E_LIMIT);
    assert_int_equal(bz_path_join(fits, BZ_STR(""), &out, &err), 0);
    assert_int_equal(bz_path_relative(fits, BZ_STR("b"), &out, &err), 0);
    assert_int_equal(bz_path_relative(BZ_STR("b"), fits, &out, &err), BZ_E_LIMIT);
    assert_int_equal(bz_path_normalise(nul, &out, &err), BZ_E_INVAL);
    assert_int_equal(bz_path_join(nul, fits, &out, &err), BZ_E_INVAL);
    assert_int_equal(bz_path_join(fits, nul, &out, &err), BZ_E_INVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(normalising_follows_the_rules),
        cmocka_unit_test(joining_puts_one_slash_between),
        cmocka_unit_test(a_path_splits_as_the_shell_tools_split_it),
        cmocka_unit_test(a_relative_path_leads_from_one_to_the_other),
        cmocka_unit_test(foreign_names_must_stay_below),
        cmocka_unit_test(what_the_kernel_would_not_take_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
