#include "graph/goal.h"

#include "survey/catalog.h"

#include <string.h>

#include "tests/unit/recipe/files.h"

static const struct file project[] = {
    {"build/conf/bblayers.conf",
     "BBPATH = \"${TOPDIR}\"\nBBFILES ?= \"\"\nBBLAYERS = \"${TOPDIR}/../layer\"\n"   },
    {"build/conf/multiconfig/arm.conf", "MACHINE = \"arm\"\n"                         },
    {"layer/conf/layer.conf",
     "BBPATH .= \":${LAYERDIR}\"\nBBFILES += \"${LAYERDIR}/*.bb\"\n"
     "BBFILE_COLLECTIONS += \"one\"\nBBFILE_PATTERN_one = \"^${LAYERDIR}/\"\n"        },
    {"layer/conf/bitbake.conf",
     "PN = \"${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[0]}\"\n"
     "BB_DEFAULT_TASK = \"build\"\nBBMULTICONFIG = \"arm\"\n"
     "include conf/multiconfig/${BB_CURRENT_MC}.conf\n"                               },
    {"layer/classes/base.bbclass",
     "addtask fetch\naddtask build after do_fetch\ndo_build[deptask] = \"do_build\"\n"},
    {"layer/app.bb",                    "DEPENDS = \"lib\"\n"                         },
    {"layer/lib.bb",                    "A = \"1\"\n"                                 },
    {"layer/lost.bb",                   "DEPENDS = \"nowhere\"\n"                     },
    {"layer/ring.bb",                   "do_fetch[depends] = \"ring:do_build\"\n"     },
};

struct opened {
    struct bz_catalog p;
    struct bz_goal g;
    struct bz_buf notes, why;
};

static int open_goal(struct world *w, struct opened *o, const char *target,
                     const char *task)
{
    struct bz_catalog_opts opts = {.cwd = at(w, "build").p};
    struct bz_goal_opts goal = {.targets = &target, .n = 1, .task = task};

    put_files(w, project, BZ_COUNTOF(project));
    assert_ok(bz_catalog_open(&o->p, &opts, &w->err), &w->err);
    assert_ok(bz_catalog_read(&o->p, &w->err), &w->err);
    o->g.survey = &o->p.survey;
    return bz_goal_open(&o->g, &goal, &o->notes, &o->why, &w->err);
}

static void close_goal(struct opened *o)
{
    bz_goal_close(&o->g);
    bz_catalog_close(&o->p);
    bz_buf_release(&o->notes);
    bz_buf_release(&o->why);
}

static void each_configuration_has_its_machine(void **state)
{
    struct world *w = *state;
    struct opened o = {0};
    const struct bz_str *machines;

    assert_ok(open_goal(w, &o, "app", NULL), &w->err);
    machines = bz_goal_machines(&o.g);
    assert_int_equal(o.g.nparts, 2);
    assert_int_equal(machines[0].n, 0);
    assert_true(bz_str_eq(machines[1], BZ_STR("arm")));
    close_goal(&o);
}

static int open_python(struct world *w, struct opened *o, const char *target,
                       enum bz_goal_python how)
{
    struct bz_catalog_opts opts = {.cwd = at(w, "build").p};
    struct bz_goal_opts goal = {.targets = &target, .n = 1, .python = how};

    put_files(w, project, BZ_COUNTOF(project));
    put_file(w, "layer/lib.bb",
             "python do_fetch:append() {\n    x\n}\npython () {\n    x\n}\n");
    put_file(w, "layer/both.bb",
             "DEPENDS = \"lib\"\ndo_fetch[depends] = \"raw:do_build\"\n");
    put_file(w, "layer/raw.bb", "A = \"1\"\n");
    assert_ok(bz_catalog_open(&o->p, &opts, &w->err), &w->err);
    assert_ok(bz_catalog_read(&o->p, &w->err), &w->err);
    o->g.survey = &o->p.survey;
    return bz_goal_open(&o->g, &goal, &o->notes, &o->why, &w->err);
}

static void python_functions_are_refused_with_their_places(void **state)
{
    struct world *w = *state;
    struct opened o = {0};

    assert_int_equal(open_python(w, &o, "app", BZ_GOAL_REFUSE_PYTHON), BZ_E_INVAL);
    assert_string_equal(w->err.msg, "2 Python functions of 1 recipe cannot be run");
    assert_non_null(strstr(bz_buf_text(&o.why),
                           "/layer/lib.bb:4: error: anonymous function: "
                           "Python functions are not supported yet\n"));
    assert_non_null(strstr(bz_buf_text(&o.why),
                           "/layer/lib.bb:1: error: function do_fetch:append: "));
    close_goal(&o);
}

static void python_functions_that_are_not_needed_are_not(void **state)
{
    struct world *w = *state;
    struct opened o = {0};

    assert_ok(open_python(w, &o, "raw", BZ_GOAL_REFUSE_PYTHON), &w->err);
    assert_int_equal(o.why.len, 0);
    close_goal(&o);
}

static void tasks_that_need_python_functions_may_be_pruned(void **state)
{
    struct world *w = *state;
    struct opened o = {0};

    assert_ok(open_python(w, &o, "both", BZ_GOAL_PRUNE_PYTHON), &w->err);
    assert_int_equal(o.g.functions, 2);
    assert_int_equal(o.g.recipes, 1);
    assert_int_equal(o.g.graph.dag.n, 3); /* raw, and do_fetch of both */
    assert_int_equal(bz_goal_fail_pruned(&o.g, &w->err), BZ_E_INVAL);
    close_goal(&o);
    o = (struct opened){0};
    assert_int_equal(open_python(w, &o, "lib", BZ_GOAL_PRUNE_PYTHON), BZ_E_INVAL);
    close_goal(&o);
}

static void a_graph_may_be_described_without_them(void **state)
{
    BZ_CLEANUP(bz_pyfunc_release) struct bz_pyfunc_set set = {0};
    struct world *w = *state;
    struct opened o = {0};

    assert_ok(open_python(w, &o, "app", BZ_GOAL_DESCRIBE_PYTHON), &w->err);
    assert_int_equal(o.g.graph.dag.n, 4);
    assert_int_equal(bz_goal_list_python(&o.g, false, &set), 1);
    assert_int_equal(set.list.len, 1);
    assert_int_equal(bz_goal_list_python(&o.g, true, &set), 1);
    assert_int_equal(set.list.len, 2);
    close_goal(&o);
}

static void a_target_becomes_its_tasks(void **state)
{
    struct world *w = *state;
    struct opened o = {0};

    assert_ok(open_goal(w, &o, "app", NULL), &w->err);
    assert_int_equal(o.g.graph.nrecipes, 2);
    assert_int_equal(o.g.graph.dag.n, 4);
    close_goal(&o);
}

static void a_task_may_be_asked_for(void **state)
{
    struct world *w = *state;
    struct opened o = {0};

    assert_ok(open_goal(w, &o, "app", "fetch"), &w->err);
    assert_int_equal(o.g.graph.dag.n, 1);
    close_goal(&o);
}

static void every_configuration_may_be_asked_for(void **state)
{
    struct world *w = *state;
    struct opened o = {0};
    struct bz_buf name = {0};

    assert_ok(open_goal(w, &o, "mc:*:lib:do_fetch", NULL), &w->err);
    assert_int_equal(o.g.graph.dag.n, 2);
    bz_goal_name(&o.g, 1, &name);
    assert_string_equal(bz_buf_text(&name), "mc:arm:lib");
    bz_buf_release(&name);
    close_goal(&o);
}

static void what_nothing_provides_is_told_with_who_needs_it(void **state)
{
    struct world *w = *state;
    struct opened o = {0};

    assert_int_equal(open_goal(w, &o, "lost", NULL), BZ_E_NOENT);
    assert_non_null(strstr(w->err.msg, "'nowhere'"));
    assert_non_null(strstr(bz_buf_text(&o.why), "  lost needs nowhere: DEPENDS in "));
    close_goal(&o);
}

static void a_cycle_is_shown(void **state)
{
    struct world *w = *state;
    struct opened o = {0};

    assert_int_equal(open_goal(w, &o, "ring", NULL), BZ_E_INVAL);
    assert_non_null(strstr(bz_buf_text(&o.why),
                           "ring:do_fetch waits for ring:do_build by [depends]"));
    assert_non_null(strstr(bz_buf_text(&o.why),
                           "ring:do_build waits for ring:do_fetch by addtask"));
    close_goal(&o);
}

#define goal_test(name)                                                                \
    cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        goal_test(python_functions_are_refused_with_their_places),
        goal_test(python_functions_that_are_not_needed_are_not),
        goal_test(tasks_that_need_python_functions_may_be_pruned),
        goal_test(a_graph_may_be_described_without_them),
        goal_test(a_target_becomes_its_tasks),
        goal_test(a_task_may_be_asked_for),
        goal_test(every_configuration_may_be_asked_for),
        goal_test(what_nothing_provides_is_told_with_who_needs_it),
        goal_test(a_cycle_is_shown),
        goal_test(each_configuration_has_its_machine),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
