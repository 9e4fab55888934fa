#include "graph/need.h"

#include <string.h>

#include "tests/unit/graph/graph_fixture.h"

static const char *provider(struct fixture *f, const char *name,
                            enum bz_provide_kind kind)
{
    uint32_t r = bz_need_provider(&f->need, 0, bz_str_from(name), kind);

    return r == BZ_NEED_NONE ? "-" : f->need.recipes.at[r].facts->pn.p;
}

static void want(struct fixture *f, const char *name)
{
    struct bz_err err;

    assert_ok(bz_need_add(&f->need, 0, bz_str_from(name), BZ_PROVIDE_BUILD, &err),
              &err);
}

static bool is_lost(struct fixture *f, const char *name)
{
    return bz_need_find(&f->need, 0, bz_str_from(name), BZ_PROVIDE_BUILD)->failed;
}

static void what_is_needed_is_taken_and_nothing_else(void **state)
{
    struct fixture *f = *state;

    FACTS(f, RECIPE("app", .depends = S("lib")), RECIPE("lib", .rdepends = S("data")),
          RECIPE("data", .pe = S("")), RECIPE("unrelated", .depends = S("missing")));
    want(f, "app");
    assert_int_equal(f->need.recipes.len, 3);
    assert_string_equal(provider(f, "app", BZ_PROVIDE_BUILD), "app");
    assert_string_equal(provider(f, "lib", BZ_PROVIDE_BUILD), "lib");
    assert_string_equal(provider(f, "data", BZ_PROVIDE_RUNTIME), "data");
    assert_string_equal(provider(f, "unrelated", BZ_PROVIDE_BUILD), "-");
    assert_false(is_lost(f, "app"));
}

static void recipes_that_need_each_other_are_taken_once(void **state)
{
    struct fixture *f = *state;

    FACTS(f, RECIPE("a", .depends = S("b a")), RECIPE("b", .rdepends = S("a b")));
    want(f, "a");
    want(f, "b");
    assert_int_equal(f->need.recipes.len, 2);
}

static void what_is_assumed_is_not_looked_for(void **state)
{
    struct fixture *f = *state;

    fixture_set(f, "ASSUME_PROVIDED", "git-native");
    FACTS(f, RECIPE("app", .depends = S("git-native")));
    want(f, "app");
    assert_false(is_lost(f, "app"));
    assert_int_equal(f->need.recipes.len, 1);
}

static void a_missing_name_is_explained_from_the_target_down(void **state)
{
    struct fixture *f = *state;
    BZ_CLEANUP(bz_buf_release) struct bz_buf why = {0};
    struct bz_str problem;

    FACTS(f, RECIPE("image", .rdepends = S("app")), RECIPE("app", .depends = S("lib")),
          RECIPE("lib", TASKS({.name = S("do_fetch"), .depends = S("tool:do_x")})));
    want(f, "image");
    assert_true(is_lost(f, "image"));
    problem = bz_need_explain(
        &f->need, bz_need_find(&f->need, 0, BZ_STR("image"), BZ_PROVIDE_BUILD), &why);
    assert_string_equal(bz_buf_text(&why),
                        "  image needs app: RDEPENDS in /l/image.bb\n"
                        "  app needs lib: DEPENDS in /l/app.bb\n"
                        "  lib needs tool: do_fetch[depends] in /l/lib.bb\n");
    assert_non_null(strstr(problem.p, "'tool'"));
}

static void the_next_provider_steps_in_for_one_that_fails(void **state)
{
    struct fixture *f = *state;

    fixture_set(f, "PREFERRED_PROVIDER_virtual/x", "first");
    FACTS(f, RECIPE("app", .depends = S("virtual/x")),
          RECIPE("first", .provides = S("first virtual/x"), .depends = S("missing")),
          RECIPE("second", .provides = S("second virtual/x"), .depends = S("lib")),
          RECIPE("lib"));
    want(f, "app");
    assert_false(is_lost(f, "app"));
    assert_string_equal(provider(f, "virtual/x", BZ_PROVIDE_BUILD), "second");
    assert_string_equal(provider(f, "lib", BZ_PROVIDE_BUILD), "lib");
}

static void an_incomplete_need_goes_on_without(void **state)
{
    struct fixture *f = *state;

    FACTS(f, RECIPE("app", .depends = S("missing lib")), RECIPE("lib"));
    f->need.incomplete = true;
    want(f, "app");
    assert_false(is_lost(f, "app"));
    assert_string_equal(provider(f, "lib", BZ_PROVIDE_BUILD), "lib");
    assert_string_equal(provider(f, "missing", BZ_PROVIDE_BUILD), "-");
}

static void a_flag_without_a_task_is_an_error_with_its_place(void **state)
{
    struct fixture *f = *state;
    struct bz_err err;

    FACTS(f, RECIPE("app", TASKS({.name = S("do_x"), .depends = S("lib")})),
          RECIPE("lib"));
    assert_int_equal(bz_need_add(&f->need, 0, BZ_STR("app"), BZ_PROVIDE_BUILD, &err),
                     BZ_E_INVAL);
    assert_string_equal(
        err.msg, "/l/app.bb: do_x[depends]: 'lib' is not of the form RECIPE:TASK");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        fixture_test(what_is_needed_is_taken_and_nothing_else),
        fixture_test(recipes_that_need_each_other_are_taken_once),
        fixture_test(what_is_assumed_is_not_looked_for),
        fixture_test(a_missing_name_is_explained_from_the_target_down),
        fixture_test(the_next_provider_steps_in_for_one_that_fails),
        fixture_test(an_incomplete_need_goes_on_without),
        fixture_test(a_flag_without_a_task_is_an_error_with_its_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
