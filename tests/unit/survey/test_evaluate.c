#include "survey/evaluate.h"

#include "tests/unit/recipe/files.h"

static const struct file project[] = {
    {"build/conf/bblayers.conf",
     "BBPATH = \"${TOPDIR}\"\nBBFILES ?= \"\"\nBBLAYERS = \"${TOPDIR}/../layer\"\n"},
    {"layer/conf/layer.conf",
     "BBPATH .= \":${LAYERDIR}\"\nBBFILES += \"${LAYERDIR}/*.bb "
     "${LAYERDIR}/*.bbappend\"\n"
     "BBFILE_COLLECTIONS += \"one\"\nBBFILE_PATTERN_one = \"^${LAYERDIR}/\"\n"
     "LAYERSERIES_CORENAMES = \"x\"\nLAYERSERIES_COMPAT_one = \"x\"\n"             },
    {"layer/conf/bitbake.conf",
     "PN = \"${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[0]}\"\n"       },
    {"layer/classes/base.bbclass", "addtask build\n"                               },
    {"layer/app.bb",               "A = \"1\"\n"                                   },
    {"layer/app.bbappend",         "A .= \"2\"\n"                                  },
};

static const struct file edited = {"layer/app.bb", "A = \"3\"\n"};

static void a_recipe_has_its_variables_until_it_is_edited(void **state)
{
    struct world *w = *state;
    struct bz_catalog_opts opts;
    struct bz_catalog p = {0};
    const struct bz_facts *app;
    struct bz_evaluated e;
    struct bz_str value;

    put_files(w, project, BZ_COUNTOF(project));
    opts = (struct bz_catalog_opts){.cwd = at(w, "build").p};
    assert_ok(bz_catalog_open(&p, &opts, &w->err), &w->err);
    assert_ok(bz_catalog_read(&p, &w->err), &w->err);
    app = &p.survey.parts.at[0].facts.at[0];
    assert_ok(bz_evaluate_recipe(&p, 0, app, &e, &w->err), &w->err);
    assert_null(e.finalize); /* the survey has evaluated it */
    assert_ok(bz_vars_get(e.vars, BZ_STR("A"), 0, &value, &w->err), &w->err);
    assert_true(bz_str_eq(value, BZ_STR("12")));
    bz_evaluate_release(&e);
    put_files(w, &edited, 1); /* it is signed as the survey saw it */
    assert_ok(bz_evaluate_recipe(&p, 0, app, &e, &w->err), &w->err);
    assert_ok(bz_vars_get(e.vars, BZ_STR("A"), 0, &value, &w->err), &w->err);
    assert_true(bz_str_eq(value, BZ_STR("12")));
    bz_evaluate_release(&e);
    bz_entries_close(&p.entries); /* as if it was lost */
    bz_entries_open(&p.entries, NULL, "");
    assert_int_equal(bz_evaluate_recipe(&p, 0, app, &e, &w->err), BZ_E_BUSY);
    assert_non_null(strstr(w->err.msg, "app.bb"));
    assert_null(e.vars);
    bz_evaluate_release(&e);
    bz_catalog_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_recipe_has_its_variables_until_it_is_edited,
                                        world_setup, world_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
