#include "jobs/request.h"

#include <stdio.h>

#include "codec/json.h"
#include "tests/unit/bz_test.h"

static void a_request_says_what_where_and_how_long(void **state)
{
    struct bz_request r;
    struct bz_err err;

    (void)state;
    assert_ok(bz_request_parse(BZ_STR(" {\"opcode\": 3, \"task_id\": 42, \"args\": "
                                      "{\"a\": [1, {}, \"}\"]} , \"timeout_ms\": 500,"
                                      "\"priority\":\"high\"} \n"),
                               &r, &err),
              &err);
    assert_int_equal(r.opcode, 3);
    assert_int_equal(r.opname.n, 0);
    assert_int_equal(r.id, 42);
    assert_true(bz_str_eq(r.args, BZ_STR("{\"a\": [1, {}, \"}\"]}")));
    assert_int_equal(r.timeout, 500);
    assert_int_equal(r.priority, BZ_REQUEST_HIGH);
    assert_ok(bz_request_parse(BZ_STR("{\"opcode\":\"build\"}"), &r, &err), &err);
    assert_true(bz_str_eq(r.opname, BZ_STR("build")));
    assert_int_equal(r.id, 0);
    assert_int_equal(r.args.n, 0);
    assert_int_equal(r.priority, BZ_REQUEST_NORMAL);
}

static void wrong_requests_are_refused_with_the_place(void **state)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"",                                                "column 1: expected an object"       },
        {"[]",                                              "column 1: expected an object"       },
        {"{}",                                              "column 2: expected a string"        },
        {"{\"opcode\":1",                                   "column 12: expected ',' or '}'"     },
        {"{\"opcode\":1}x",                                 "column 13: there is something after"},
        {"{\"task_id\":1}",                                 "column 14: it has no opcode"        },
        {"{\"opcode\":-1}",                                 "column 11: expected a whole number" },
        {"{\"opcode\":1.5}",                                "column 12: expected a whole number" },
        {"{\"opcode\":01}",                                 "column 13: expected a whole number" },
        {"{\"opcode\":4096}",                               "column 11: larger than 4095"        },
        {"{\"opcode\":1,\"opcode\":2}",                     "column 21: it is there twice"       },
        {"{\"opcode\":\"\"}",                               "column 13: this is no name"         },
        {"{\"opcode\":\"a\\u0041\"}",                       "column 20: this is no name"         },
        {"{\"opcode\":1,\"task_id\":0}",                    "column 24: a task_id is not 0"      },
        {"{\"opcode\":1,\"task_id\":18446744073709551616}",
         "column 23: larger than 1844"                                                           },
        {"{\"opcode\":1,\"args\":[]}",                      "column 20: args is an object"       },
        {"{\"opcode\":1,\"args\":{\"a\"}}",                 "column 24: expected ':'"            },
        {"{\"opcode\":1,\"args\":{\"a\":tru}}",             "column 25: expected a value"        },
        {"{\"opcode\":1,\"args\":{\"a\":1.}}",              "column 27: a digit is missing"      },
        {"{\"opcode\":1,\"args\":{\"a\":\"\\x\"}}",         "column 26: no such escape"          },
        {"{\"opcode\":1,\"args\":{\"a\":\"\\u0000\"}}",     "column 26: a NUL"                   },
        {"{\"opcode\":1,\"args\":{\"a\":[1,]}}",            "column 28: expected a value"        },
        {"{\"opcode\":1,\"args\":{\"a\":[1}}}",             "column 27: expected ',' or ']'"     },
        {"{\"opcode\":1,\"arg\":{}}",                       "column 14: no such member: arg"     },
        {"{\"opcode\":1,\"priority\":\"low\"}",             "column 29: a priority is"           },
        {"{\"opcode\":1,\"args\":{\"a\":\"\xff\"}}",        "it is not UTF-8"                    },
    };
    struct bz_request r;
    struct bz_err err;

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        assert_int_equal(bz_request_parse(bz_str_from(rows[i].text), &r, &err),
                         BZ_E_INVAL);
        err.msg[strlen(rows[i].message)] = '\0';
        assert_string_equal(err.msg, rows[i].message);
    }
}

static void an_id_is_known_even_if_the_rest_is_wrong(void **state)
{
    struct bz_request r;
    struct bz_err err;

    (void)state;
    assert_true(bz_request_parse(BZ_STR("{\"task_id\":7,\"opcode\":}"), &r, &err) < 0);
    assert_int_equal(r.id, 7);
}

static void depth_has_a_limit(void **state)
{
    char text[300] = "{\"opcode\":1,\"args\":{\"a\":";
    size_t n = strlen(text), depth = BZ_REQUEST_DEPTH - 2;
    struct bz_request r;
    struct bz_err err;

    (void)state;
    memset(text + n, '[', depth);
    memset(text + n + depth, ']', depth);
    memcpy(text + n + 2 * depth, "}}", 3);
    assert_ok(bz_request_parse(bz_str_from(text), &r, &err), &err);
    depth++;
    memset(text + n, '[', depth);
    memset(text + n + depth, ']', depth);
    memcpy(text + n + 2 * depth, "}}", 3);
    assert_int_equal(bz_request_parse(bz_str_from(text), &r, &err), BZ_E_LIMIT);
}

/* The scanner and the parser have to agree on what JSON is. */
static void what_passes_is_json(void **state)
{
    static const char *const values[] = {
        "0",         "-0",    "1e5",    "1.25E-3", "[]", "[[],{}]",    "\"\\u00e9\\n\"",
        "true",      "nul",   "- 1",    "+1",      ".5", "1.e3",       "[1 2]",
        "{\"a\" 1}", "{a:1}", "\"\t\"", "[",       "]",  "{\"a\":1,}", "\"\\ud8\"",
        "1e",        "--1",   "00",
    };
    struct bz_arena arena = {0};

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(values); i++) {
        const struct bz_doc *doc;
        struct bz_request r;
        struct bz_err err;
        char text[200];
        bool ours, theirs;

        snprintf(text, sizeof(text), "{\"opcode\":1,\"args\":{\"v\":%s}}", values[i]);
        ours = bz_request_parse(bz_str_from(text), &r, &err) == 0;
        theirs = bz_json_parse(&arena, bz_str_from(text), NULL, &doc, &err) == 0;
        if (ours != theirs)
            fail_msg("%s: %d here, %d there", values[i], ours, theirs);
    }
    bz_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_says_what_where_and_how_long),
        cmocka_unit_test(wrong_requests_are_refused_with_the_place),
        cmocka_unit_test(an_id_is_known_even_if_the_rest_is_wrong),
        cmocka_unit_test(depth_has_a_limit),
        cmocka_unit_test(what_passes_is_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
