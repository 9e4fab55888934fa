#include "graph/provide.h"

#include <stdlib.h>

#include "tests/unit/graph/offers.h"

static const struct offer recipes[] = {
    {.path = "a_1.bb",
     .pn = "a",
     .pv = "1",
     .provides = "a virtual/x a",
     .rprovides = "ax"},
    {.path = "a_2.bb",
     .pn = "a",
     .pv = "2",
     .rprovides = "ax ay",
     .dynamic = "^lib.* g++-"},
    {.path = "b_1.bb",
     .pn = "b",
     .pv = "1",
     .provides = "virtual/x",
     .dynamic = "^lib.*"},
    {.path = "c_1.bb",
     .pn = "c",
     .provides = "virtual/c",
     .rprovides = "cx",
     .skipped = "not for this machine"},
    {.path = "d_1.bb",                .pn = "d", .error = "d_1.bb:1: wrong"},
    {.path = NULL},
};

static void assert_built(struct offers *o, const char *name, const char *wanted)
{
    struct bz_buf out = {0};
    size_t n;
    const uint32_t *at = bz_provide_built(o->p, bz_str_from(name), &n);

    offers_name(o, at, n, &out);
    assert_string_equal(bz_buf_text(&out), wanted);
    bz_buf_release(&out);
}

static void assert_run(struct offers *o, const char *name, const char *wanted)
{
    struct bz_buf out = {0};
    struct bz_provide_ids ids = {0};

    assert_ok(bz_provide_run(o->p, bz_str_from(name), &ids, &o->err), &o->err);
    offers_name(o, ids.at, ids.len, &out);
    assert_string_equal(bz_buf_text(&out), wanted);
    bz_vec_release(&ids);
    bz_buf_release(&out);
}

static void names_lead_to_the_recipes_that_provide_them(void **state)
{
    struct offers o;

    (void)state;
    offers_open(&o, recipes, NULL);
    assert_built(&o, "a", "a_1.bb a_2.bb");
    assert_built(&o, "virtual/x", "a_1.bb b_1.bb");
    assert_built(&o, "ax", "");
    assert_built(&o, "c", "");
    assert_built(&o, "virtual/c", "");
    assert_built(&o, "d", "");
    offers_close(&o);
}

static void packages_are_names_at_run_time(void **state)
{
    struct offers o;

    (void)state;
    offers_open(&o, recipes, NULL);
    assert_run(&o, "a", "a_1.bb a_2.bb");
    assert_run(&o, "ax", "a_1.bb a_2.bb");
    assert_run(&o, "ay", "a_2.bb");
    assert_run(&o, "virtual/x", "");
    assert_run(&o, "cx", "");
    offers_close(&o);
}

static void dynamic_packages_count_where_nothing_else_does(void **state)
{
    struct offers o;

    (void)state;
    offers_open(&o, recipes, NULL);
    assert_run(&o, "libfoo", "a_2.bb b_1.bb");
    assert_run(&o, "xlibfoo", "");
    assert_run(&o, "g++-doc", "a_2.bb");
    assert_run(&o, "gg-doc", "");
    offers_close(&o);
}

static void a_wrong_dynamic_expression_is_an_error_that_names_the_recipe(void **state)
{
    static const struct offer wrong[] = {
        {.path = "w_1.bb", .pn = "w", .dynamic = "("},
        {.path = NULL },
    };
    struct bz_provide_ids ids = {0};
    struct offers o;

    (void)state;
    offers_open(&o, wrong, NULL);
    assert_int_equal(bz_provide_run(o.p, BZ_STR("x"), &ids, &o.err), BZ_E_INVAL);
    assert_non_null(strstr(o.err.msg, "w_1.bb: PACKAGES_DYNAMIC"));
    assert_ok(bz_provide_run(o.p, BZ_STR("w"), &ids, &o.err), &o.err);
    assert_int_equal(ids.len, 1);
    bz_vec_release(&ids);
    offers_close(&o);
}

static void what_is_assumed_is_a_name_or_an_expression(void **state)
{
    static const struct setting settings[] = {
        {"ASSUME_PROVIDED", "one ^two-.* .*-three$ f.ur"},
        {NULL,              NULL                        },
    };
    static const struct {
        const char *name;
        bool assumed;
    } rows[] = {
        {"one",      true },
        {"one-x",    false},
        {"two-x",    true },
        {"two",      false},
        {"x-three",  true },
        {"x-three-", false},
        {"four",     false},
        {"f.ur",     true },
        {"atwo-one", false},
        {"",         false},
    };
    struct offers o;

    (void)state;
    offers_open(&o, recipes, settings);
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++)
        assert_int_equal(bz_provide_assumed(o.p, bz_str_from(rows[i].name)),
                         rows[i].assumed);
    offers_close(&o);
}

static void settings_may_be_wrong(void **state)
{
    struct bz_vars *settings = bz_vars_new(NULL);
    struct bz_provide *p = NULL;
    struct bz_err err;

    (void)state;
    assert_ok(
        bz_vars_set(settings, BZ_STR("ASSUME_PROVIDED"), BZ_STR("^("), 0, NULL, &err),
        &err);
    assert_int_equal(bz_provide_new(NULL, 0, settings, &p, &err), BZ_E_INVAL);
    assert_non_null(strstr(err.msg, "ASSUME_PROVIDED"));
    bz_vars_free(settings);
}

static void preferred_providers_are_pairs(void **state)
{
    static const struct setting settings[] = {
        {"PREFERRED_PROVIDERS",       "x:a nonsense y:b:c x:b z:c z:c"},
        {"BB_MULTI_PROVIDER_ALLOWED", "virtual/x"                     },
        {NULL,                        NULL                            },
    };
    struct offers o;

    (void)state;
    offers_open(&o, recipes, settings);
    assert_int_equal(o.p->preferred.len, 2);
    assert_int_equal(o.p->notes.len, 3);
    assert_non_null(strstr(o.p->notes.at[0].text.p, "'nonsense'"));
    assert_non_null(strstr(o.p->notes.at[1].text.p, "'y:b:c'"));
    assert_non_null(strstr(o.p->notes.at[2].text.p, "both 'a' and 'b' for 'x'"));
    assert_true(bz_provide_multiple(o.p, BZ_STR("virtual/x")));
    assert_false(bz_provide_multiple(o.p, BZ_STR("virtual/y")));
    assert_true(bz_provide_contested(o.p, BZ_STR("virtual/x")));
    assert_false(bz_provide_contested(o.p, BZ_STR("a")));
    assert_false(bz_provide_contested(o.p, BZ_STR("none")));
    offers_close(&o);
}

static void a_missing_name_comes_with_what_is_known_about_it(void **state)
{
    static const struct {
        enum bz_provide_kind kind;
        const char *name, *text;
    } rows[] = {
        {BZ_PROVIDE_BUILD,   "c",
         "nothing provides 'c'; c was skipped: not for this machine"                    },
        {BZ_PROVIDE_BUILD,   "virtual/c",
         "nothing provides 'virtual/c'; c, which provides it, was skipped: not for "
         "this "
         "machine"                                                                      },
        {BZ_PROVIDE_RUNTIME, "cx",
         "nothing provides 'cx' at run time; c, which provides it, was skipped: not "
         "for "
         "this machine"                                                                 },
        {BZ_PROVIDE_BUILD,   "d",          "nothing provides 'd'; d_1.bb is broken"     },
        {BZ_PROVIDE_BUILD,   "ay",         "nothing provides 'ay'; it is a package of a"},
        {BZ_PROVIDE_BUILD,   "virtual/y",
         "nothing provides 'virtual/y'; did you mean 'virtual/x'?"                      },
        {BZ_PROVIDE_BUILD,   "unlike-all", "nothing provides 'unlike-all'"              },
    };
    struct offers o;

    (void)state;
    offers_open(&o, recipes, NULL);
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        assert_int_equal(
            bz_provide_missing(o.p, rows[i].kind, bz_str_from(rows[i].name), &o.err),
            BZ_E_NOENT);
        assert_string_equal(o.err.msg, rows[i].text);
    }
    offers_close(&o);
}

static void ten_thousand_recipes_are_no_trouble(void **state)
{
    enum { N = 10000 };
    struct bz_facts *facts = calloc(N, sizeof(*facts));
    struct bz_vars *settings = bz_vars_new(NULL);
    struct bz_arena arena = {0};
    struct bz_provide *p = NULL;
    struct bz_err err;
    size_t n;

    (void)state;
    for (size_t i = 0; i < N; i++) {
        facts[i].pn = bz_arena_printf(&arena, "recipe-%zu", i / 2);
        facts[i].provides = BZ_STR("virtual/all");
    }
    assert_ok(bz_provide_new(facts, N, settings, &p, &err), &err);
    bz_provide_built(p, BZ_STR("virtual/all"), &n);
    assert_int_equal(n, N);
    bz_provide_recipes(p, BZ_STR("recipe-77"), &n);
    assert_int_equal(n, 2);
    bz_provide_freep(&p);
    assert_null(p);
    bz_vars_free(settings);
    bz_arena_release(&arena);
    free(facts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_lead_to_the_recipes_that_provide_them),
        cmocka_unit_test(packages_are_names_at_run_time),
        cmocka_unit_test(dynamic_packages_count_where_nothing_else_does),
        cmocka_unit_test(a_wrong_dynamic_expression_is_an_error_that_names_the_recipe),
        cmocka_unit_test(what_is_assumed_is_a_name_or_an_expression),
        cmocka_unit_test(settings_may_be_wrong),
        cmocka_unit_test(preferred_providers_are_pairs),
        cmocka_unit_test(a_missing_name_comes_with_what_is_known_about_it),
        cmocka_unit_test(ten_thousand_recipes_are_no_trouble),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
