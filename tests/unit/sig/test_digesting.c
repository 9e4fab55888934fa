#include "sig/digesting.h"

#include "survey/lineage.h"
#include "tests/unit/recipe/files.h"

enum { RECIPES = 30 };

struct project {
    struct bz_catalog p;
    struct bz_goal g;
    struct bz_digesting_item items[2 * RECIPES];
};

static void put_project(struct world *w, const char *text)
{
    static const struct file files[] = {
        {"build/conf/bblayers.conf",   "BBPATH = \"${TOPDIR}\"\nBBFILES ?= "
                                     "\"\"\nBBLAYERS = \"${TOPDIR}/../layer\"\n"},
        {"layer/conf/layer.conf",
         "BBPATH .= \":${LAYERDIR}\"\nBBFILES += \"${LAYERDIR}/*.bb\"\n"
         "BBFILE_COLLECTIONS += \"one\"\nBBFILE_PATTERN_one = \"^${LAYERDIR}/\"\n"
         "LAYERSERIES_CORENAMES = \"x\"\nLAYERSERIES_COMPAT_one = \"x\"\n"                                          },
        {"layer/conf/bitbake.conf",
         "PN = \"${@bb.parse.vars_from_file(d.getVar('FILE', False), d)[0]}\"\n"                                    },
        {"layer/classes/base.bbclass",
         "addtask fetch\naddtask build after do_fetch\ndo_build() {\n    : ${A}\n}\n"                               },
    };

    put_files(w, files, BZ_COUNTOF(files));
    for (int i = 0; i < RECIPES; i++) {
        char name[32], body[64];

        snprintf(name, sizeof(name), "layer/r%02d.bb", i);
        snprintf(body, sizeof(body), "A = \"%d\"\n%s", i, i >= 20 ? text : "");
        put_file(w, name, body);
    }
}

static void open_project(struct world *w, struct project *x)
{
    static const char *const target = "world";
    struct bz_catalog_opts opts = {.cwd = at(w, "build").p};
    struct bz_goal_opts goal = {.targets = &target, .n = 1};
    struct bz_buf notes = {0}, why = {0};

    memset(x, 0, sizeof(*x));
    assert_ok(bz_catalog_open(&x->p, &opts, &w->err), &w->err);
    assert_ok(bz_catalog_read(&x->p, &w->err), &w->err);
    x->g.survey = &x->p.survey;
    assert_ok(bz_goal_open(&x->g, &goal, &notes, &why, &w->err), &w->err);
    assert_in_range(x->g.graph.nrecipes, RECIPES, 2 * RECIPES);
    for (uint32_t i = 0; i < x->g.graph.nrecipes; i++)
        x->items[i].recipe = i;
    bz_buf_release(&notes);
    bz_buf_release(&why);
}

static void close_project(struct project *x)
{
    bz_goal_close(&x->g);
    bz_catalog_close(&x->p);
}

static void results_are_the_same_with_any_number_of_threads(void **state)
{
    struct world *w = *state;
    struct bz_digest first[2 * RECIPES];

    put_project(w, "");
    for (unsigned threads = 1; threads < 5; threads++) {
        struct project x;
        struct bz_digesting e = {.p = &x.p, .goal = &x.g};

        open_project(w, &x);
        x.p.sweep.threads = threads;
        assert_ok(bz_digesting_run(&e, x.items, RECIPES, &w->err), &w->err);
        for (size_t i = 0; i < RECIPES; i++) {
            assert_int_equal(x.items[i].memo.n, 2);
            for (size_t k = 0; k < 2; k++) {
                if (threads == 1)
                    first[2 * i + k] = x.items[i].memo.tasks[k].digest;
                assert_true(
                    bz_digest_eq(&first[2 * i + k], &x.items[i].memo.tasks[k].digest));
            }
        }
        bz_digesting_release(&e);
        close_project(&x);
    }
    for (size_t i = 1; i < BZ_COUNTOF(first); i++)
        assert_false(bz_digest_eq(&first[0], &first[i]));
}

static void the_key_is_what_the_survey_will_ask_for(void **state)
{
    struct world *w = *state;
    struct project x;
    struct bz_digesting e = {.p = &x.p, .goal = &x.g};

    put_project(w, "BBCLASSEXTEND = \"native\"\n");
    put_file(w, "layer/classes/native.bbclass", "");
    open_project(w, &x);
    assert_int_equal(x.g.graph.nrecipes, RECIPES + 10);
    assert_ok(bz_digesting_run(&e, x.items, x.g.graph.nrecipes, &w->err), &w->err);
    for (size_t i = 0; i < x.g.graph.nrecipes; i++) {
        struct bz_entries_key key;

        assert_true(bz_lineage_known(x.g.graph.recipes[i].facts->lineage));
        bz_lineage_key(x.g.graph.recipes[i].facts->lineage,
                       x.g.survey->parts.at[0].config, key.b);
        assert_memory_equal(&key, &x.items[i].memo.key, sizeof(key));
    }
    bz_digesting_release(&e);
    close_project(&x);
}

static void a_recipe_that_changed_meanwhile_has_another_key(void **state)
{
    struct world *w = *state;
    struct project x, y;
    struct bz_digesting e = {.p = &y.p, .goal = &x.g};
    struct bz_entries_key key;

    put_project(w, "");
    open_project(w, &x);
    put_file(w, "layer/r07.bb", "A = \"new\"\n");
    open_project(w, &y);
    bz_entries_close(&y.p.entries); /* without tables of what it was before */
    bz_entries_open(&y.p.entries, NULL, "");
    assert_ok(bz_digesting_run(&e, x.items, RECIPES, &w->err), &w->err);
    for (size_t i = 0; i < RECIPES; i++) {
        const struct bz_facts *f = x.g.graph.recipes[i].facts;

        bz_lineage_key(f->lineage, x.g.survey->parts.at[0].config, key.b);
        assert_int_equal(memcmp(&key, &x.items[i].memo.key, sizeof(key)) == 0,
                         !bz_str_ends(f->path, BZ_STR("r07.bb")));
    }
    bz_digesting_release(&e);
    close_project(&x);
    close_project(&y);
}

static void the_first_failure_is_reported(void **state)
{
    struct world *w = *state;

    put_project(w, "do_build[file-checksums] = \"what\"\n");
    for (unsigned threads = 1; threads < 4; threads++) {
        struct project x;
        struct bz_digesting e = {.p = &x.p, .goal = &x.g};

        open_project(w, &x);
        x.p.sweep.threads = threads;
        assert_int_equal(bz_digesting_run(&e, x.items, RECIPES, &w->err), BZ_E_INVAL);
        assert_non_null(strstr(w->err.msg, "r20.bb"));
        bz_digesting_release(&e);
        close_project(&x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(results_are_the_same_with_any_number_of_threads),
        world_test(the_key_is_what_the_survey_will_ask_for),
        world_test(a_recipe_that_changed_meanwhile_has_another_key),
        world_test(the_first_failure_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
