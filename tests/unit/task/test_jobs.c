#include "task/jobs.h"

#include <stdio.h>

#include "tests/unit/task/workshop.h"

static void a_script_has_the_paths_of_the_sandbox(void **state)
{
    struct world *w = *state;
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct workshop b;
    struct bz_job job;

    workshop_open(&b, w);
    assert_ok(bz_jobs_make(&b.j, 0, &a, &job, &w->err), &w->err);
    /* What only begins like a layer's path is none. */
    assert_non_null(strstr(job.script.p, ": /bitzel/tmp/work/app /layers/layer/f "
                                         "/bitzel/../layermore /layers/layer-2 "
                                         "/layers/layer/tidy\n"));
    assert_true(bz_str_eq(job.workdir, BZ_STR("/bitzel/tmp/work/app")));
    assert_true(job.network);
    /* Of what it names there is only this. */
    assert_int_equal(job.nviews, 1);
    assert_string_equal(job.views[0].inside, "/layers/layer-2");
    assert_string_equal(job.log, at(w, "build/tmp/work/app/temp/log.do_build").p);
    assert_string_equal(job.run, at(w, "build/tmp/work/app/temp/run.do_build").p);
    workshop_close(&b);
}

static void layers_have_places(void **state)
{
    struct world *w = *state;
    struct workshop b;

    workshop_open(&b, w);
    assert_int_equal(b.j.paths.layers.len, 2);
    assert_string_equal(b.j.paths.layers.at[0].inside.p, "/layers/layer");
    workshop_close(&b);
}

static void what_lies_above_the_core_layer_has_a_place(void **state)
{
    struct file core[] = {
        {"layer/conf/bitbake.conf", NULL                                        },
        {"layer/app.bb",            "do_build() {\n    ls ${COREBASE}/more\n}\n"},
        {"more/x",                  ""                                          },
    };
    struct world *w = *state;
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf conf = {0};
    struct workshop b;
    struct bz_job job;

    bench_files(w);
    for (size_t i = 0; i < BZ_COUNTOF(bench_project); i++)
        if (strcmp(bench_project[i].path, core[0].path) == 0)
            bz_buf_addf(&conf, "%sCOREBASE = \"%s\"\n", bench_project[i].text,
                        at(w, ".").p);
    core[0].text = bz_buf_text(&conf);
    put_files(w, core, BZ_COUNTOF(core));
    workshop_begin(&b, w);
    assert_ok(bz_jobs_make(&b.j, 0, &a, &job, &w->err), &w->err);
    assert_non_null(strstr(job.script.p, "ls /layers/corebase/more\n"));
    assert_int_equal(job.nviews, 1);
    assert_string_equal(job.views[0].inside, "/layers/corebase/more");
    workshop_close(&b);
}

/* More of them than are kept evaluated. */
static void recipes_that_were_let_go_are_evaluated_again(void **state)
{
    static const char *const target = "world";
    enum { N = BZ_JOBS_KEPT + 6 };
    struct world *w = *state;
    struct bz_catalog_opts opts = {.cwd = at(w, "build").p};
    struct bz_goal_opts goal = {.targets = &target, .n = 1};
    struct bz_buf notes = {0}, why = {0};
    struct workshop b = {0};

    bench_files(w);
    for (int i = 0; i < N; i++) {
        char name[32];
        const struct file recipe = {name, "A = \"of ${PN}\"\n"};

        snprintf(name, sizeof(name), "layer/r%02d.bb", i);
        put_files(w, &recipe, 1);
    }
    assert_ok(bz_catalog_open(&b.b.p, &opts, &w->err), &w->err);
    assert_ok(bz_catalog_read(&b.b.p, &w->err), &w->err);
    b.b.g.survey = &b.b.p.survey;
    assert_ok(bz_goal_open(&b.b.g, &goal, &notes, &why, &w->err), &w->err);
    bz_ground_usual(&b.ground);
    assert_ok(bz_jobs_open(&b.j, &b.b.p, &b.b.g, &b.ground, &w->err), &w->err);
    for (uint32_t i = 0; i < 3 * N; i++) {
        uint32_t r = i % b.b.g.graph.nrecipes;
        struct bz_str pn = b.b.g.graph.recipes[r].facts->pn, value;
        struct bz_vars *v;

        assert_ok(bz_jobs_vars(&b.j, r, &v, &w->err), &w->err);
        assert_ok(bz_vars_get(v, BZ_STR("PN"), 0, &value, &w->err), &w->err);
        assert_true(bz_str_eq(value, pn));
    }
    bz_buf_release(&notes);
    bz_buf_release(&why);
    workshop_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_script_has_the_paths_of_the_sandbox,
                                        world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(layers_have_places, world_setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(what_lies_above_the_core_layer_has_a_place,
                                        world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(recipes_that_were_let_go_are_evaluated_again,
                                        world_setup, world_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
