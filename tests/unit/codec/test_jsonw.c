#include "codec/jsonw.h"

#include <math.h>
#include <stdlib.h>

#include "tests/unit/bz_test.h"

static void lists_and_maps_nest(void **state)
{
    struct bz_buf out = {0};
    struct bz_jsonw w = bz_jsonw_to(&out, 0);

    (void)state;
    bz_jsonw_map(&w);
    bz_jsonw_cstr(bz_jsonw_key(&w, "name"), "zlib");
    bz_jsonw_list(bz_jsonw_key(&w, "deps"));
    bz_jsonw_int(&w, 1);
    bz_jsonw_map(&w);
    bz_jsonw_map_end(&w);
    bz_jsonw_list(&w);
    bz_jsonw_list_end(&w);
    bz_jsonw_null(&w);
    bz_jsonw_list_end(&w);
    bz_jsonw_bool(bz_jsonw_key_str(&w, BZ_STR("ok")), true);
    bz_jsonw_bool(bz_jsonw_key(&w, "no"), false);
    bz_jsonw_map_end(&w);
    assert_string_equal(bz_buf_text(&out), "{\"name\":\"zlib\",\"deps\":[1,{},[],null],"
                                           "\"ok\":true,\"no\":false}");
    bz_buf_release(&out);
}

static void indent_puts_each_item_on_its_line(void **state)
{
    struct bz_buf out = {0};
    struct bz_jsonw w = bz_jsonw_to(&out, 2);

    (void)state;
    bz_jsonw_map(&w);
    bz_jsonw_list(bz_jsonw_key(&w, "a"));
    bz_jsonw_int(&w, 1);
    bz_jsonw_uint(&w, UINT64_MAX);
    bz_jsonw_list_end(&w);
    bz_jsonw_map(bz_jsonw_key(&w, "b"));
    bz_jsonw_map_end(&w);
    bz_jsonw_map_end(&w);
    assert_string_equal(bz_buf_text(&out), "{\n"
                                           "  \"a\": [\n"
                                           "    1,\n"
                                           "    18446744073709551615\n"
                                           "  ],\n"
                                           "  \"b\": {}\n"
                                           "}");
    bz_buf_release(&out);
}

static void one_writer_writes_a_stream_of_texts(void **state)
{
    struct bz_buf out = {0};
    struct bz_jsonw w = bz_jsonw_to(&out, 0);

    (void)state;
    for (int i = 0; i < 2; i++) {
        bz_jsonw_list(&w);
        bz_jsonw_int(&w, i);
        bz_jsonw_list_end(&w);
        bz_buf_add_char(&out, '\n');
    }
    assert_string_equal(bz_buf_text(&out), "[0]\n[1]\n");
    bz_buf_release(&out);
}

/* A list at every level: the kinds of the outer ones are remembered. */
static void the_deepest_level_can_be_reached(void **state)
{
    struct bz_buf out = {0};
    struct bz_jsonw w = bz_jsonw_to(&out, 0);

    (void)state;
    for (int i = 0; i < BZ_JSONW_DEPTH; i++) {
        if (i % 2)
            bz_jsonw_list(bz_jsonw_key(&w, "k"));
        else
            bz_jsonw_map(&w);
    }
    for (int i = BZ_JSONW_DEPTH; i-- > 0;) {
        if (i % 2)
            bz_jsonw_list_end(&w);
        else
            bz_jsonw_map_end(&w);
    }
    assert_int_equal(out.len, BZ_JSONW_DEPTH * 2 + BZ_JSONW_DEPTH / 2 * 4);
    bz_buf_release(&out);
}

static void strings_are_escaped(void **state)
{
    static const struct {
        struct bz_str in;
        const char *want;
    } cases[] = {
        {{NULL, 0},                 "\"\""                                    },
        {{"plain", 5},              "\"plain\""                               },
        {{"a\"b\\c/d", 7},          "\"a\\\"b\\\\c/d\""                       },
        {{"\b\f\n\r\t", 5},         "\"\\b\\f\\n\\r\\t\""                     },
        {{"\x01\x1f\x7f", 3},       "\"\\u0001\\u001f\x7f\""                  },
        {{"a\0b", 3},               "\"a\\u0000b\""                           },
        {{"\"", 1},                 "\"\\\"\""                                },
        {{"gr\xc3\xbc\xc3\x9f", 6}, "\"gr\xc3\xbc\xc3\x9f\""                  },
        {{"\xf0\x9f\x98\x80", 4},   "\"\xf0\x9f\x98\x80\""                    },
        {{"a\xff"
          "b",
          3},
         "\"a\xef\xbf\xbd"
         "b\""                                                                },
        {{"\xe2\x82", 2},           "\"\xef\xbf\xbd\xef\xbf\xbd\""            },
        {{"\xed\xa0\x80", 3},       "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_buf out = {0};
        struct bz_jsonw w = bz_jsonw_to(&out, 0);

        bz_jsonw_str(&w, cases[i].in);
        assert_string_equal(bz_buf_text(&out), cases[i].want);
        bz_buf_release(&out);
    }
}

static void keys_are_escaped_like_strings(void **state)
{
    struct bz_buf out = {0};
    struct bz_jsonw w = bz_jsonw_to(&out, 0);

    (void)state;
    bz_jsonw_map(&w);
    bz_jsonw_null(bz_jsonw_key_str(&w, BZ_STR("a\n\"\xff")));
    bz_jsonw_map_end(&w);
    assert_string_equal(bz_buf_text(&out), "{\"a\\n\\\"\xef\xbf\xbd\":null}");
    bz_buf_release(&out);
}

static void integers_are_exact(void **state)
{
    static const struct {
        int64_t i;
        const char *want;
    } cases[] = {
        {0,                         "0"                   },
        {-1,                        "-1"                  },
        {INT64_C(9007199254740993), "9007199254740993"    },
        {INT64_MAX,                 "9223372036854775807" },
        {INT64_MIN,                 "-9223372036854775808"},
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_buf out = {0};
        struct bz_jsonw w = bz_jsonw_to(&out, 0);

        bz_jsonw_int(&w, cases[i].i);
        assert_string_equal(bz_buf_text(&out), cases[i].want);
        bz_buf_release(&out);
    }
}

static void millionths_are_reals(void **state)
{
    static const struct {
        int64_t i;
        const char *want;
    } cases[] = {
        {0,         "0.0"                  },
        {1,         "0.000001"             },
        {1500000,   "1.5"                  },
        {-20,       "-0.00002"             },
        {100000000, "100.0"                },
        {INT64_MIN, "-9223372036854.775808"},
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};
        struct bz_jsonw w = bz_jsonw_to(&out, 0);

        bz_jsonw_millionths(&w, cases[i].i);
        assert_string_equal(bz_buf_text(&out), cases[i].want);
    }
}

static void reals_are_short_and_lead_back_to_themselves(void **state)
{
    static const struct {
        double r;
        const char *want;
    } reals[] = {
        {0.0,                     "0.0"                    },
        {-0.0,                    "-0.0"                   },
        {1.0,                     "1.0"                    },
        {-1.5,                    "-1.5"                   },
        {0.1,                     "0.1"                    },
        {0.1 + 0.2,               "0.30000000000000004"    },
        {1e100,                   "1e+100"                 },
        {1.5e-7,                  "1.5e-07"                },
        {1.7976931348623157e308,  "1.7976931348623157e+308"},
        {4.9406564584124654e-324, "4.94065645841247e-324"  },
        {123456789012345680.0,    "1.2345678901234568e+17" },
        {INFINITY,                "null"                   },
        {-INFINITY,               "null"                   },
        {NAN,                     "null"                   },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(reals); i++) {
        struct bz_buf out = {0};
        struct bz_jsonw w = bz_jsonw_to(&out, 0);

        bz_jsonw_real(&w, reals[i].r);
        assert_string_equal(bz_buf_text(&out), reals[i].want);
        if (isfinite(reals[i].r))
            assert_true(strtod(out.data, NULL) == reals[i].r);
        bz_buf_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_and_maps_nest),
        cmocka_unit_test(indent_puts_each_item_on_its_line),
        cmocka_unit_test(one_writer_writes_a_stream_of_texts),
        cmocka_unit_test(the_deepest_level_can_be_reached),
        cmocka_unit_test(strings_are_escaped),
        cmocka_unit_test(keys_are_escaped_like_strings),
        cmocka_unit_test(integers_are_exact),
        cmocka_unit_test(reals_are_short_and_lead_back_to_themselves),
        cmocka_unit_test(millionths_are_reals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
