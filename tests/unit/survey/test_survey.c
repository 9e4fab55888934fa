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
    struct bz_survey_source source;
    struct bz_survey survey;
};

/* Reads the project and makes a survey of it. */
static void open_with(struct world *w, const struct bz_survey_memory *memory,
                      unsigned threads, struct opened *o)
{
    struct bz_config_opts opts = {.build_dir = at(w, "build"), .mc = BZ_STR("")};
    struct bz_survey_opts survey = {
        .sources = &o->source,
        .nsources = 1,
        .sweep = {.library = w->library, .threads = threads},
        .memory = *memory,
    };

    *o = (struct opened){0};
    assert_ok(bz_config_load(w->library, &opts, &o->config, &w->err), &w->err);
    assert_ok(bz_layer_read(&o->layers, o->config, &w->err), &w->err);
    assert_ok(bz_collect_read(&o->recipes, o->config, &o->layers, w->library, &w->err),
              &w->err);
    o->source =
        (struct bz_survey_source){BZ_STR(""), o->config, &o->layers, &o->recipes};
    assert_ok(bz_survey_run(&o->survey, &survey, &w->err), &w->err);
}

static void open_project(struct world *w, unsigned threads, struct opened *o)
{
    static const struct bz_survey_memory none;

    open_with(w, &none, threads, o);
}

static void close_project(struct opened *o)
{
    bz_survey_release(&o->survey);
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
    struct opened o;

    put_files(w, project, BZ_COUNTOF(project));
    open_project(w, 0, &o);
    assert_int_equal(o.survey.parts.len, 1);
    assert_int_equal(o.survey.parts.at[0].facts.len, BZ_COUNTOF(expected));
    for (size_t i = 0; i < BZ_COUNTOF(expected); i++) {
        const struct bz_facts *f = &o.survey.parts.at[0].facts.at[i];

        assert_true(bz_str_ends(f->path, bz_str_from(expected[i].file)));
        assert_text("variant", f->variant, expected[i].variant);
        assert_text("PN", f->pn, expected[i].pn);
        assert_int_equal(f->error.p != NULL, expected[i].wrong);
        assert_int_equal(f->priority, 7);
        assert_text("layer", f->layer, "one");
        if (!expected[i].wrong)
            assert_text("SUMMARY", f->summary, expected[i].summary);
    }
    assert_true(bz_str_ends(o.survey.parts.at[0].facts.at[1].appends,
                            BZ_STR("layer/tool_%.bbappend")));
    close_project(&o);
}

static void everything_is_counted(void **state)
{
    struct world *w = *state;
    struct opened o;

    put_files(w, project, BZ_COUNTOF(project));
    open_project(w, 0, &o);
    assert_int_equal(o.survey.files, 3);
    assert_int_equal(o.survey.parsed, 3);
    assert_int_equal(o.survey.cached, 0);
    assert_int_equal(o.survey.variants, 2);
    assert_int_equal(o.survey.skipped, 0);
    assert_int_equal(o.survey.masked, 1);
    assert_int_equal(o.survey.errors, 2);
    close_project(&o);
}

static void settings_answer_what_the_configuration_says(void **state)
{
    struct world *w = *state;
    struct bz_vars *settings;
    struct bz_str value;
    struct opened o;

    put_files(w, project, BZ_COUNTOF(project));
    open_project(w, 0, &o);
    assert_ok(bz_survey_settings(&o.survey, 0, &settings, &w->err), &w->err);
    assert_ok(
        bz_vars_get(settings, BZ_STR("PREFERRED_VERSION_tool"), 0, &value, &w->err),
        &w->err);
    assert_text("PREFERRED_VERSION_tool", value, "1.0");
    close_project(&o);
}

static void assert_same_texts(const void *a, const void *b, const size_t *at, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct bz_str x, y;

        memcpy(&x, (const char *)a + at[i], sizeof(x));
        memcpy(&y, (const char *)b + at[i], sizeof(y));
        if (!x.p || !y.p)
            assert_ptr_equal(x.p, y.p);
        else
            assert_true(bz_str_eq(x, y));
    }
}

static void assert_same_facts(const struct bz_facts *a, const struct bz_facts *b)
{
    assert_same_texts(a, b, bz_snapshot_fact_at, BZ_SNAPSHOT_FACT_TEXTS);
    assert_int_equal(a->priority, b->priority);
    assert_int_equal(a->default_preference, b->default_preference);
    assert_int_equal(a->not_world, b->not_world);
    assert_int_equal(a->hidden, b->hidden);
    assert_int_equal(a->npackages, b->npackages);
    for (size_t i = 0; i < a->npackages; i++)
        assert_same_texts(&a->packages[i], &b->packages[i], bz_snapshot_package_at,
                          BZ_SNAPSHOT_PACKAGE_TEXTS);
    assert_int_equal(a->ntasks, b->ntasks);
    for (size_t i = 0; i < a->ntasks; i++) {
        assert_same_texts(&a->tasks[i], &b->tasks[i], bz_snapshot_task_at,
                          BZ_SNAPSHOT_TASK_TEXTS);
        assert_int_equal(a->tasks[i].nostamp, b->tasks[i].nostamp);
        assert_int_equal(a->tasks[i].noexec, b->tasks[i].noexec);
        assert_int_equal(a->tasks[i].fakeroot, b->tasks[i].fakeroot);
    }
}

static void what_is_remembered_is_what_was_found(void **state)
{
    static const struct file more[] = {
        {"layer/broken.bb", "PROVIDES = \"virtual/b\"\nPE = \"1\"\n"
                            "EXCLUDE_FROM_WORLD = \"1\"\nDEFAULT_PREFERENCE = \"3\"\n"},
        {"layer/wrong.bb",
         "PACKAGES = \"wrong wrong-dev\"\nRDEPENDS:wrong = \"a b\"\n"
         "do_build[nostamp] = \"1\"\ndo_build[rdeptask] = \"do_x\"\n"                                            },
    };
    struct world *w = *state;
    struct bz_hashing hashing = {0};
    struct bz_entries catalog;
    struct bz_survey_memory memory = {&catalog, BZ_STR("key"), &hashing};
    struct bz_survey again = {0};
    struct bz_vars *settings;
    struct bz_str value;
    struct opened o;

    put_files(w, project, BZ_COUNTOF(project));
    put_files(w, more, BZ_COUNTOF(more));
    bz_entries_open(&catalog, at(w, "cache/s").p, "");
    assert_false(bz_survey_recall(&again, &memory));
    bz_survey_release(&again);
    bz_library_set_hash(w->library, bz_hashing_bytes, &hashing);
    open_with(w, &memory, 0, &o);
    assert_int_equal(o.survey.errors, 0);
    assert_true(bz_survey_recall(&again, &memory));
    assert_int_equal(again.cached, 3);
    assert_int_equal(again.parsed, 0);
    assert_int_equal(again.files, o.survey.files);
    assert_int_equal(again.variants, o.survey.variants);
    assert_int_equal(again.masked, o.survey.masked);
    assert_int_equal(again.parts.at[0].facts.len, o.survey.parts.at[0].facts.len);
    for (size_t i = 0; i < again.parts.at[0].facts.len; i++)
        assert_same_facts(&again.parts.at[0].facts.at[i],
                          &o.survey.parts.at[0].facts.at[i]);
    assert_ok(bz_survey_settings(&again, 0, &settings, &w->err), &w->err);
    assert_ok(
        bz_vars_get(settings, BZ_STR("PREFERRED_VERSION_tool"), 0, &value, &w->err),
        &w->err);
    assert_text("PREFERRED_VERSION_tool", value, "1.0");
    bz_survey_release(&again);
    memory.key = BZ_STR("another");
    assert_false(bz_survey_recall(&again, &memory));
    bz_survey_release(&again);
    close_project(&o);
    bz_entries_close(&catalog);
    bz_hashing_release(&hashing);
}

/* Recipes that say something, in their own files and by what they do. */
static void put_chatter(struct world *w, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        char name[32], text[128];

        snprintf(name, sizeof(name), "layer/r%03u.bb", i);
        snprintf(text, sizeof(text), "A%u=\"%u\"\nB:append += \"x\"\n%s", i, i,
                 i % 7 == 0 ? "require nothing.inc\n" : "");
        put_file(w, name, text);
    }
}

static void the_result_does_not_depend_on_threads(void **state)
{
    struct world *w = *state;
    struct opened one, many;

    put_files(w, project, BZ_COUNTOF(project));
    put_chatter(w, 100);
    open_project(w, 1, &one);
    open_project(w, 4, &many);
    assert_true(
        bz_str_eq(bz_buf_str(&one.survey.notes), bz_buf_str(&many.survey.notes)));
    assert_non_null(strstr(bz_buf_text(&one.survey.notes), "r042.bb:1:"));
    assert_non_null(strstr(bz_buf_text(&one.survey.notes), "B:append += is not"));
    assert_int_equal(one.survey.errors, 17);
    assert_int_equal(many.survey.errors, 17);
    assert_int_equal(many.survey.parsed, 103);
    assert_int_equal(one.survey.parts.at[0].facts.len,
                     many.survey.parts.at[0].facts.len);
    for (size_t i = 0; i < one.survey.parts.at[0].facts.len; i++) {
        const struct bz_facts *a = &one.survey.parts.at[0].facts.at[i];
        const struct bz_facts *b = &many.survey.parts.at[0].facts.at[i];

        assert_true(bz_str_eq(a->path, b->path) && bz_str_eq(a->pn, b->pn) &&
                    bz_str_eq(a->error, b->error) && a->ntasks == b->ntasks);
    }
    close_project(&one);
    close_project(&many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(all_recipes_and_their_variants_are_there_in_order),
        world_test(everything_is_counted),
        world_test(what_is_remembered_is_what_was_found),
        world_test(the_result_does_not_depend_on_threads),
        world_test(settings_answer_what_the_configuration_says),
    };

    return cmocka_run_group_tests_name("survey/survey", tests, NULL, NULL);
}
