#include "config/setting_value.h"

#include "base/mem.h"
#include "tests/unit/bz_test.h"

static const char *const colors[] = {"red", "green", NULL};
static const struct bz_setting_value_place place = {
    {"/etc/x",   6},
    {"/home/me", 8}
};

static int parse(struct bz_arena *a, enum bz_setting_type type, const char *text,
                 struct bz_setting_value *out, struct bz_err *err)
{
    const struct bz_setting row = {
        .name = "x", .type = type, .min = -5, .max = 100, .choices = colors};

    return bz_setting_value_parse(a, &row, bz_str_from(text), &place, out, err);
}

static const struct {
    enum bz_setting_type type;
    const char *text;
    int64_t number;
} numbers[] = {
    {BZ_SETTING_BOOL,     "true",    1                  },
    {BZ_SETTING_BOOL,     "yes",     1                  },
    {BZ_SETTING_BOOL,     "off",     0                  },
    {BZ_SETTING_BOOL,     "0",       0                  },
    {BZ_SETTING_INT,      "0",       0                  },
    {BZ_SETTING_INT,      "100",     100                },
    {BZ_SETTING_INT,      "-5",      -5                 },
    {BZ_SETTING_SIZE,     "0",       0                  },
    {BZ_SETTING_SIZE,     "4096",    4096               },
    {BZ_SETTING_SIZE,     "7B",      7                  },
    {BZ_SETTING_SIZE,     "1%",      -1                 },
    {BZ_SETTING_SIZE,     "100 %",   -100               },
    {BZ_SETTING_SIZE,     "3K",      3072               },
    {BZ_SETTING_SIZE,     "10 G",    10737418240        },
    {BZ_SETTING_SIZE,     "512MiB",  536870912          },
    {BZ_SETTING_SIZE,     "8191P",   9222246136947933184},
    {BZ_SETTING_DURATION, "0",       0                  },
    {BZ_SETTING_DURATION, "250ms",   250000000          },
    {BZ_SETTING_DURATION, "30s",     30000000000        },
    {BZ_SETTING_DURATION, "1h30m",   5400000000000      },
    {BZ_SETTING_DURATION, "2d 12 h", 216000000000000    },
    {BZ_SETTING_DURATION, "1w",      604800000000000    },
    {BZ_SETTING_ENUM,     "red",     0                  },
    {BZ_SETTING_ENUM,     "green",   1                  },
};

static void texts_become_numbers(void **state)
{
    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(numbers); i++) {
        BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
        struct bz_setting_value v;
        struct bz_err err = {0};

        assert_ok(parse(&a, numbers[i].type, numbers[i].text, &v, &err), &err);
        assert_true(v.number == numbers[i].number);
        assert_string_equal(v.text.p, numbers[i].text);
    }
}

static const struct {
    enum bz_setting_type type;
    const char *text;
} wrong[] = {
    {BZ_SETTING_BOOL,     "maybe"               },
    {BZ_SETTING_BOOL,     ""                    },
    {BZ_SETTING_INT,      "101"                 },
    {BZ_SETTING_INT,      "-6"                  },
    {BZ_SETTING_INT,      "--1"                 },
    {BZ_SETTING_INT,      "ten"                 },
    {BZ_SETTING_INT,      "99999999999999999999"},
    {BZ_SETTING_SIZE,     ""                    },
    {BZ_SETTING_SIZE,     "G"                   },
    {BZ_SETTING_SIZE,     "0%"                  },
    {BZ_SETTING_SIZE,     "101%"                },
    {BZ_SETTING_SIZE,     "%"                   },
    {BZ_SETTING_SIZE,     "-1"                  },
    {BZ_SETTING_SIZE,     "1X"                  },
    {BZ_SETTING_SIZE,     "1iB"                 },
    {BZ_SETTING_SIZE,     "8192P"               },
    {BZ_SETTING_DURATION, ""                    },
    {BZ_SETTING_DURATION, "30"                  },
    {BZ_SETTING_DURATION, "s"                   },
    {BZ_SETTING_DURATION, "1h30"                },
    {BZ_SETTING_DURATION, "99999999999w"        },
    {BZ_SETTING_ENUM,     "blue"                },
    {BZ_SETTING_ENUM,     ""                    },
    {BZ_SETTING_PATH,     ""                    },
    {BZ_SETTING_PATH,     "~you/x"              },
};

static void what_is_no_value_of_its_type_is_the_users_error(void **state)
{
    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(wrong); i++) {
        BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
        struct bz_setting_value v;
        struct bz_err err = {0};

        if (parse(&a, wrong[i].type, wrong[i].text, &v, &err) != BZ_E_INVAL)
            fail_msg("'%s' is taken", wrong[i].text);
    }
}

static void paths_are_relative_to_who_says_them(void **state)
{
    static const char *const cases[][2] = {
        {"/a/../b", "/b"        },
        {"c",       "/etc/x/c"  },
        {"../c/",   "/etc/c"    },
        {"~",       "/home/me"  },
        {"~//d",    "/home/me/d"},
        {"a/~",     "/etc/x/a/~"},
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
        struct bz_setting_value v;
        struct bz_err err = {0};

        assert_ok(parse(&a, BZ_SETTING_PATH, cases[i][0], &v, &err), &err);
        assert_string_equal(v.text.p, cases[i][1]);
    }
}

static void without_a_home_a_tilde_has_no_meaning(void **state)
{
    const struct bz_setting_value_place nowhere = {
        .base = {"/x", 2}
    };
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bz_err err = {0};
    struct bz_str out;

    (void)state;
    assert_int_equal(bz_setting_value_path(&a, BZ_STR("~/x"), &nowhere, &out, &err),
                     BZ_E_INVAL);
}

static void lists_are_split_at_semicolons(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bz_setting_value v;
    struct bz_err err = {0};

    (void)state;
    assert_ok(parse(&a, BZ_SETTING_LIST, "a b ; ; c", &v, &err), &err);
    assert_int_equal(v.n, 2);
    assert_string_equal(v.items[0].p, "a b");
    assert_string_equal(v.items[1].p, "c");
    assert_ok(parse(&a, BZ_SETTING_LIST, "", &v, &err), &err);
    assert_int_equal(v.n, 0);
}

static void what_is_too_long_is_refused(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    BZ_CLEANUP(bz_mem_freep) char *text = bz_mem_zalloc(BZ_SETTING_VALUE_MAX + 2);
    struct bz_setting_value v;
    struct bz_err err = {0};

    (void)state;
    for (size_t i = 0; i < (size_t)2 * (BZ_SETTING_VALUE_ITEMS + 1); i += 2)
        memcpy(text + i, "a;", 2);
    assert_int_equal(parse(&a, BZ_SETTING_LIST, text, &v, &err), BZ_E_INVAL);
    memset(text, 'x', BZ_SETTING_VALUE_MAX + 1);
    assert_int_equal(parse(&a, BZ_SETTING_TEXT, text, &v, &err), BZ_E_INVAL);
    text[BZ_SETTING_VALUE_MAX] = '\0';
    assert_ok(parse(&a, BZ_SETTING_TEXT, text, &v, &err), &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_become_numbers),
        cmocka_unit_test(what_is_no_value_of_its_type_is_the_users_error),
        cmocka_unit_test(paths_are_relative_to_who_says_them),
        cmocka_unit_test(without_a_home_a_tilde_has_no_meaning),
        cmocka_unit_test(lists_are_split_at_semicolons),
        cmocka_unit_test(what_is_too_long_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
