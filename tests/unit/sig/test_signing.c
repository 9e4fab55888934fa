#include "sig/signing.h"

#include "tests/unit/recipe/files.h"

static const struct file project[] = {
    {"build/conf/bblayers.conf",
     "BBPATH = \"${TOPDIR}\"\nBBFILES ?= \"\"\nBBLAYERS = \"${TOPDIR}/../layer\"\n"  },
    {"layer/conf/layer.conf",
     "BBPATH .= \":${LAYERDIR}\"\nBBFILES += \"${LAYERDIR}/*.bb\"\n"
     "BBFILE_COLLECTIONS += \"one\"\nBBFILE_PATTERN_one = \"^${LAYERDIR}/\"\n"
     "LAYERSERIES_CORENAMES = \"x\"\nLAYERSERIES_COMPAT_one = \"x\"\n"               },
    {"layer/conf/bitbake.conf",
     "PN = \"${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[0]}\"\n"         },
    {"layer/classes/base.bbclass",
     "addtask build\ndo_build[deptask] = \"do_build\"\ndo_build() {\n    : ${A}\n}\n"},
    {"layer/app.bb",               "DEPENDS = \"lib\"\nA = \"1\"\n"                  },
    {"layer/lib.bb",               "A = \"1\"\nB = \"1\"\n"                          },
};

/* How many recipes that took. */
static size_t sign(struct world *w, struct bz_digest keys[2])
{
    const char *target = "app";
    struct bz_catalog_opts opts = {.cwd = at(w, "build").p};
    struct bz_goal_opts goal = {.targets = &target, .n = 1};
    struct bz_buf notes = {0}, why = {0};
    struct bz_catalog p = {0};
    struct bz_goal g = {0};
    struct bz_signing s = {0};
    size_t evaluated;

    assert_ok(bz_catalog_open(&p, &opts, &w->err), &w->err);
    assert_ok(bz_catalog_read(&p, &w->err), &w->err);
    g.survey = &p.survey;
    assert_ok(bz_goal_open(&g, &goal, &notes, &why, &w->err), &w->err);
    assert_ok(bz_signing_run(&s, &p, &g, &w->err), &w->err);
    assert_int_equal(g.graph.dag.n, 2);
    memcpy(keys, s.keys, 2 * sizeof(keys[0]));
    evaluated = s.evaluated;
    bz_signing_release(&s);
    bz_goal_close(&g);
    bz_catalog_close(&p);
    bz_buf_release(&notes);
    bz_buf_release(&why);
    return evaluated;
}

/* app is the first task, lib the second. */
static void an_edit_changes_its_task_and_those_that_wait(void **state)
{
    static const struct {
        const char *file, *text;
        bool app, lib;
    } rows[] = {
        {"layer/app.bb", "# word\nDEPENDS = \"lib\"\nA = \"1\"\n", false, false},
        {"layer/lib.bb", "B = \"2\"\nA = \"1\"\n",                 false, false},
        {"layer/app.bb", "DEPENDS = \"lib\"\nA = \"2\"\n",         true,  false},
        {"layer/lib.bb", "A = \"2\"\nB = \"1\"\n",                 true,  true },
    };
    struct world *w = *state;
    struct bz_digest was[2], is[2];

    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        put_files(w, project, BZ_COUNTOF(project));
        sign(w, was);
        put_file(w, rows[i].file, rows[i].text);
        sign(w, is);
        assert_int_equal(!bz_digest_eq(&was[0], &is[0]), rows[i].app);
        assert_int_equal(!bz_digest_eq(&was[1], &is[1]), rows[i].lib);
    }
}

static void what_is_remembered_is_not_evaluated(void **state)
{
    struct world *w = *state;
    struct bz_digest was[2], is[2];

    put_files(w, project, BZ_COUNTOF(project));
    assert_int_equal(sign(w, was), 2);
    assert_int_equal(sign(w, is), 0);
    assert_memory_equal(was, is, sizeof(was));
    put_file(w, "layer/app.bb", "DEPENDS = \"lib\"\nA = \"1\"\n# word\n");
    assert_int_equal(sign(w, is), 1);
    assert_memory_equal(was, is, sizeof(was));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_edit_changes_its_task_and_those_that_wait,
                                        world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(what_is_remembered_is_not_evaluated,
                                        world_setup, world_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
