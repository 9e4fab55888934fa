#include "survey/survey.h"

#include "recipe/config.h"
#include "tests/unit/recipe/files.h"

static const struct file project[] = {
    {"build/conf/bblayers.conf",
     "BBPATH = \"${TOPDIR}\"\nBBFILES ?= \"\"\nBBLAYERS = \"${TOPDIR}/../layer\"\n"            },
    {"layer/conf/layer.conf",
     "BBPATH .= \":${LAYERDIR}\"\nBBFILES += \"${LAYERDIR}/*.bb "
     "${LAYERDIR}/*.bbappend\"\n"
     "BBFILE_COLLECTIONS += \"one\"\nBBFILE_PATTERN_one = \"^${LAYERDIR}/\"\n"
     "BBFILE_PRIORITY_one = \"7\"\nBBMASK = \"masked\"\n"                                      },
    {"layer/conf/bitbake.conf",
     "PN = \"${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[0]}\"\n"
     "PREFERRED_VERSION_tool = \"1.0\"\n"                                                      },
    {"layer/classes/base.bbclass",   "addtask build\n"                                         },
    {"layer/classes/native.bbclass", "KIND = \"for the host\"\n"                               },
    {"layer/tool_1.0.bb",            "BBCLASSEXTEND = \"native\"\nKIND = \"for the target\"\n" },
    {"layer/broken.bb",              "require nothing.inc\n"                                   },
    {"layer/wrong.bb",               "DEFAULT_PREFERENCE = \"x\"\nBBCLASSEXTEND = \"native\"\n"},
    {"layer/masked.bb",              "what is this\n"                                          },
    {"layer/tool_%.bbappend",        "SUMMARY = \"a tool\"\n"                                  },
};

struct opened {
    struct bz_meta *config;
    struct bz_layers layers;
    struct bz_collect recipes;
};

static void open_project(struct world *w, struct opened *o)
{
    struct bz_config_opts opts = {.build_dir = at(w, "build"), .mc = BZ_STR("")};

    *o = (struct opened){0};
    assert_ok(bz_config_load(w->library, &opts, &o->config, &w->err), &w->err);
    assert_ok(bz_layer_read(&o->layers, o->config, &w->err), &w->err);
    assert_ok(bz_collect_read(&o->recipes, o->config, &o->layers, &w->err), &w->err);
}

static void close_project(struct opened *o)
{
    bz_collect_release(&o->recipes);
    bz_layer_release(&o->layers);
    bz_meta_free(o->config);
}

static void all_recipes_and_their_variants_are_there_in_order(void **state)
{
    static const struct {
        const char *file, *variant, *pn, *summary;
        bool wrong;
    } expected[] = {
        {"layer/broken.bb",   "",       "broken",      "",       true },
        {"layer/tool_1.0.bb", "native", "tool-native", "a tool", false},
        {"layer/tool_1.0.bb", "",       "tool",        "a tool", false},
        {"layer/wrong.bb",    "",       "wrong",       "",       true },
    };
    struct world *w = *state;
    struct bz_survey s = {0};
    struct opened o;

    put_files(w, project, BZ_COUNTOF(project));
    open_project(w, &o);
    struct bz_survey_source source = {BZ_STR(""), o.config, &o.layers, &o.recipes};
    assert_ok(bz_survey_run(&s, &source, 1, w->library, &w->err), &w->err);
    assert_int_equal(s.parts.len, 1);
    assert_int_equal(s.parts.at[0].facts.len, BZ_COUNTOF(expected));
    for (size_t i = 0; i < BZ_COUNTOF(expected); i++) {
        const struct bz_facts *f = &s.parts.at[0].facts.at[i];

        assert_true(bz_str_ends(f->path, bz_str_from(expected[i].file)));
        assert_text("variant", f->variant, expected[i].variant);
        assert_text("PN", f->pn, expected[i].pn);
        assert_int_equal(f->error.p != NULL, expected[i].wrong);
        assert_int_equal(f->priority, 7);
        assert_text("layer", f->layer, "one");
        if (!expected[i].wrong)
            assert_text("SUMMARY", f->summary, expected[i].summary);
    }
    assert_true(bz_str_ends(s.parts.at[0].facts.at[1].appends,
                            BZ_STR("layer/tool_%.bbappend")));
    bz_survey_release(&s);
    close_project(&o);
}

static void everything_is_counted(void **state)
{
    struct world *w = *state;
    struct bz_survey s = {0};
    struct opened o;

    put_files(w, project, BZ_COUNTOF(project));
    open_project(w, &o);
    struct bz_survey_source source = {BZ_STR(""), o.config, &o.layers, &o.recipes};
    assert_ok(bz_survey_run(&s, &source, 1, w->library, &w->err), &w->err);
    assert_int_equal(s.files, 3);
    assert_int_equal(s.parsed, 3);
    assert_int_equal(s.cached, 0);
    assert_int_equal(s.variants, 2);
    assert_int_equal(s.skipped, 0);
    assert_int_equal(s.masked, 1);
    assert_int_equal(s.errors, 2);
    bz_survey_release(&s);
    close_project(&o);
}

static void settings_answer_what_the_configuration_says(void **state)
{
    struct world *w = *state;
    struct bz_survey s = {0};
    struct bz_vars *settings;
    struct bz_str value;
    struct opened o;

    put_files(w, project, BZ_COUNTOF(project));
    open_project(w, &o);
    struct bz_survey_source source = {BZ_STR(""), o.config, &o.layers, &o.recipes};
    assert_ok(bz_survey_run(&s, &source, 1, w->library, &w->err), &w->err);
    assert_ok(bz_survey_settings(&s, 0, &settings, &w->err), &w->err);
    assert_ok(
        bz_vars_get(settings, BZ_STR("PREFERRED_VERSION_tool"), 0, &value, &w->err),
        &w->err);
    assert_text("PREFERRED_VERSION_tool", value, "1.0");
    bz_survey_release(&s);
    close_project(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(all_recipes_and_their_variants_are_there_in_order),
        world_test(everything_is_counted),
        world_test(settings_answer_what_the_configuration_says),
    };

    return cmocka_run_group_tests_name("survey/survey", tests, NULL, NULL);
}
