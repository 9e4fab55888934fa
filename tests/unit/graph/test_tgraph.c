#include "graph/tgraph.h"

#include <string.h>

#include "tests/unit/graph/graph_fixture.h"

/* "app.do_a > lib.do_b; ..." in the order of tasks. */
static void show(const struct fixture *f, struct bz_buf *out)
{
    const struct bz_tgraph *g = &f->g;

    for (uint32_t t = 0; t < g->dag.n; t++) {
        const struct bz_tgraph_recipe *r = &g->recipes[g->tasks[t].recipe];

        bz_buf_addf(out, "%s%.*s.%.*s >", r->part ? "other:" : "",
                    BZ_STR_ARG(r->facts->pn), BZ_STR_ARG(g->tasks[t].facts->name));
        for (uint32_t e = g->dag.start[t]; e < g->dag.start[t + 1]; e++) {
            const struct bz_tgraph_task *to = &g->tasks[g->dag.to[e]];

            bz_buf_addf(out, " %s%.*s.%.*s",
                        g->recipes[to->recipe].part ? "other:" : "",
                        BZ_STR_ARG(g->recipes[to->recipe].facts->pn),
                        BZ_STR_ARG(to->facts->name));
        }
        bz_buf_addf(out, "\n");
    }
}

static int build(struct fixture *f, const char *name, const char *task,
                 struct bz_err *err)
{
    struct bz_tgraph_target t = {0, bz_str_from(name), bz_str_from(task)};

    return bz_tgraph_build(&f->g, &f->need, fixture_mcs, &t, 1, err);
}

static void expect(struct fixture *f, const char *name, const char *task,
                   const char *text)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};
    struct bz_err err;

    assert_ok(build(f, name, task, &err), &err);
    show(f, &out);
    assert_string_equal(bz_buf_text(&out), text);
}

static void only_what_the_target_reaches_is_in_the_graph(void **state)
{
    struct fixture *f = *state;

    FACTS(f,
          RECIPE("app", TASKS({.name = S("do_fetch")},
                              {.name = S("do_compile"), .after = S("do_fetch do_gone")},
                              {.name = S("do_build"), .after = S("do_compile")},
                              {.name = S("do_clean")})));
    expect(f, "app", "do_compile", "app.do_fetch >\napp.do_compile > app.do_fetch\n");
    assert_int_equal(f->g.targets.len, 1);
    assert_int_equal(f->g.targets.at[0], 1);
    assert_int_equal(f->g.order.len, 2);
    assert_int_equal(bz_tgraph_find(&f->g, 0, BZ_STR("do_compile")), 1);
    assert_int_equal(bz_tgraph_find(&f->g, 0, BZ_STR("do_clean")), BZ_NEED_NONE);
}

static void every_flag_makes_its_edges(void **state)
{
    struct fixture *f = *state;

    FACTS(f,
          RECIPE("app", .depends = S("lib nothing"), .rdepends = S("data"),
                 TASKS({.name = S("do_a"), .deptask = S("do_b do_none")},
                       {.name = S("do_r"), .rdeptask = S("do_b")},
                       {.name = S("do_d"), .depends = S("tool:do_c")},
                       {.name = S("do_e"), .rdepends = S("data:do_c")},
                       {.name = S("do_all"), .after = S("do_a do_r do_d do_e")})),
          RECIPE("lib", TASKS({.name = S("do_b")}, {.name = S("do_c")})),
          RECIPE("data", TASKS({.name = S("do_b")}, {.name = S("do_c")})),
          RECIPE("tool", TASKS({.name = S("do_b")}, {.name = S("do_c")})));
    f->need.incomplete = true; /* nothing provides "nothing" */
    expect(f, "app", "do_all",
           "app.do_a > lib.do_b\n"
           "app.do_r > data.do_b\n"
           "app.do_d > tool.do_c\n"
           "app.do_e > data.do_c\n"
           "app.do_all > app.do_a app.do_r app.do_d app.do_e\n"
           "tool.do_c >\n"
           "data.do_b >\n"
           "data.do_c >\n"
           "lib.do_b >\n");
}

static void recursion_goes_through_dependencies_of_dependencies(void **state)
{
    struct fixture *f = *state;

    FACTS(f,
          RECIPE("image", .depends = S("app"),
                 TASKS({.name = S("do_root"), .recrdeptask = S("do_deploy")})),
          RECIPE("app", .depends = S("lib"),
                 TASKS({.name = S("do_make"), .deptask = S("do_make")},
                       {.name = S("do_deploy"), .after = S("do_make")})),
          RECIPE("lib", TASKS({.name = S("do_make")},
                              {.name = S("do_deploy"), .after = S("do_make")})));
    expect(f, "image", "do_root",
           "image.do_root > app.do_deploy lib.do_deploy\n"
           "app.do_make > lib.do_make\n"
           "app.do_deploy > app.do_make\n"
           "lib.do_make >\n"
           "lib.do_deploy > lib.do_make\n");
}

static void multiconfigs_wait_for_each_other(void **state)
{
    struct fixture *f = *state;

    FACTS(
        f,
        RECIPE("app", TASKS({.name = S("do_x"), .mcdepends = S("mc::other:fw:do_y")})),
        RECIPE("fw", .depends = S("lib"),
               TASKS({.name = S("do_y"), .deptask = S("do_z")})),
        RECIPE("lib", TASKS({.name = S("do_z")})));
    expect(f, "app", "do_x",
           "app.do_x > other:fw.do_y\n"
           "other:fw.do_y > other:lib.do_z\n"
           "other:lib.do_z >\n");
}

static void a_task_with_a_dash_is_only_what_it_waits_for(void **state)
{
    struct fixture *f = *state;

    FACTS(f, RECIPE("app", TASKS({.name = S("do_a")},
                                 {.name = S("do_b"), .after = S("do_a")})));
    expect(f, "app", "do_b-", "app.do_a >\n");
}

static void a_named_task_must_exist(void **state)
{
    struct fixture *f = *state;
    struct bz_err err;

    FACTS(f,
          RECIPE("app", .depends = S("lib"),
                 TASKS({.name = S("do_a"), .deptask = S("do_b")})),
          RECIPE("lib", TASKS({.name = S("do_b"), .depends = S("app:do_c")})),
          RECIPE("other"));
    assert_int_equal(build(f, "app", "do_a", &err), BZ_E_INVAL);
    assert_non_null(strstr(err.msg, "do_b[depends]: app has no task do_c"));
}

static void a_cycle_of_three_names_the_rules(void **state)
{
    struct fixture *f = *state;
    struct bz_err err;

    FACTS(f,
          RECIPE("app", .depends = S("lib"),
                 TASKS({.name = S("do_a"),
                        .deptask = S("do_x do_b"),
                        .places = S("/c:1\n:2")},
                       {.name = S("do_c"), .after = S("do_a"), .places = S("/c:3")})),
          RECIPE("lib", TASKS({.name = S("do_b"), .depends = S("app:do_c")})));
    assert_int_equal(build(f, "app", "do_a", &err), BZ_E_INVAL);
    assert_int_equal(f->g.cycle.len, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct bz_tgraph_step *s = &f->g.cycle.at[i];

        if (bz_str_eq(s->task->name, BZ_STR("do_a")))
            assert_int_equal(s->rule * 10 + s->place.line, BZ_TGRAPH_DEPTASK * 10 + 2);
        else if (bz_str_eq(s->task->name, BZ_STR("do_b")))
            assert_int_equal(s->rule * 10 + s->place.line, BZ_TGRAPH_DEPENDS * 10);
        else
            assert_int_equal(s->rule * 10 + s->place.line, BZ_TGRAPH_AFTER * 10 + 3);
    }
}

static void what_cannot_be_is_an_error(void **state)
{
    struct fixture *f = *state;
    struct bz_err err;

    FACTS(
        f, RECIPE("app", TASKS({.name = S("do_a")})),
        RECIPE("mc", TASKS({.name = S("do_a"), .mcdepends = S("mc::nowhere:a:do_b")})),
        RECIPE("form", TASKS({.name = S("do_a"), .mcdepends = S("mc:a:b")})));
    assert_int_equal(build(f, "ap", "do_a", &err), BZ_E_NOENT);
    assert_int_equal(build(f, "app", "do_b", &err), BZ_E_NOENT);
    assert_string_equal(err.msg,
                        "app has no task do_b; did you mean 'do_a'? (/l/app.bb)");
    assert_int_equal(build(f, "mc", "do_a", &err), BZ_E_INVAL);
    assert_non_null(strstr(err.msg, "BBMULTICONFIG has no 'nowhere'"));
    assert_int_equal(build(f, "form", "do_a", &err), BZ_E_INVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        fixture_test(only_what_the_target_reaches_is_in_the_graph),
        fixture_test(every_flag_makes_its_edges),
        fixture_test(recursion_goes_through_dependencies_of_dependencies),
        fixture_test(multiconfigs_wait_for_each_other),
        fixture_test(a_task_with_a_dash_is_only_what_it_waits_for),
        fixture_test(a_named_task_must_exist),
        fixture_test(a_cycle_of_three_names_the_rules),
        fixture_test(what_cannot_be_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
