#include "graph/clash.h"

#include "tests/unit/graph/graph_fixture.h"

static struct bz_clash find(struct fixture *f, const char *target, struct bz_buf *out)
{
    struct bz_tgraph_target t = {0, bz_str_from(target), BZ_STR("do_b")};
    struct bz_err err;

    assert_ok(bz_tgraph_build(&f->g, &f->need, fixture_mcs, &t, 1, &err), &err);
    return bz_clash_find(&f->g, &f->need, out);
}

#define APP                                                                            \
    RECIPE("app", .depends = S("one two"),                                             \
           TASKS({.name = S("do_b"), .deptask = S("do_b")}))
#define PROVIDER(pn_, name_)                                                           \
    RECIPE(pn_, .provides = S(pn_ " " name_), TASKS({.name = S("do_b")}))

static void a_name_that_two_recipes_provide_is_shown_with_both(void **state)
{
    struct fixture *f = *state;
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};
    struct bz_clash found;

    FACTS(f, APP, PROVIDER("one", "virtual/x"), PROVIDER("two", "virtual/x"));
    found = find(f, "app", &out);
    assert_int_equal(found.names, 1);
    assert_false(found.versions);
    assert_string_equal(
        bz_buf_text(&out),
        "2 recipes that are to be built provide virtual/x:\n"
        "  one 1.0 (/l/one.bb), for app:do_b\n"
        "  two 1.0 (/l/two.bb), for app:do_b\n"
        "  set PREFERRED_PROVIDER_virtual/x to one of them, or add the name to "
        "BB_MULTI_PROVIDER_ALLOWED\n");
}

static void a_name_that_may_have_several_providers_is_none(void **state)
{
    struct fixture *f = *state;
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};

    fixture_set(f, "BB_MULTI_PROVIDER_ALLOWED", "virtual/x");
    FACTS(f, APP, PROVIDER("one", "virtual/x"), PROVIDER("two", "virtual/x"));
    assert_int_equal(find(f, "app", &out).names, 0);
    assert_int_equal(out.len, 0);
}

static void a_provider_that_is_not_built_is_none(void **state)
{
    struct fixture *f = *state;
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};

    FACTS(f, APP, PROVIDER("one", "virtual/x"), PROVIDER("two", "virtual/y"),
          PROVIDER("three", "virtual/x"));
    assert_int_equal(find(f, "app", &out).names, 0);
}

static void configurations_do_not_clash(void **state)
{
    struct fixture *f = *state;
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};

    FACTS(f,
          RECIPE("app", TASKS({.name = S("do_b"), .mcdepends = S("mc::other:one:do_b")},
                              {.name = S("do_c")})),
          PROVIDER("one", "app"));
    assert_int_equal(find(f, "app", &out).names, 0);
}

static void two_versions_of_a_recipe_are_worse(void **state)
{
    struct fixture *f = *state;
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};
    struct bz_clash found;

    FACTS(f, APP, RECIPE("one", .default_preference = 1, TASKS({.name = S("do_b")})),
          RECIPE("one", .provides = S("two"), TASKS({.name = S("do_b")})));
    found = find(f, "app", &out);
    assert_int_equal(found.names, 1);
    assert_true(found.versions);
    assert_non_null(strstr(bz_buf_text(&out), "PREFERRED_VERSION_one"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        fixture_test(a_name_that_two_recipes_provide_is_shown_with_both),
        fixture_test(a_name_that_may_have_several_providers_is_none),
        fixture_test(a_provider_that_is_not_built_is_none),
        fixture_test(configurations_do_not_clash),
        fixture_test(two_versions_of_a_recipe_are_worse),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
