#include "graph/world.h"

#include "tests/unit/graph/offers.h"

static const struct offer recipes[] = {
    {.path = "plain_1.bb",     .pn = "plain"},
    {.path = "plain_2.bb",                        .pn = "plain", .provides = "also-plain"},
    {.path = "excluded_1.bb",.pn = "excluded", .not_world = true},
    {.path = "half_1.bb",                        .pn = "half", .not_world = true},
    {.path = "half_2.bb",                     .pn = "half"},
    {.path = "virtual_1.bb",                        .pn = "virtual", .provides = "virtual/x"},
    {.path = "left_1.bb",.pn = "left", .provides = "shared"},
    {.path = "right_1.bb",                        .pn = "right", .provides = "shared"},
    {.path = "right_2.bb",.pn = "right"},
    {.path = "skipped_1.bb",   .pn = "skipped", .skipped = "no"},
    {.path = "broken_1.bb", .pn = "broken", .error = "no"},
    {.path = NULL     },
};

static void assert_names(struct bz_provide_names *names, const char *wanted)
{
    struct bz_buf out = {0};

    for (size_t i = 0; i < names->len; i++)
        bz_buf_addf(&out, "%s%.*s", i > 0 ? " " : "", BZ_STR_ARG(names->at[i]));
    assert_string_equal(bz_buf_text(&out), wanted);
    bz_buf_release(&out);
    bz_vec_release(names);
}

static void the_world_is_what_stands_alone(void **state)
{
    struct bz_provide_names names = {0};
    struct offers o;

    (void)state;
    offers_open(&o, recipes, NULL);
    bz_world_targets(o.p, (struct bz_str){0}, &names);
    assert_names(&names, "plain half");
    offers_close(&o);
}

static void the_universe_is_all_that_can_be_built(void **state)
{
    struct bz_provide_names names = {0};
    struct offers o;

    (void)state;
    offers_open(&o, recipes, NULL);
    bz_world_universe(o.p, (struct bz_str){0}, &names);
    assert_names(&names, "plain excluded half virtual left right");
    offers_close(&o);
}

static void both_can_be_narrowed_to_a_task(void **state)
{
    static const struct bz_facts_task tasks[] = {
        {.name = BZ_STR("do_fetch")},
        {.name = BZ_STR("do_build")},
    };
    struct bz_provide_names names = {0};
    struct offers o;

    (void)state;
    offers_open(&o, recipes, NULL);
    for (size_t i = 0; i < o.n; i++) {
        o.facts[i].tasks = tasks;
        o.facts[i].ntasks = i == 1 || i == 7 ? 2 : 1;
    }
    bz_world_targets(o.p, BZ_STR("do_build"), &names);
    assert_names(&names, "plain");
    bz_world_universe(o.p, BZ_STR("do_build"), &names);
    assert_names(&names, "plain right");
    bz_world_targets(o.p, BZ_STR("do_none"), &names);
    assert_names(&names, "");
    offers_close(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_world_is_what_stands_alone),
        cmocka_unit_test(the_universe_is_all_that_can_be_built),
        cmocka_unit_test(both_can_be_narrowed_to_a_task),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
