#include "pipeline/jobs.h"

#include <stdio.h>

#include "tests/unit/pipeline/bench.h"

static void a_script_has_the_paths_of_the_sandbox(void **state)
{
    struct world *w = *state;
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bench b;
    struct bz_job job;

    bench_open(&b, w);
    assert_ok(bz_jobs_make(&b.j, 0, &a, &job, &w->err), &w->err);
    /* What only begins like a layer's path is none. */
    assert_non_null(strstr(job.script.p, ": /bitzel/tmp/work/app /layers/layer/f "
                                         "/bitzel/../layermore /layers/layer-2 "
                                         "/layers/layer/tidy\n"));
    assert_true(bz_str_eq(job.workdir, BZ_STR("/bitzel/tmp/work/app")));
    assert_true(job.network);
    assert_string_equal(job.log, at(w, "build/tmp/work/app/temp/log.do_build").p);
    assert_string_equal(job.run, at(w, "build/tmp/work/app/temp/run.do_build").p);
    bench_close(&b);
}

static void layers_are_views_and_tasks_have_names(void **state)
{
    struct world *w = *state;
    struct bench b;

    bench_open(&b, w);
    assert_int_equal(b.j.views.len, 2);
    assert_string_equal(b.j.views.at[0].inside, "/layers/layer");
    assert_true(bz_str_eq(b.j.names[0], BZ_STR("app:do_build")));
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_script_has_the_paths_of_the_sandbox,
                                        world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(layers_are_views_and_tasks_have_names,
                                        world_setup, world_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
