#include "codec/json.h"

#include <stdlib.h>

#include "tests/unit/bz_test.h"

/* Parses; the caller releases the arena. */
static int parse(struct bz_arena *a, const char *text, const struct bz_doc **out,
                 struct bz_err *err)
{
    return bz_json_parse(a, bz_str_from(text), NULL, out, err);
}

static void assert_str(struct bz_str s, const char *want)
{
    assert_int_equal(s.n, strlen(want));
    assert_memory_equal(s.p, want, s.n);
}

static void every_type_comes_out(void **state)
{
    struct bz_arena a = {0};
    const struct bz_doc *d;
    struct bz_err err;

    (void)state;
    assert_ok(parse(&a, "[null, true, false, 7, 1.5, \"s\", [], {}]", &d, &err), &err);
    assert_int_equal(d->type, BZ_DOC_LIST);
    assert_int_equal(d->count, 8);
    assert_int_equal(d->items[0].type, BZ_DOC_NULL);
    assert_int_equal(d->items[1].type, BZ_DOC_BOOL);
    assert_true(d->items[1].b);
    assert_int_equal(d->items[2].type, BZ_DOC_BOOL);
    assert_false(d->items[2].b);
    assert_int_equal(d->items[3].type, BZ_DOC_INT);
    assert_int_equal(d->items[3].i, 7);
    assert_int_equal(d->items[4].type, BZ_DOC_REAL);
    assert_true(d->items[4].r == 1.5);
    assert_int_equal(d->items[5].type, BZ_DOC_STR);
    assert_str(d->items[5].text, "s");
    assert_int_equal(d->items[6].type, BZ_DOC_LIST);
    assert_int_equal(d->items[6].count, 0);
    assert_int_equal(d->items[7].type, BZ_DOC_MAP);
    assert_int_equal(d->items[7].count, 0);
    bz_arena_release(&a);
}

static void maps_keep_order_and_nest(void **state)
{
    struct bz_arena a = {0};
    const struct bz_doc *d, *in;
    struct bz_err err;
    int64_t i = 0;

    (void)state;
    assert_ok(parse(&a, "{\"z\":1,\"a\":{\"b\":[2,{\"c\":3}]},\"\":4}", &d, &err),
              &err);
    assert_int_equal(d->count, 3);
    assert_str(d->items[0].key, "z");
    assert_str(d->items[1].key, "a");
    assert_str(d->items[2].key, "");
    in = bz_doc_find(bz_doc_find(d, "a"), "b");
    assert_non_null(in);
    assert_ok(bz_doc_get_int(&in->items[1], "c", 0, 9, &i, &err), &err);
    assert_int_equal(i, 3);
    bz_arena_release(&a);
}

/* A two-byte character before a value counts as one column. */
static void values_know_their_line_and_column(void **state)
{
    struct bz_arena a = {0};
    const struct bz_doc *d;
    struct bz_err err;

    (void)state;
    assert_ok(parse(&a, "\n {\"\xc3\xbc\": 1,\r\n\t\"k\"\n:\n[true,  -2.5]}", &d, &err),
              &err);
    assert_int_equal(d->line, 2);
    assert_int_equal(d->column, 2);
    assert_int_equal(d->key_line, 0);
    assert_int_equal(d->items[0].line, 2);
    assert_int_equal(d->items[0].column, 8);
    assert_int_equal(d->items[0].key_line, 2);
    assert_int_equal(d->items[1].key_line, 3);
    assert_int_equal(d->items[1].line, 5);
    assert_int_equal(d->items[1].items[1].line, 5);
    assert_int_equal(d->items[1].items[1].column, 9);
    assert_int_equal(d->items[1].items[1].key_line, 0);
    bz_arena_release(&a);
}

static void strings_are_unescaped(void **state)
{
    static const struct {
        const char *json, *want;
    } cases[] = {
        {"\"\"",                           ""                      },
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"       },
        {"\"\\u0041\\u00fc\\u20AC\"",      "A\xc3\xbc\xe2\x82\xac" },
        {"\"\\ud83d\\uDE00\"",             "\xf0\x9f\x98\x80"      },
        {"\"gr\xc3\xbc\xc3\x9f\x7f\"",     "gr\xc3\xbc\xc3\x9f\x7f"},
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_arena a = {0};
        const struct bz_doc *d;
        struct bz_err err;

        assert_ok(parse(&a, cases[i].json, &d, &err), &err);
        assert_str(d->text, cases[i].want);
        bz_arena_release(&a);
    }
}

static void integers_are_exact_to_the_last_bit(void **state)
{
    static const struct {
        const char *json;
        int64_t want;
    } cases[] = {
        {"0",                    0                         },
        {"-0",                   0                         },
        {"-1",                   -1                        },
        {"9007199254740993",     INT64_C(9007199254740993) },
        {"-9007199254740993",    INT64_C(-9007199254740993)},
        {"9223372036854775807",  INT64_MAX                 },
        {"-9223372036854775808", INT64_MIN                 },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_arena a = {0};
        const struct bz_doc *d;
        struct bz_err err;

        assert_ok(parse(&a, cases[i].json, &d, &err), &err);
        assert_int_equal(d->type, BZ_DOC_INT);
        assert_true(d->i == cases[i].want);
        assert_str(d->text, cases[i].json);
        bz_arena_release(&a);
    }
}

static void numbers_with_point_or_exponent_are_reals(void **state)
{
    static const struct {
        const char *json;
        double want;
    } cases[] = {
        {"0.0",                    0.0                   },
        {"1e2",                    100.0                 },
        {"1E+2",                   100.0                 },
        {"-2.5e-1",                -0.25                 },
        {"1e-999",                 0.0                   },
        {"1.7976931348623157e308", 1.7976931348623157e308},
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_arena a = {0};
        const struct bz_doc *d;
        struct bz_err err;

        assert_ok(parse(&a, cases[i].json, &d, &err), &err);
        assert_int_equal(d->type, BZ_DOC_REAL);
        assert_true(d->r == cases[i].want);
        bz_arena_release(&a);
    }
}

static void what_is_not_json_is_refused_with_its_place(void **state)
{
    static const struct {
        const char *json, *msg;
    } cases[] = {
        {"",                              "line 1, column 1: expected a value, found the end"           },
        {" \n ",                          "line 2, column 2: expected a value, found the end"           },
        {"[1,",                           "line 1, column 4: expected a value, found the end"           },
        {"[1 2]",                         "line 1, column 4: expected ',' or ']', found '2'"            },
        {"[1,]",                          "line 1, column 4: expected a value, found ']'"               },
        {"[,1]",                          "line 1, column 2: expected a value or ']', found ','"        },
        {"[1}",                           "line 1, column 3: expected ',' or ']', found '}'"            },
        {"[}",                            "line 1, column 2: expected a value or ']', found '}'"        },
        {"{]",                            "line 1, column 2: expected a key in quotes or '}', found ']'"},
        {"{1:2}",                         "line 1, column 2: expected a key in quotes or '}', found '1'"},
        {"{\"a\" 1}",                     "line 1, column 6: expected ':', found '1'"                   },
        {"{\"a\":}",                      "line 1, column 6: expected a value, found '}'"               },
        {"{\"a\":1,}",                    "line 1, column 8: expected a key in quotes, found '}'"       },
        {"{\"a\":1 \"b\":2}",             "line 1, column 8: expected ',' or '}', found '\"'"           },
        {"{a:1}",                         "line 1, column 2: expected a key in quotes or '}', found 'a'"},
        {"{'a':1}",                       "line 1, column 2: expected a key in quotes or '}', found '''"},
        {"1 2",                           "line 1, column 3: expected nothing more, found '2'"          },
        {"{}\n\n x",                      "line 3, column 2: expected nothing more, found 'x'"          },
        {"]",                             "line 1, column 1: expected a value, found ']'"               },
        {"tru",                           "line 1, column 1: expected a value, found 't'"               },
        {"True",                          "line 1, column 1: expected a value, found 'T'"               },
        {"nulll",                         "line 1, column 5: expected nothing more, found 'l'"          },
        {"NaN",                           "line 1, column 1: expected a value, found 'N'"               },
        {"[1] // note",                   "line 1, column 5: expected nothing more, found '/'"          },
        {"\v1",                           "line 1, column 1: expected a value, found byte 0x0b"         },
        {"\xef\xbb\xbf{}",                "line 1, column 1: expected a value, found byte 0xef"         },
        {"01",                            "line 1, column 2: expected nothing more, found '1'"          },
        {"+1",                            "line 1, column 1: expected a value, found '+'"               },
        {"-",                             "line 1, column 1: malformed number"                          },
        {"[-a]",                          "line 1, column 2: malformed number"                          },
        {"1.",                            "line 1, column 1: malformed number"                          },
        {".5",                            "line 1, column 1: expected a value, found '.'"               },
        {"1e",                            "line 1, column 1: malformed number"                          },
        {"1e+",                           "line 1, column 1: malformed number"                          },
        {"-.5",                           "line 1, column 1: malformed number"                          },
        {"0x10",                          "line 1, column 2: expected nothing more, found 'x'"          },
        {"[\"ab",                         "line 1, column 2: string without end"                        },
        {"\"ab\\",                        "line 1, column 4: unknown escape in a string"                },
        {"\"a\nb\"",                      "line 1, column 3: unescaped control character in a string"   },
        {"\"a\\qb\"",                     "line 1, column 3: unknown escape in a string"                },
        {"\"\\u12\"",                     "line 1, column 2: \\u without four hexadecimal digits"       },
        {"\"\\u0000\"",                   "line 1, column 2: NUL in a string"                           },
        {"\"\\ud800\"",                   "line 1, column 2: half of a surrogate pair"                  },
        {"\"\\udc00\"",                   "line 1, column 2: half of a surrogate pair"                  },
        {"\"\\ud800\\u0041\"",            "line 1, column 2: half of a surrogate pair"                  },
        {"\"\\ud800\\ud800\"",            "line 1, column 2: half of a surrogate pair"                  },
        {"\"\xc3\xbc\xff\"",              "line 1, column 3: invalid UTF-8"                             },
        {"\"\xed\xa0\x80\"",              "line 1, column 2: invalid UTF-8"                             },
        {"\"\xe2\x82",                    "line 1, column 2: invalid UTF-8"                             },
        {"{\"a\":1,\n\"b\":2,\n\"a\":3}", "line 3: key 'a' is already in line 1"                        },
        {"{\"a\":1,\"\\u0061\":2}",       "line 1: key 'a' is already in line 1"                        },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_arena a = {0};
        const struct bz_doc *d = NULL;
        struct bz_err err;

        assert_int_equal(parse(&a, cases[i].json, &d, &err), BZ_E_INVAL);
        assert_string_equal(err.msg, cases[i].msg);
        assert_null(d);
        bz_arena_release(&a);
    }
}

static void a_nul_byte_in_the_text_is_refused(void **state)
{
    static const struct bz_str texts[] = {
        {"\0",       1},
        {"[1]\0",    4},
        {"\"a\0b\"", 5},
        {"[\0]",     3},
        {"\"\\\0\"", 4}
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(texts); i++) {
        struct bz_arena a = {0};
        const struct bz_doc *d;
        struct bz_err err;

        assert_int_equal(bz_json_parse(&a, texts[i], NULL, &d, &err), BZ_E_INVAL);
        bz_arena_release(&a);
    }
}

static void numbers_that_do_not_fit_are_refused_not_rounded(void **state)
{
    static const char *const texts[] = {
        "9223372036854775808",
        "-9223372036854775809",
        "18446744073709551615",
        "1e999",
        "-1e999",
        "[0.1234567890123456789012345678901234567890123456789012345678901234]",
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(texts); i++) {
        struct bz_arena a = {0};
        const struct bz_doc *d;
        struct bz_err err;

        assert_int_equal(parse(&a, texts[i], &d, &err), BZ_E_LIMIT);
        bz_arena_release(&a);
    }
}

static void the_longest_number_is_read_whole(void **state)
{
    struct bz_arena a = {0};
    const struct bz_doc *d;
    struct bz_err err;

    (void)state;
    assert_ok(parse(&a,
                    "2.000000000000000000000000000000000000000000000000000000000e001",
                    &d, &err),
              &err);
    assert_int_equal(d->text.n, 63);
    assert_true(d->r == 20.0);
    bz_arena_release(&a);
}

static void limits_hold_exactly(void **state)
{
    static const struct {
        struct bz_doc_limits limits;
        const char *json;
        int want;
    } cases[] = {
        {{.bytes = 3}, "[1]",         0         },
        {{.bytes = 3}, "[1] ",        BZ_E_LIMIT},
        {{.depth = 2}, "[[1],{}]",    0         },
        {{.depth = 2}, "[[{}]]",      BZ_E_LIMIT},
        {{.nodes = 3}, "[1,2]",       0         },
        {{.nodes = 3}, "[1,2,3]",     BZ_E_LIMIT},
        {{.nodes = 3}, "{\"a\":[1]}", 0         },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_arena a = {0};
        const struct bz_doc *d;
        struct bz_err err;

        assert_int_equal(
            bz_json_parse(&a, bz_str_from(cases[i].json), &cases[i].limits, &d, &err),
            cases[i].want);
        bz_arena_release(&a);
    }
}

static void the_deepest_allowed_text_is_read(void **state)
{
    const struct bz_doc_limits limits = {.depth = 500};
    struct bz_arena a = {0};
    const struct bz_doc *d;
    struct bz_err err;
    char text[1002];

    (void)state;
    memset(text, '[', 501);
    memset(text + 501, ']', 501);
    assert_int_equal(bz_json_parse(&a, bz_str_of(text, 1002), &limits, &d, &err),
                     BZ_E_LIMIT);
    assert_string_equal(err.msg, "line 1, column 501: more than 500 levels");
    assert_ok(bz_json_parse(&a, bz_str_of(text + 1, 1000), &limits, &d, &err), &err);
    bz_arena_release(&a);
}

/* The tree is used after its text is gone, and bytes beyond the slice are not read. */
static void a_tree_needs_nothing_of_its_text(void **state)
{
    static const char json[] = "{\"key\":[\"value\",12]}";
    char *copy = malloc(sizeof(json) - 1);
    struct bz_arena a = {0};
    const struct bz_doc *d;
    struct bz_err err;

    (void)state;
    assert_non_null(copy);
    memcpy(copy, json, sizeof(json) - 1);
    assert_ok(bz_json_parse(&a, bz_str_of(copy, sizeof(json) - 1), NULL, &d, &err),
              &err);
    free(copy);
    assert_str(d->items[0].key, "key");
    assert_str(d->items[0].items[0].text, "value");
    assert_str(d->items[0].items[1].text, "12");
    bz_arena_release(&a);
}

static void a_failure_leaves_nothing_in_the_arena(void **state)
{
    struct bz_arena a = {0};
    const struct bz_doc *d;
    struct bz_err err;
    size_t before;

    (void)state;
    assert_non_null(bz_arena_alloc(&a, 16, 8));
    before = bz_arena_stats(&a).used;
    assert_int_equal(parse(&a, "{\"a\":[1,2,3],\"a\":0}", &d, &err), BZ_E_INVAL);
    assert_int_equal(bz_arena_stats(&a).used, before);
    bz_arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_comes_out),
        cmocka_unit_test(maps_keep_order_and_nest),
        cmocka_unit_test(values_know_their_line_and_column),
        cmocka_unit_test(strings_are_unescaped),
        cmocka_unit_test(integers_are_exact_to_the_last_bit),
        cmocka_unit_test(numbers_with_point_or_exponent_are_reals),
        cmocka_unit_test(what_is_not_json_is_refused_with_its_place),
        cmocka_unit_test(a_nul_byte_in_the_text_is_refused),
        cmocka_unit_test(numbers_that_do_not_fit_are_refused_not_rounded),
        cmocka_unit_test(the_longest_number_is_read_whole),
        cmocka_unit_test(limits_hold_exactly),
        cmocka_unit_test(the_deepest_allowed_text_is_read),
        cmocka_unit_test(a_tree_needs_nothing_of_its_text),
        cmocka_unit_test(a_failure_leaves_nothing_in_the_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
