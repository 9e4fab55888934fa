#include "survey/evaluate.h"

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

static void assert_recipe(struct world *w, struct bz_catalog *p, size_t part,
                          const char *name, const char *variable, const char *expected)
{
    const struct bz_survey_facts *all = &p->survey.parts.at[part].facts;
    struct bz_evaluated e = {0};
    struct bz_str value;
    size_t i = 0;

    while (i < all->len && !bz_str_eq(all->at[i].pn, bz_str_from(name)))
        i++;
    assert_true((i < all->len) == (expected != NULL));
    if (!expected)
        return;
    assert_ok(bz_evaluate_recipe(p, part, &all->at[i], &e, &w->err), &w->err);
    assert_ok(bz_vars_get(e.vars, bz_str_from(variable), 0, &value, &w->err), &w->err);
    assert_true(bz_str_eq(value, bz_str_from(expected)));
    bz_evaluate_release(&e);
}

static void a_project_opens_and_its_recipes_are_found_by_name(void **state)
{
    struct world *w = *state;
    struct bz_catalog p = {0};
    struct bz_catalog_opts opts = {.cwd = at(w, "build/conf").p};

    put_files(w, project, BZ_COUNTOF(project));
    assert_ok(bz_catalog_open(&p, &opts, &w->err), &w->err);
    assert_int_equal(p.layers.all.len, 1);
    assert_int_equal(p.layers.all.at[0].priority, 7);
    assert_int_equal(p.mcs.len, 1);
    assert_int_equal(p.mcs.at[0].recipes.recipes.len, 2);
    assert_ok(bz_catalog_read(&p, &w->err), &w->err);
    for (size_t i = 0; i < BZ_COUNTOF(recipes); i++)
        assert_recipe(w, &p, 0, recipes[i].name, recipes[i].variable, recipes[i].value);
    bz_catalog_close(&p);
}

static const struct file multi[] = {
    {"layer/conf/bitbake.conf",
     "PN = \"${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[0]}\"\n"
     "MACHINE ?= \"pc\"\nOVERRIDES = \"${MACHINE}\"\nBBMULTICONFIG = \"arm rv arm\"\n"
     "include conf/multiconfig/${BB_CURRENT_MC}.conf\n"                             },
    {"layer/conf/multiconfig/arm.conf", "MACHINE = \"board\"\nBBMASK = \"odd\"\n"   },
    {"build/conf/multiconfig/rv.conf",  "MACHINE = \"riscv\"\n"                     },
    {"layer/tool_1.0.bb",
     "KIND = \"any\"\nKIND:board = \"for ${BB_CURRENT_MC}\"\nKIND:pc = \"for pc\"\n"},
};

static void every_configuration_has_its_own_values_and_recipes(void **state)
{
    static const struct {
        const char *mc, *kind;
        size_t recipes;
    } expected[] = {
        {"",    "for pc",  2},
        {"arm", "for arm", 1},
        {"rv",  "any",     2},
    };
    struct world *w = *state;
    struct bz_catalog p = {0};
    struct bz_catalog_opts opts = {.cwd = at(w, "build").p};
    struct bz_catalog_mc *mc;

    put_files(w, project, BZ_COUNTOF(project));
    put_files(w, multi, BZ_COUNTOF(multi));
    assert_ok(bz_catalog_open(&p, &opts, &w->err), &w->err);
    assert_int_equal(p.mcs.len, BZ_COUNTOF(expected));
    assert_ok(bz_catalog_read(&p, &w->err), &w->err);
    assert_int_equal(p.survey.parts.len, BZ_COUNTOF(expected));
    for (size_t i = 0; i < BZ_COUNTOF(expected); i++) {
        assert_ok(bz_catalog_find_mc(&p, bz_str_from(expected[i].mc), &mc, &w->err),
                  &w->err);
        assert_ptr_equal(mc, &p.mcs.at[i]);
        assert_var(mc->config, "BB_CURRENT_MC", expected[i].mc);
        assert_int_equal(mc->recipes.recipes.len, expected[i].recipes);
        assert_recipe(w, &p, i, "tool", "KIND", expected[i].kind);
    }
    assert_int_equal(bz_catalog_find_mc(&p, BZ_STR("ppc"), &mc, &w->err), BZ_E_NOENT);
    assert_non_null(strstr(w->err.msg, "'ppc'"));
    bz_catalog_close(&p);
}

static void a_broken_configuration_is_named(void **state)
{
    struct world *w = *state;
    struct bz_catalog p = {0};
    struct bz_catalog_opts opts = {.cwd = at(w, "build").p};

    put_files(w, project, BZ_COUNTOF(project));
    put_files(w, multi, BZ_COUNTOF(multi));
    put_file(w, "build/conf/multiconfig/rv.conf", "wrong\n");
    assert_int_equal(bz_catalog_open(&p, &opts, &w->err), BZ_E_INVAL);
    assert_non_null(strstr(w->err.msg, "configuration rv: "));
    assert_non_null(strstr(w->err.msg, "rv.conf:1"));
    bz_catalog_close(&p);
}

static void the_environment_passes_by_bitbakes_rules(void **state)
{
    static const char *const env[] = {"HOME=/home/me", "EDITOR=vi", "LC_ALL=C", NULL};
    struct world *w = *state;
    struct bz_catalog p = {0};
    struct bz_catalog_opts opts = {.cwd = at(w, "build").p, .env = env};

    put_files(w, project, BZ_COUNTOF(project));
    assert_ok(bz_catalog_open(&p, &opts, &w->err), &w->err);
    assert_var(p.mcs.at[0].config, "HOME", "/home/me");
    assert_var(p.mcs.at[0].config, "EDITOR", NULL);
    assert_var(p.mcs.at[0].config, "LC_ALL", "en_US.UTF-8");
    bz_catalog_close(&p);
}

static void without_a_build_directory_there_is_nothing_to_open(void **state)
{
    struct world *w = *state;
    struct bz_catalog p = {0};
    struct bz_catalog_opts opts = {.cwd = w->dir->path};

    assert_int_equal(bz_catalog_open(&p, &opts, &w->err), BZ_E_NOENT);
    assert_non_null(strstr(w->err.msg, "conf/bblayers.conf"));
    bz_catalog_close(&p);
}

static void a_survey_of_a_project_has_all_its_recipes(void **state)
{
    struct world *w = *state;
    struct bz_catalog p = {0};
    struct bz_catalog_opts opts = {.cwd = at(w, "build").p};

    put_files(w, project, BZ_COUNTOF(project));
    assert_ok(bz_catalog_open(&p, &opts, &w->err), &w->err);
    assert_ok(bz_catalog_read(&p, &w->err), &w->err);
    assert_int_equal(p.survey.files, 2);
    assert_int_equal(p.survey.variants, 3);
    bz_catalog_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(a_project_opens_and_its_recipes_are_found_by_name),
        world_test(a_survey_of_a_project_has_all_its_recipes),
        world_test(every_configuration_has_its_own_values_and_recipes),
        world_test(a_broken_configuration_is_named),
        world_test(the_environment_passes_by_bitbakes_rules),
        world_test(without_a_build_directory_there_is_nothing_to_open),
    };

    return cmocka_run_group_tests_name("survey/catalog", tests, NULL, NULL);
}
