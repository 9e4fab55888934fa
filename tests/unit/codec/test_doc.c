#include "codec/doc.h"

#include <stdio.h>

#include "tests/unit/bz_test.h"

/* {"name": "zlib", "size": 42, "ratio": 1.5, "on": true, "none": null, "list": []} */
static const struct bz_doc fields[] = {
    {.type = BZ_DOC_STR,
     .line = 2,
     .column = 9,
     .key_line = 2,
     .key = {"name", 4},
     .text = {"zlib", 4}},
    {.type = BZ_DOC_INT, .line = 3,              .column = 9,                  .key = {"size", 4},                                              .i = 42},
    {.type = BZ_DOC_REAL, .line = 4,       .column = 10,           .key = {"ratio", 5},.r = 1.5},
    {.type = BZ_DOC_BOOL,       .line = 5,.column = 7,.key = {"on", 2},                                                   .b = true},
    {.type = BZ_DOC_NULL,    .line = 6,            .column = 9,                    .key = {"none", 4}},
    {.type = BZ_DOC_LIST, .line = 7,  .column = 9, .key = {"list", 4}},
};
static const struct bz_doc map = {.type = BZ_DOC_MAP,
                                  .line = 1,
                                  .column = 1,
                                  .items = fields,
                                  .count = BZ_COUNTOF(fields)};

static void find_gives_the_item_or_null(void **state)
{
    (void)state;
    assert_ptr_equal(bz_doc_find(&map, "name"), &fields[0]);
    assert_ptr_equal(bz_doc_find(&map, "list"), &fields[5]);
    assert_null(bz_doc_find(&map, "nam"));
    assert_null(bz_doc_find(&map, "names"));
    assert_null(bz_doc_find(&map, ""));
    assert_null(bz_doc_find(&fields[0], "name")); /* no map */
}

static void getters_give_values_of_their_type(void **state)
{
    const struct bz_doc *list = NULL;
    struct bz_str s = {0};
    struct bz_err err;
    int64_t i = 0;
    double r = 0;
    bool b = false;

    (void)state;
    assert_ok(bz_doc_get_str(&map, "name", &s, &err), &err);
    assert_true(bz_str_eq(s, BZ_STR("zlib")));
    assert_ok(bz_doc_get_int(&map, "size", 42, 42, &i, &err), &err);
    assert_int_equal(i, 42);
    assert_ok(bz_doc_get_real(&map, "ratio", &r, &err), &err);
    assert_true(r == 1.5);
    assert_ok(bz_doc_get_real(&map, "size", &r, &err), &err);
    assert_true(r == 42.0);
    assert_ok(bz_doc_get_bool(&map, "on", &b, &err), &err);
    assert_true(b);
    assert_ok(bz_doc_field(&map, "list", BZ_DOC_LIST, &list, &err), &err);
    assert_ptr_equal(list, &fields[5]);
}

static void a_wrong_type_is_named_with_its_place(void **state)
{
    const struct bz_doc *d = NULL;
    struct bz_str s = BZ_STR("default");
    struct bz_err err;
    int64_t i = 7;
    double r = 7;
    bool b = false;

    (void)state;
    assert_int_equal(bz_doc_get_str(&map, "size", &s, &err), BZ_E_INVAL);
    assert_string_equal(
        err.msg, "line 3, column 9: field 'size': expected a string, found an integer");
    assert_true(bz_str_eq(s, BZ_STR("default")));
    assert_int_equal(bz_doc_get_int(&map, "ratio", 0, 9, &i, &err), BZ_E_INVAL);
    assert_string_equal(
        err.msg,
        "line 4, column 10: field 'ratio': expected an integer, found a number");
    assert_int_equal(i, 7);
    assert_int_equal(bz_doc_get_real(&map, "on", &r, &err), BZ_E_INVAL);
    assert_string_equal(
        err.msg, "line 5, column 7: field 'on': expected a number, found a boolean");
    assert_true(r == 7);
    assert_int_equal(bz_doc_get_bool(&map, "none", &b, &err), BZ_E_INVAL);
    assert_string_equal(
        err.msg, "line 6, column 9: field 'none': expected a boolean, found null");
    assert_false(b);
    assert_int_equal(bz_doc_field(&map, "list", BZ_DOC_MAP, &d, &err), BZ_E_INVAL);
    assert_string_equal(err.msg,
                        "line 7, column 9: field 'list': expected a map, found a list");
    assert_null(d);
}

static void a_missing_field_is_noent_and_keeps_the_default(void **state)
{
    const struct bz_doc *d = &map;
    struct bz_str s = BZ_STR("default");
    struct bz_err err;
    int64_t i = 7;
    double r = 7;
    bool b = true;

    (void)state;
    assert_int_equal(bz_doc_get_str(&map, "x", &s, &err), BZ_E_NOENT);
    assert_string_equal(err.msg, "line 1, column 1: field 'x' is missing");
    assert_int_equal(bz_doc_get_int(&map, "x", 0, 9, &i, &err), BZ_E_NOENT);
    assert_int_equal(bz_doc_get_real(&map, "x", &r, &err), BZ_E_NOENT);
    assert_int_equal(bz_doc_get_bool(&map, "x", &b, &err), BZ_E_NOENT);
    assert_int_equal(bz_doc_field(&map, "x", BZ_DOC_MAP, &d, &err), BZ_E_NOENT);
    assert_true(bz_str_eq(s, BZ_STR("default")));
    assert_int_equal(i, 7);
    assert_true(r == 7);
    assert_true(b);
    assert_ptr_equal(d, &map);
}

static void fields_of_what_is_no_map_are_the_users_error(void **state)
{
    struct bz_str s = {0};
    struct bz_err err;
    double r = 0;

    (void)state;
    assert_int_equal(bz_doc_get_str(&fields[0], "x", &s, &err), BZ_E_INVAL);
    assert_string_equal(err.msg, "line 2, column 9: expected a map, found a string");
    assert_int_equal(bz_doc_get_real(&fields[5], "x", &r, &err), BZ_E_INVAL);
}

static void integers_outside_their_range_are_refused(void **state)
{
    static const struct {
        int64_t min, max;
        int want;
    } cases[] = {
        {INT64_MIN, INT64_MAX, 0         },
        {42,        100,       0         },
        {0,         42,        0         },
        {43,        100,       BZ_E_INVAL},
        {-5,        41,        BZ_E_INVAL},
    };
    struct bz_err err;

    (void)state;
    for (size_t k = 0; k < BZ_COUNTOF(cases); k++) {
        int64_t i = -1;

        assert_int_equal(
            bz_doc_get_int(&map, "size", cases[k].min, cases[k].max, &i, &err),
            cases[k].want);
        assert_int_equal(i, cases[k].want == 0 ? 42 : -1);
    }
    assert_string_equal(err.msg, "line 3, column 9: field 'size': 42 is not in -5..41");
}

static void expect_passes_its_type_only(void **state)
{
    struct bz_err err;

    (void)state;
    assert_ok(bz_doc_expect(&fields[5], BZ_DOC_LIST, &err), &err);
    assert_int_equal(bz_doc_expect(&fields[5], BZ_DOC_STR, &err), BZ_E_INVAL);
    assert_string_equal(err.msg, "line 7, column 9: expected a string, found a list");
}

/* Maps of a size for each of the two ways to compare keys. */
static void equal_keys_are_found_in_small_and_large_maps(void **state)
{
    static const size_t sizes[] = {2, 16, 17, 400};
    static struct bz_doc items[400];
    static char names[400][24];

    (void)state;
    for (size_t k = 0; k < BZ_COUNTOF(sizes); k++) {
        size_t n = sizes[k];
        struct bz_doc big = {.type = BZ_DOC_MAP, .items = items, .count = n};
        char want[128];
        struct bz_err err;

        for (size_t i = 0; i < n; i++) {
            snprintf(names[i], sizeof(names[i]), "k%zu", n - i);
            items[i] = (struct bz_doc){.key = bz_str_from(names[i]),
                                       .key_line = (uint32_t)(100 + i)};
        }
        assert_ok(bz_doc_check_keys(&big, &err), &err);
        items[n - 1].key = items[0].key;
        assert_int_equal(bz_doc_check_keys(&big, &err), BZ_E_INVAL);
        snprintf(want, sizeof(want), "line %zu: key 'k%zu' is already in line 100",
                 99 + n, n);
        assert_string_equal(err.msg, want);
    }
}

static void a_key_may_be_empty_but_not_twice(void **state)
{
    struct bz_doc items[2] = {
        {.key_line = 1   },
        { .key_line = 2, .key = {"a", 1}}
    };
    struct bz_doc two = {.type = BZ_DOC_MAP, .items = items, .count = 2};
    struct bz_err err;

    (void)state;
    assert_ok(bz_doc_check_keys(&two, &err), &err);
    items[1].key.n = 0;
    assert_int_equal(bz_doc_check_keys(&two, &err), BZ_E_INVAL);
    assert_string_equal(err.msg, "line 2: key '' is already in line 1");
}

static void zero_limits_become_the_defaults(void **state)
{
    struct bz_doc_limits some = {.nodes = 5};
    struct bz_doc_limits l = bz_doc_limits_or_default(NULL);

    (void)state;
    assert_int_equal(l.bytes, 16777216);
    assert_int_equal(l.nodes, 1000000);
    assert_int_equal(l.depth, 64);
    l = bz_doc_limits_or_default(&some);
    assert_int_equal(l.nodes, 5);
    assert_int_equal(l.depth, 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(find_gives_the_item_or_null),
        cmocka_unit_test(getters_give_values_of_their_type),
        cmocka_unit_test(a_wrong_type_is_named_with_its_place),
        cmocka_unit_test(a_missing_field_is_noent_and_keeps_the_default),
        cmocka_unit_test(fields_of_what_is_no_map_are_the_users_error),
        cmocka_unit_test(integers_outside_their_range_are_refused),
        cmocka_unit_test(expect_passes_its_type_only),
        cmocka_unit_test(equal_keys_are_found_in_small_and_large_maps),
        cmocka_unit_test(a_key_may_be_empty_but_not_twice),
        cmocka_unit_test(zero_limits_become_the_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
