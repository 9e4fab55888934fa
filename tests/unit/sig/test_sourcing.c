#include "sig/sourcing.h"

#include "tests/unit/recipe/files.h"

static const struct file project[] = {
    {"build/conf/bblayers.conf",
     "BBPATH = \"${TOPDIR}\"\nBBFILES ?= \"\"\nBBLAYERS = \"${TOPDIR}/../layer\"\n"   },
    {"layer/conf/layer.conf",
     "BBPATH .= \":${LAYERDIR}\"\nBBFILES += \"${LAYERDIR}/*.bb "
     "${LAYERDIR}/*.bbappend\"\n"
     "BBFILE_COLLECTIONS += \"one\"\nBBFILE_PATTERN_one = \"^${LAYERDIR}/\"\n"
     "LAYERSERIES_CORENAMES = \"x\"\nLAYERSERIES_COMPAT_one = \"x\"\n"                },
    {"layer/conf/bitbake.conf",
     "PN = \"${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[0]}\"\n"          },
    {"layer/classes/base.bbclass",
     "addtask fetch\naddtask build after do_fetch\ndo_build[deptask] = \"do_build\"\n"},
    {"layer/app.bb",               "DEPENDS = \"lib\"\nDL_DIR = \"/dl\"\nV = \"1.0\"\nSRC_URI = "
                     "\"http://h/a-${V}.tgz;name=n\"\nSRC_URI[n.md5sum] = "
                     "\"900150983cd24fb0d6963f7d28e17f72\"\n"     },
    {"layer/app.bbappend",         "SRC_URI += \"file:///x\"\n"                       },
    {"layer/lib.bb",               "SRC_URI = \"nonsense\"\nDL_DIR = \"/dl\"\n"       },
};

static void a_recipe_of_the_graph_has_its_sources(void **state)
{
    BZ_CLEANUP(bz_vec_release) struct bz_dag_ids all = {0}, only = {0};
    struct world *w = *state;
    const char *target = "app";
    struct bz_catalog_opts opts;
    struct bz_goal_opts goal = {.targets = &target, .n = 1};
    struct bz_fetch_opts fetch = {0};
    struct bz_buf notes = {0}, why = {0};
    struct bz_catalog p = {0};
    struct bz_goal g = {0};
    struct bz_sourcing s = {0};

    put_files(w, project, BZ_COUNTOF(project));
    opts = (struct bz_catalog_opts){.cwd = at(w, "build").p};
    assert_ok(bz_catalog_open(&p, &opts, &w->err), &w->err);
    assert_ok(bz_catalog_read(&p, &w->err), &w->err);
    g.survey = &p.survey;
    assert_ok(bz_goal_open(&g, &goal, &notes, &why, &w->err), &w->err);
    bz_sourcing_list(&g, false, &all);
    bz_sourcing_list(&g, true, &only);
    assert_int_equal(all.len, 2);
    assert_int_equal(only.len, 1);
    assert_ok(bz_sourcing_open(&s, &p, &g, only.at[0], "do_fetch", &fetch, &w->err),
              &w->err);
    assert_int_equal(bz_fetch_count(s.fetch), 2);
    assert_string_equal(bz_fetch_path(bz_fetch_source(s.fetch, 0)), "/dl/a-1.0.tgz");
    assert_true(bz_fetch_is_local(bz_fetch_source(s.fetch, 1)));
    bz_sourcing_close(&s);
    for (size_t i = 0; i < all.len; i++)
        if (all.at[i] != only.at[0])
            assert_int_equal(
                bz_sourcing_open(&s, &p, &g, all.at[i], "do_fetch", &fetch, &w->err),
                BZ_E_INVAL);
    assert_non_null(strstr(w->err.msg, "/layer/lib.bb: 'nonsense': no scheme"));
    bz_sourcing_close(&s);
    bz_goal_close(&g);
    bz_catalog_close(&p);
    bz_buf_release(&notes);
    bz_buf_release(&why);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_recipe_of_the_graph_has_its_sources,
                                        world_setup, world_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
