#include "graph/rgraph.h"

#include "tests/unit/graph/graph_fixture.h"

static void recipes_wait_as_their_tasks_do(void **state)
{
    struct fixture *f = *state;
    struct bz_tgraph_target t = {0, BZ_STR("app"), BZ_STR("do_all")};
    struct bz_dag d;
    struct bz_err err;

    FACTS(
        f,
        RECIPE("app", .depends = S("lib"),
               TASKS({.name = S("do_a"), .deptask = S("do_b")}, {.name = S("do_z")},
                     {.name = S("do_all"), .after = S("do_a"), .deptask = S("do_c")})),
        RECIPE("lib", TASKS({.name = S("do_b")},
                            {.name = S("do_c"), .depends = S("app:do_z")})));
    assert_ok(bz_tgraph_build(&f->g, &f->need, fixture_mcs, &t, 1, &err), &err);
    bz_rgraph_build(&f->g, &d);
    assert_int_equal(d.n, 2);
    assert_true(bz_dag_has(&d, 0, 1)); /* twice, but one edge */
    assert_int_equal(bz_dag_degree(&d, 0), 1);
    assert_true(bz_dag_has(&d, 1, 0)); /* and back: tasks are no cycle, recipes are */
    bz_dag_release(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        fixture_test(recipes_wait_as_their_tasks_do),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
