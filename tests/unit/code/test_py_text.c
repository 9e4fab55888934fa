#include "code/py_text.h"

#include "tests/unit/bz_test.h"

static const struct bz_py_quote plain = {.quote = '\''};
static const struct bz_py_quote raw = {.quote = '\'', .raw = true};
static const struct bz_py_quote bytes = {.quote = '\'', .bytes = true};

static void escapes_are_resolved(void **state)
{
    static const struct {
        const struct bz_py_quote *kind;
        const char *body, *value;
    } rows[] = {
        {&plain, "abc",                   "abc"                         },
        {&plain, "",                      ""                            },
        {&plain, "\\a\\b\\f\\n\\r\\t\\v", "\a\b\f\n\r\t\v"              },
        {&plain, "\\\\ \\' \\\"",         "\\ ' \""                     },
        {&plain, "a\\\nb",                "ab"                          },
        {&plain, "\\x41\\101\\u00e9",     "AA\xc3\xa9"                  },
        {&plain, "\\U0001F600\\u20ac",    "\xf0\x9f\x98\x80\xe2\x82\xac"},
        {&plain, "\\ud800",               "\xed\xa0\x80"                },
        {&plain, "\\777\\0468",           "\xc7\xbf&8"                  },
        {&plain, "\\q\\.\\8",             "\\q\\.\\8"                   },
        {&raw,   "\\n\\x",                "\\n\\x"                      },
        {&bytes, "\\x41\\u0041\\N{x}",    "A\\u0041\\N{x}"              },
        {&bytes, "\\xff\\377",            "\xff\xff"                    },
    };
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(rows); i++) {
        BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
        struct bz_str value = {0};
        struct bz_err err = {0};
        bool known = false;

        assert_ok(bz_py_text_value(*rows[i].kind, bz_str_from(rows[i].body), &arena,
                                   &value, &known, &err),
                  &err);
        assert_true(known);
        assert_true(bz_str_eq(value, bz_str_from(rows[i].value)));
    }
}

static void a_character_by_its_name_is_not_known(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct bz_str value;
    struct bz_err err = {0};
    bool known = true;

    (void)state;
    assert_ok(bz_py_text_value(plain, BZ_STR("a\\N{DIGIT ONE}"), &arena, &value, &known,
                               &err),
              &err);
    assert_false(known);
}

static void escapes_that_are_cut_short_are_refused(void **state)
{
    static const struct {
        const struct bz_py_quote *kind;
        const char *body;
    } rows[] = {
        {&plain, "\\x1"       },
        {&plain, "\\x"        },
        {&plain, "\\u12g4"    },
        {&plain, "\\U0011000" },
        {&plain, "\\U00110000"},
        {&plain, "\\N"        },
        {&plain, "\\N{"       },
        {&plain, "\\N{}"      },
        {&bytes, "\\x1"       },
        {&bytes, "\xc3\xa9"   },
    };
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(rows); i++) {
        BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
        struct bz_str value;
        struct bz_err err = {0};
        bool known;

        assert_int_equal(bz_py_text_value(*rows[i].kind, bz_str_from(rows[i].body),
                                          &arena, &value, &known, &err),
                         BZ_E_INVAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes_are_resolved),
        cmocka_unit_test(a_character_by_its_name_is_not_known),
        cmocka_unit_test(escapes_that_are_cut_short_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
