#include "codec/yaml.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "tests/unit/bz_test.h"

static int parse(struct bz_arena *a, const char *text, const struct bz_doc **out,
                 struct bz_err *err)
{
    return bz_yaml_parse(a, bz_str_from(text), NULL, out, err);
}

static void assert_str(struct bz_str s, const char *want)
{
    assert_int_equal(s.n, strlen(want));
    assert_memory_equal(s.p, want, s.n);
}

static const char project[] = "header:\n"
                              "  version: 14\n"
                              "repos:\n"
                              "  poky:\n"
                              "    url: https://example.org/poky\n"
                              "    layers: {meta: , meta-poky: excluded}\n"
                              "env:\n"
                              "- A\n"
                              "- 'B c'\n";

static void maps_and_lists_keep_order_and_place(void **state)
{
    struct bz_arena a = {0};
    const struct bz_doc *d, *repo, *layers;
    struct bz_str url = {0};
    struct bz_err err;

    (void)state;
    assert_ok(parse(&a, project, &d, &err), &err);
    assert_int_equal(d->type, BZ_DOC_MAP);
    assert_int_equal(d->count, 3);
    assert_str(d->items[0].key, "header");
    assert_str(d->items[1].key, "repos");
    assert_str(d->items[2].key, "env");
    assert_int_equal(d->items[0].items[0].i, 14);
    assert_int_equal(d->items[0].items[0].line, 2);
    assert_int_equal(d->items[0].items[0].column, 12);
    assert_int_equal(d->items[1].key_line, 3);
    assert_int_equal(d->items[1].line, 4);
    assert_int_equal(d->items[1].column, 3);
    repo = bz_doc_find(&d->items[1], "poky");
    assert_non_null(repo);
    assert_ok(bz_doc_get_str(repo, "url", &url, &err), &err);
    assert_str(url, "https://example.org/poky");
    assert_ok(bz_doc_field(repo, "layers", BZ_DOC_MAP, &layers, &err), &err);
    assert_int_equal(layers->items[0].type, BZ_DOC_NULL);
    assert_str(layers->items[1].text, "excluded");
    assert_int_equal(d->items[2].type, BZ_DOC_LIST);
    assert_int_equal(d->items[2].count, 2);
    assert_str(d->items[2].items[1].text, "B c");
    assert_int_equal(d->items[2].items[1].key_line, 0);
    bz_arena_release(&a);
}

static void scalars_have_the_type_of_the_core_schema(void **state)
{
    static const struct {
        const char *yaml;
        enum bz_doc_type type;
        const char *text;
    } cases[] = {
        {"~",            BZ_DOC_NULL, "~"         },
        {"null",         BZ_DOC_NULL, "null"      },
        {"NULL",         BZ_DOC_NULL, "NULL"      },
        {"nULL",         BZ_DOC_STR,  "nULL"      },
        {"true",         BZ_DOC_BOOL, "true"      },
        {"False",        BZ_DOC_BOOL, "False"     },
        {"yes",          BZ_DOC_STR,  "yes"       },
        {"off",          BZ_DOC_STR,  "off"       },
        {"12",           BZ_DOC_INT,  "12"        },
        {"-012",         BZ_DOC_INT,  "-012"      },
        {"0x1F",         BZ_DOC_INT,  "0x1F"      },
        {"0o17",         BZ_DOC_INT,  "0o17"      },
        {"-0x1F",        BZ_DOC_STR,  "-0x1F"     },
        {"0o8",          BZ_DOC_STR,  "0o8"       },
        {"0x",           BZ_DOC_STR,  "0x"        },
        {"1_000",        BZ_DOC_STR,  "1_000"     },
        {"1:30",         BZ_DOC_STR,  "1:30"      },
        {"2024-01-01",   BZ_DOC_STR,  "2024-01-01"},
        {"+",            BZ_DOC_STR,  "+"         },
        {"1.5",          BZ_DOC_REAL, "1.5"       },
        {"+.5",          BZ_DOC_REAL, "+.5"       },
        {"1.",           BZ_DOC_REAL, "1."        },
        {"1e3",          BZ_DOC_REAL, "1e3"       },
        {"1.5E-3",       BZ_DOC_REAL, "1.5E-3"    },
        {".",            BZ_DOC_STR,  "."         },
        {"1e",           BZ_DOC_STR,  "1e"        },
        {"1.2.3",        BZ_DOC_STR,  "1.2.3"     },
        {"e3",           BZ_DOC_STR,  "e3"        },
        {"\"12\"",       BZ_DOC_STR,  "12"        },
        {"'true'",       BZ_DOC_STR,  "true"      },
        {"''",           BZ_DOC_STR,  ""          },
        {"|\n 12\n",     BZ_DOC_STR,  "12\n"      },
        {">-\n a\n b\n", BZ_DOC_STR,  "a b"       },
        {"!!str 12",     BZ_DOC_STR,  "12"        },
        {"!!int \"12\"", BZ_DOC_INT,  "12"        },
        {"!!float 12",   BZ_DOC_REAL, "12"        },
        {"!!null ''",    BZ_DOC_NULL, ""          },
        {"!!bool TRUE",  BZ_DOC_BOOL, "TRUE"      },
        {"\xef\xbb\xbf"
         "a",   BZ_DOC_STR,  "a"         },
        {"\"\\u00fc\"",  BZ_DOC_STR,  "\xc3\xbc"  },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_arena a = {0};
        const struct bz_doc *d;
        struct bz_err err;

        assert_ok(parse(&a, cases[i].yaml, &d, &err), &err);
        if (d->type != cases[i].type)
            fail_msg("%s has type %d", cases[i].yaml, (int)d->type);
        assert_str(d->text, cases[i].text);
        bz_arena_release(&a);
    }
}

static void numbers_have_their_value(void **state)
{
    struct bz_arena a = {0};
    const struct bz_doc *d;
    struct bz_err err;

    (void)state;
    assert_ok(parse(&a,
                    "[0x1F, 0o17, -9223372036854775808, 9223372036854775807, +7, .25, "
                    "-1e2, !!float 3, true, FALSE]",
                    &d, &err),
              &err);
    assert_int_equal(d->items[0].i, 31);
    assert_int_equal(d->items[1].i, 15);
    assert_true(d->items[2].i == INT64_MIN);
    assert_true(d->items[3].i == INT64_MAX);
    assert_int_equal(d->items[4].i, 7);
    assert_true(d->items[5].r == 0.25);
    assert_true(d->items[6].r == -100.0);
    assert_true(d->items[7].r == 3.0);
    assert_true(d->items[8].b);
    assert_false(d->items[9].b);
    bz_arena_release(&a);
}

static void an_empty_text_is_null(void **state)
{
    static const char *const texts[] = {"", "\n\n", "# only a note\n", "---\n",
                                        "--- ~"};

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(texts); i++) {
        struct bz_arena a = {0};
        const struct bz_doc *d;
        struct bz_err err;

        assert_ok(parse(&a, texts[i], &d, &err), &err);
        assert_int_equal(d->type, BZ_DOC_NULL);
        assert_int_not_equal(d->line, 0);
        bz_arena_release(&a);
    }
}

static void an_alias_shares_items_and_has_its_own_place(void **state)
{
    struct bz_arena a = {0};
    const struct bz_doc *d;
    struct bz_err err;

    (void)state;
    assert_ok(parse(&a, "a: &x [1, 2]\nb: *x\nc: &n key\n*n : 7\n", &d, &err), &err);
    assert_int_equal(d->count, 4);
    assert_ptr_equal(d->items[0].items, d->items[1].items);
    assert_int_equal(d->items[1].count, 2);
    assert_str(d->items[1].key, "b");
    assert_int_equal(d->items[1].line, 2);
    assert_int_equal(d->items[1].column, 4);
    assert_str(d->items[3].key, "key");
    assert_int_equal(d->items[3].key_line, 4);
    bz_arena_release(&a);
}

static void an_alias_means_the_latest_anchor_of_its_name(void **state)
{
    struct bz_arena a = {0};
    const struct bz_doc *d;
    struct bz_err err;

    (void)state;
    assert_ok(parse(&a, "[&a 1, *a, &a 2, *a, &b [&b 3], *b]", &d, &err), &err);
    assert_int_equal(d->items[1].i, 1);
    assert_int_equal(d->items[3].i, 2);
    assert_int_equal(d->items[5].type, BZ_DOC_INT);
    assert_int_equal(d->items[5].i, 3);
    bz_arena_release(&a);
}

/* "key=text" of the items of a map of scalars, in their order. */
static char *flat(const struct bz_doc *map)
{
    struct bz_buf out = {0};

    for (size_t i = 0; i < map->count; i++)
        bz_buf_addf(&out, "%s%s=%s", i ? " " : "", map->items[i].key.p,
                    map->items[i].text.p);
    return bz_buf_detach(&out);
}

/* What PyYAML's safe loader makes of the same texts. */
static void merge_keys_bring_items_in_and_own_items_win(void **state)
{
    static const struct {
        const char *yaml, *last; /* what the last item of the root map becomes */
    } cases[] = {
        {"x: &x {a: 1, b: 2}\ny: {<<: *x}",                                 "a=1 b=2"    },
        {"x: &x {a: 1, b: 2}\ny: {c: 3, b: 4, <<: *x}",                     "a=1 b=4 c=3"},
        {"x: &x {a: 1, b: 2}\ny: {<<: *x, c: 3, a: 4}",                     "a=4 b=2 c=3"},
        {"x: &x {a: 1, b: 2}\nz: &z {b: 3, c: 4}\ny: {<<: [*x, *z], d: 5}",
         "b=2 c=4 a=1 d=5"                                                               },
        {"x: &x {a: 1}\nz: &z {a: 2, c: 4}\ny: {<<: *x, <<: *z}",           "a=2 c=4"    },
        {"x: &x {a: 1}\nz: &z {<<: *x, b: 2}\ny: {<<: *z, c: 3}",           "a=1 b=2 c=3"},
        {"y: {<<: {a: 1}, b: 2}",                                           "a=1 b=2"    },
        {"y: {<<: []}",                                                     ""           },
        {"y: {<<: {}, a: 1}",                                               "a=1"        },
        {"y: {'<<': 1, \"<<x\": 2}",                                        "<<=1 <<x=2" },
        {"y: {<<: {'<<': 1}}",                                              "<<=1"       },
        {"y: {&k <<: {a: 1}, b: *k}",                                       "a=1 b=<<"   },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_arena a = {0};
        const struct bz_doc *d;
        struct bz_err err;
        char *got;

        assert_ok(parse(&a, cases[i].yaml, &d, &err), &err);
        got = flat(&d->items[d->count - 1]);
        assert_string_equal(got, cases[i].last);
        free(got);
        bz_arena_release(&a);
    }
}

static void merged_items_keep_the_place_where_they_are_written(void **state)
{
    struct bz_arena a = {0};
    const struct bz_doc *d, *y;
    struct bz_err err;

    (void)state;
    assert_ok(parse(&a, "x: &x\n  a: 1\n  b: 2\ny:\n  <<: *x\n  b: 3\n", &d, &err),
              &err);
    y = &d->items[1];
    assert_int_equal(y->line, 5);
    assert_int_equal(y->items[0].key_line, 2);
    assert_int_equal(y->items[0].line, 2);
    assert_int_equal(y->items[0].column, 6);
    assert_int_equal(y->items[1].key_line, 6);
    assert_int_equal(y->items[1].i, 3);
    assert_int_equal(d->items[0].items[1].i, 2); /* the source is as it was */
    bz_arena_release(&a);
}

static void a_wide_map_merges_in_proportion_to_its_size(void **state)
{
    struct bz_buf text = {0};
    struct bz_arena a = {0};
    const struct bz_doc *d;
    struct bz_err err;
    enum { WIDE = 50000 };

    (void)state;
    bz_buf_addf(&text, "x: &x\n");
    for (int i = 0; i < WIDE; i++)
        bz_buf_addf(&text, "  k%d: %d\n", i, i);
    bz_buf_addf(&text, "y:\n  <<: *x\n");
    for (int i = 0; i < WIDE; i++)
        bz_buf_addf(&text, "  k%d: %d\n", i + WIDE / 2, -i);
    assert_ok(bz_yaml_parse(&a, bz_buf_str(&text), NULL, &d, &err), &err);
    assert_int_equal(d->items[1].count, WIDE + WIDE / 2);
    assert_int_equal(d->items[1].items[WIDE / 2 - 1].i, WIDE / 2 - 1);
    assert_int_equal(d->items[1].items[WIDE / 2 + 7].i, -7);
    bz_buf_release(&text);
    bz_arena_release(&a);
}

static void what_is_refused_is_named_with_its_place(void **state)
{
    static const struct {
        const char *yaml;
        int code;
        const char *msg;
    } cases[] = {
        {"a: 1\nb: 2\na: 3\n",       BZ_E_INVAL, "line 3: key 'a' is already in line 1"             },
        {"{a: 1, \"a\": 2}",         BZ_E_INVAL, "line 1: key 'a' is already in line 1"             },
        {"? [a]\n: 1\n",             BZ_E_INVAL, "line 1, column 3: a key must be a scalar"         },
        {"x: &k {}\n*k : 1\n",       BZ_E_INVAL, "line 2, column 1: a key must be a scalar"         },
        {"a: *b\n",                  BZ_E_INVAL, "line 1, column 4: no anchor 'b' before this alias"},
        {"&a [1, *a]",               BZ_E_INVAL, "line 1, column 8: alias 'a' inside its own anchor"},
        {"&a {k: [{x: *a}]}",        BZ_E_INVAL,
         "line 1, column 13: alias 'a' inside its own anchor"                                       },
        {"&a {*a : 1}",              BZ_E_INVAL,
         "line 1, column 5: alias 'a' inside its own anchor"                                        },
        {"a: 1\n---\nb: 2\n",        BZ_E_INVAL, "line 2, column 1: more than one document"         },
        {"a: {<<: 1}",               BZ_E_INVAL,
         "line 1, column 9: a merge key needs a map or a list of maps"                              },
        {"{<<: }",                   BZ_E_INVAL,
         "line 1, column 6: a merge key needs a map or a list of maps"                              },
        {"{<<: [{a: 1}, [b]]}",      BZ_E_INVAL,
         "line 1, column 15: expected a map, found a list"                                          },
        {"&a {<<: *a}",              BZ_E_INVAL,
         "line 1, column 9: alias 'a' inside its own anchor"                                        },
        {"{<<: {a: 1}, b: 2, b: 3}", BZ_E_INVAL,
         "line 1: key 'b' is already in line 1"                                                     },
        {"{!!merge <<: {a: 1}}",     BZ_E_NOSUP,
         "line 1, column 2: tag 'tag:yaml.org,2002:merge' is not supported"                         },
        {"a: !mine 1",               BZ_E_NOSUP, "line 1, column 4: tag '!mine' is not supported"   },
        {"!!set {a, b}",             BZ_E_NOSUP,
         "line 1, column 1: tag 'tag:yaml.org,2002:set' is not supported"                           },
        {"- !!map [a]",              BZ_E_NOSUP,
         "line 1, column 3: tag 'tag:yaml.org,2002:map' is not supported"                           },
        {"!!int abc",                BZ_E_INVAL,
         "line 1, column 1: value does not fit its tag 'tag:yaml.org,2002:int'"                     },
        {"!!int 1.5",                BZ_E_INVAL,
         "line 1, column 1: value does not fit its tag 'tag:yaml.org,2002:int'"                     },
        {"9223372036854775808",      BZ_E_LIMIT,
         "line 1, column 1: number does not fit 64 bits; a string needs quotes"                     },
        {"-9223372036854775809",     BZ_E_LIMIT,
         "line 1, column 1: number does not fit 64 bits; a string needs quotes"                     },
        {"a: 1e999",                 BZ_E_LIMIT,
         "line 1, column 4: number does not fit 64 bits; a string needs quotes"                     },
        {"- -.inf",                  BZ_E_LIMIT, "line 1, column 3: -.inf is not a finite number"   },
        {"- .NaN",                   BZ_E_LIMIT, "line 1, column 3: .NaN is not a finite number"    },
        {"a: \"x\\0y\"",             BZ_E_INVAL, "line 1, column 4: NUL in a string"                },
        {"a: [1, 2\nb: 3\n",         BZ_E_INVAL,
         "line 2, column 2: did not find expected ',' or ']' (while parsing a flow "
         "sequence in line 1)"                                                                      },
        {"a:\n\t- 1\n",              BZ_E_INVAL,
         "line 2, column 1: found character that cannot start any token (while "
         "scanning for the next token in line 2)"                                                   },
        {"a: b: c\n",                BZ_E_INVAL,
         "line 1, column 5: mapping values are not allowed in this context"                         },
        {"a: 1\nb\n",                BZ_E_INVAL,
         "line 3, column 1: could not find expected ':' (while scanning a simple key "
         "in line 2)"                                                                               },
        {"\xc3\xbc: 1\nb: \xff\n",   BZ_E_INVAL,
         "line 2, column 4: invalid leading UTF-8 octet"                                            },
        {"a: \x01\n",                BZ_E_INVAL,
         "line 1, column 4: control characters are not allowed"                                     },
        {"%YAML 9.0\n---\na",        BZ_E_INVAL,
         "line 1, column 1: found incompatible YAML document"                                       },
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_arena a = {0};
        const struct bz_doc *d = NULL;
        struct bz_err err;

        assert_int_equal(parse(&a, cases[i].yaml, &d, &err), cases[i].code);
        assert_string_equal(err.msg, cases[i].msg);
        assert_null(d);
        bz_arena_release(&a);
    }
}

static void a_nul_byte_in_the_text_is_refused(void **state)
{
    struct bz_arena a = {0};
    const struct bz_doc *d;
    struct bz_err err;

    (void)state;
    assert_int_equal(bz_yaml_parse(&a, bz_str_of("a\0b", 3), NULL, &d, &err),
                     BZ_E_INVAL);
    bz_arena_release(&a);
}

static void limits_hold_exactly(void **state)
{
    static const struct {
        struct bz_doc_limits limits;
        const char *yaml;
        int want;
    } cases[] = {
        {{.bytes = 4}, "a: 1",                             0         },
        {{.bytes = 4}, "a: 11",                            BZ_E_LIMIT},
        {{.nodes = 3}, "a: 1",                             0         }, /* map, key, value */
        {{.nodes = 3}, "[1, 2, 3]",                        BZ_E_LIMIT},
        {{.nodes = 5}, "[&a [1], *a]",                     0         }, /* 1 + 2 + 2 */
        {{.nodes = 4}, "[&a [1], *a]",                     BZ_E_LIMIT},
        {{.depth = 2}, "[[1], {}]",                        0         },
        {{.depth = 2}, "[[{}]]",                           BZ_E_LIMIT},
        {{.depth = 3}, "[&a [1], {b: *a}]",                0         },
        {{.depth = 3}, "[&a [1], {b: [*a]}]",              BZ_E_LIMIT}, /* deep only when expanded */
        {{.depth = 4}, "[&a [1], &b [*a], &c [*b]]",       0         },
        {{.depth = 4}, "[&a [1], &b [*a], &c [*b], [*c]]", BZ_E_LIMIT},
        {{.depth = 2}, "[&a 1, [*a]]",                     0         },
        {{.nodes = 7}, "{<<: {a: 1}, b: 2}",               0         }, /* root, <<, 3, b, 2 */
        {{.nodes = 6}, "{<<: {a: 1}, b: 2}",               BZ_E_LIMIT},
        {{.nodes = 9}, "[&a {b: 1}, {<<: *a}]",            0         }, /* 1 + 3 + 2 + 3 */
        {{.nodes = 8}, "[&a {b: 1}, {<<: *a}]",            BZ_E_LIMIT},
        {{.depth = 3}, "[&a {b: 1}, {<<: *a}]",            0         },
        {{.depth = 2}, "[&a {b: 1}, {<<: *a}]",            BZ_E_LIMIT}, /* as it is written */
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_arena a = {0};
        const struct bz_doc *d;
        struct bz_err err;

        assert_int_equal(
            bz_yaml_parse(&a, bz_str_from(cases[i].yaml), &cases[i].limits, &d, &err),
            cases[i].want);
        bz_arena_release(&a);
    }
}

/* Ten aliases on each of ten lines stand for 10^10 values in 600 bytes. */
static void an_alias_bomb_is_refused(void **state)
{
    struct bz_buf text = {0};
    struct bz_arena a = {0};
    const struct bz_doc *d;
    struct bz_err err;

    (void)state;
    bz_buf_addf(&text, "a0: &a0 x\n");
    for (int line = 1; line <= 10; line++) {
        bz_buf_addf(&text, "a%d: &a%d [", line, line);
        for (int i = 0; i < 10; i++)
            bz_buf_addf(&text, "%s*a%d", i ? ", " : "", line - 1);
        bz_buf_addf(&text, "]\n");
    }
    assert_int_equal(bz_yaml_parse(&a, bz_buf_str(&text), NULL, &d, &err), BZ_E_LIMIT);
    assert_non_null(strstr(err.msg, "more than 1000000 values, with aliases"));
    bz_buf_release(&text);
    bz_arena_release(&a);
}

/* The same with merge keys, where each line merges the ones before it tenfold. */
static void a_merge_bomb_is_refused(void **state)
{
    struct bz_buf text = {0};
    struct bz_arena a = {0};
    const struct bz_doc *d;
    struct bz_err err;

    (void)state;
    bz_buf_addf(&text, "a0: &a0 {k: x}\n");
    for (int line = 1; line <= 10; line++) {
        bz_buf_addf(&text, "a%d: &a%d {<<: [", line, line);
        for (int i = 0; i < 10; i++)
            bz_buf_addf(&text, "%s*a%d", i ? ", " : "", line - 1);
        bz_buf_addf(&text, "]}\n");
    }
    assert_int_equal(bz_yaml_parse(&a, bz_buf_str(&text), NULL, &d, &err), BZ_E_LIMIT);
    assert_non_null(strstr(err.msg, "more than 1000000 values, with aliases"));
    bz_buf_release(&text);
    bz_arena_release(&a);
}

/* Their cost in libyaml grows with the square of their number, wherever they stand. */
static void directives_are_few(void **state)
{
    static const char *const starts[] = {"", "a: 1\n...\n"};

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(starts); i++) {
        struct bz_buf text = {0};
        struct bz_arena a = {0};
        const struct bz_doc *d;
        struct bz_err err;

        bz_buf_addf(&text, "%s", starts[i]);
        for (int n = 0; n < 101; n++)
            bz_buf_addf(&text, "%%TAG !t%d! x%s", n, n % 2 ? "\n" : "\r");
        bz_buf_addf(&text, "--- 1\n");
        assert_int_equal(bz_yaml_parse(&a, bz_buf_str(&text), NULL, &d, &err),
                         BZ_E_LIMIT);
        assert_string_equal(err.msg, "more than 100 directives");
        bz_buf_release(&text);
        bz_arena_release(&a);
    }
}

static void a_percent_sign_is_no_directive_elsewhere(void **state)
{
    struct bz_buf text = {0};
    struct bz_arena a = {0};
    const struct bz_doc *d;
    struct bz_err err;

    (void)state;
    bz_buf_addf(&text, "%%YAML 1.1\n---\n");
    for (int n = 0; n < 200; n++)
        bz_buf_addf(&text, "- a%%\n- '%%'\n");
    assert_ok(bz_yaml_parse(&a, bz_buf_str(&text), NULL, &d, &err), &err);
    assert_int_equal(d->count, 400);
    bz_buf_release(&text);
    bz_arena_release(&a);
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
    assert_int_equal(bz_yaml_parse(&a, bz_str_of(text, 1002), &limits, &d, &err),
                     BZ_E_LIMIT);
    assert_string_equal(err.msg, "line 1, column 501: more than 500 levels");
    assert_ok(bz_yaml_parse(&a, bz_str_of(text + 1, 1000), &limits, &d, &err), &err);
    bz_arena_release(&a);
}

/* The tree is used after its text is gone, and bytes beyond the slice are not read. */
static void a_tree_needs_nothing_of_its_text(void **state)
{
    static const char yaml[] = "key: [value, &x 12, *x]";
    char *copy = malloc(sizeof(yaml) - 1);
    struct bz_arena a = {0};
    const struct bz_doc *d;
    struct bz_err err;

    (void)state;
    assert_non_null(copy);
    memcpy(copy, yaml, sizeof(yaml) - 1);
    assert_ok(bz_yaml_parse(&a, bz_str_of(copy, sizeof(yaml) - 1), NULL, &d, &err),
              &err);
    free(copy);
    assert_str(d->items[0].key, "key");
    assert_str(d->items[0].items[0].text, "value");
    assert_str(d->items[0].items[2].text, "12");
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
    assert_int_equal(parse(&a, "[&a x, y, {b: 1}, *c]", &d, &err), BZ_E_INVAL);
    assert_int_equal(bz_arena_stats(&a).used, before);
    bz_arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_and_lists_keep_order_and_place),
        cmocka_unit_test(scalars_have_the_type_of_the_core_schema),
        cmocka_unit_test(numbers_have_their_value),
        cmocka_unit_test(an_empty_text_is_null),
        cmocka_unit_test(an_alias_shares_items_and_has_its_own_place),
        cmocka_unit_test(an_alias_means_the_latest_anchor_of_its_name),
        cmocka_unit_test(merge_keys_bring_items_in_and_own_items_win),
        cmocka_unit_test(merged_items_keep_the_place_where_they_are_written),
        cmocka_unit_test(a_wide_map_merges_in_proportion_to_its_size),
        cmocka_unit_test(what_is_refused_is_named_with_its_place),
        cmocka_unit_test(a_nul_byte_in_the_text_is_refused),
        cmocka_unit_test(limits_hold_exactly),
        cmocka_unit_test(an_alias_bomb_is_refused),
        cmocka_unit_test(a_merge_bomb_is_refused),
        cmocka_unit_test(directives_are_few),
        cmocka_unit_test(a_percent_sign_is_no_directive_elsewhere),
        cmocka_unit_test(the_deepest_allowed_text_is_read),
        cmocka_unit_test(a_tree_needs_nothing_of_its_text),
        cmocka_unit_test(a_failure_leaves_nothing_in_the_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
