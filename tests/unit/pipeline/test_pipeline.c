#include "pipeline/pipeline.h"

#include <string.h>

#include "tests/unit/recipe/files.h"

static const struct file project[] = {
    {"build/conf/bblayers.conf",
     "BBPATH = \"${TOPDIR}\"\nBBFILES ?= \"\"\nBBLAYERS = \"${TOPDIR}/../layer\"\n"           },
    {"layer/conf/layer.conf",
     "BBPATH .= \":${LAYERDIR}\"\nBBFILES += \"${LAYERDIR}/*.bb "
     "${LAYERDIR}/*.bbappend\"\n"
     "BBFILE_COLLECTIONS += \"one\"\nBBFILE_PATTERN_one = \"^${LAYERDIR}/\"\n"
     "BBFILE_PRIORITY_one = \"7\"\n"                                                          },
    {"layer/conf/bitbake.conf",
     "PN = \"${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[0]}\"\n"                  },
    {"layer/classes/base.bbclass",   "addtask build\n"                                        },
    {"layer/classes/native.bbclass", "KIND = \"for the host\"\n"                              },
    {"layer/tool_1.0.bb",            "BBCLASSEXTEND = \"native\"\nKIND = \"for the target\"\n"},
    {"layer/odd.bb",                 "PN = \"renamed-odd\"\n"                                 },
    {"layer/tool_%.bbappend",        "APPENDED = \"yes\"\n"                                   },
};

static const struct {
    const char *name, *variable, *value; /* value NULL: there is no such recipe */
} recipes[] = {
    {"tool",        "KIND",     "for the target"},
    {"tool",        "APPENDED", "yes"           },
    {"tool-native", "KIND",     "for the host"  },
    {"renamed-odd", "PN",       "renamed-odd"   },
    {"odd",         "PN",       NULL            },
    {"toolbox",     "PN",       NULL            },
};

static void assert_recipe(struct world *w, struct bz_pipeline *p, size_t i)
{
    struct bz_finalize *f = NULL;
    struct bz_meta *meta;
    int rc = bz_pipeline_recipe(p, bz_str_from(recipes[i].name), &f, &meta, &w->err);

    assert_int_equal(rc, recipes[i].value ? 0 : BZ_E_NOENT);
    if (rc == 0)
        assert_var(meta, recipes[i].variable, recipes[i].value);
    bz_finalize_free(f);
}

static void a_project_opens_and_its_recipes_are_found_by_name(void **state)
{
    struct world *w = *state;
    struct bz_pipeline p = {0};
    struct bz_pipeline_opts opts = {.start = at(w, "build/conf").p};

    put_files(w, project, BZ_COUNTOF(project));
    assert_ok(bz_pipeline_open(&p, &opts, &w->err), &w->err);
    assert_int_equal(p.layers.all.len, 1);
    assert_int_equal(p.layers.all.at[0].priority, 7);
    assert_int_equal(p.recipes.recipes.len, 2);
    for (size_t i = 0; i < BZ_COUNTOF(recipes); i++)
        assert_recipe(w, &p, i);
    bz_pipeline_close(&p);
}

static void without_a_build_directory_there_is_nothing_to_open(void **state)
{
    struct world *w = *state;
    struct bz_pipeline p = {0};
    struct bz_pipeline_opts opts = {.start = w->dir->path};

    assert_int_equal(bz_pipeline_open(&p, &opts, &w->err), BZ_E_NOENT);
    assert_non_null(strstr(w->err.msg, "conf/bblayers.conf"));
    bz_pipeline_close(&p);
}

static void a_survey_of_a_project_has_all_its_recipes(void **state)
{
    struct world *w = *state;
    struct bz_pipeline p = {0};
    struct bz_survey s = {0};
    struct bz_pipeline_opts opts = {.start = at(w, "build").p};

    put_files(w, project, BZ_COUNTOF(project));
    assert_ok(bz_pipeline_open(&p, &opts, &w->err), &w->err);
    assert_ok(bz_pipeline_survey(&p, &s, &w->err), &w->err);
    assert_int_equal(s.files, 2);
    assert_int_equal(s.variants, 3);
    bz_survey_release(&s);
    bz_pipeline_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(a_project_opens_and_its_recipes_are_found_by_name),
        world_test(a_survey_of_a_project_has_all_its_recipes),
        world_test(without_a_build_directory_there_is_nothing_to_open),
    };

    return cmocka_run_group_tests_name("pipeline/pipeline", tests, NULL, NULL);
}
