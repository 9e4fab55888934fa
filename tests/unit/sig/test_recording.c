#include "sig/recording.h"

#include "tests/unit/recipe/files.h"

static const struct file project[] = {
    {"build/conf/bblayers.conf",
     "BBPATH = \"${TOPDIR}\"\nBBFILES ?= \"\"\nBBLAYERS = \"${TOPDIR}/../layer\"\n"  },
    {"layer/conf/layer.conf",
     "BBPATH .= \":${LAYERDIR}\"\nBBFILES += \"${LAYERDIR}/*.bb\"\n"
     "BBFILE_COLLECTIONS += \"one\"\nBBFILE_PATTERN_one = \"^${LAYERDIR}/\"\n"
     "LAYERSERIES_CORENAMES = \"x\"\nLAYERSERIES_COMPAT_one = \"x\"\n"               },
    {"layer/conf/bitbake.conf",
     "PN = \"${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[0]}\"\n"
     "MACHINE = \"board\"\n"                                                         },
    {"layer/classes/base.bbclass",
     "addtask build\ndo_build[deptask] = \"do_build\"\ndo_build() {\n    : ${A}\n}\n"},
    {"layer/app.bb",               "DEPENDS = \"lib\"\nA = \"1\"\n"                  },
    {"layer/lib.bb",               "# line\nA = \"1\"\n"                             },
};

static void a_record_has_all_tasks_of_the_graph(void **state)
{
    struct world *w = *state;
    const char *target = "app";
    struct bz_catalog_opts opts = {.cwd = at(w, "build").p};
    struct bz_goal_opts goal = {.targets = &target, .n = 1};
    BZ_CLEANUP(bz_buf_release) struct bz_buf notes = {0}, why = {0};
    BZ_CLEANUP(bz_record_release) struct bz_record r = {0};
    struct bz_catalog p = {0};
    struct bz_goal g = {0};
    struct bz_signing s = {0};
    const struct bz_record_task *app, *lib;

    put_files(w, project, BZ_COUNTOF(project));
    assert_ok(bz_catalog_open(&p, &opts, &w->err), &w->err);
    assert_ok(bz_catalog_read(&p, &w->err), &w->err);
    g.survey = &p.survey;
    assert_ok(bz_goal_open(&g, &goal, &notes, &why, &w->err), &w->err);
    assert_ok(bz_signing_run(&s, &p, &g, &w->err), &w->err);
    assert_ok(bz_recording_run(&r, &s, &p, &g, &w->err), &w->err);
    bz_signing_release(&s);
    bz_goal_close(&g);
    bz_catalog_close(&p);

    assert_int_equal(r.tasks.len, 2);
    app = bz_record_find(&r, BZ_STR("app:do_build"));
    lib = bz_record_find(&r, BZ_STR("lib:do_build"));
    assert_true(bz_str_eq(app->machine, BZ_STR("board")));
    assert_int_equal(app->ndeps, 1);
    assert_true(bz_str_eq(app->deps[0].task, lib->name));
    assert_true(bz_digest_eq(&app->deps[0].key, &lib->key));
    for (size_t i = 0; i < lib->ninputs; i++)
        if (bz_str_eq(lib->inputs[i]->name, BZ_STR("A"))) {
            assert_true(bz_str_eq(lib->inputs[i]->ops[0].file, BZ_STR("layer/lib.bb")));
            assert_int_equal(lib->inputs[i]->ops[0].line, 2);
            return;
        }
    fail_msg("A is not among the inputs");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_record_has_all_tasks_of_the_graph,
                                        world_setup, world_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
