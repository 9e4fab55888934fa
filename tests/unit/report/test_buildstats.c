#include "report/buildstats.h"

#include "base/mem.h"
#include "os/fs.h"
#include "tests/unit/report/example.h"

static struct bz_str dir_of(struct scratch *s, struct bz_arena *arena)
{
    return bz_arena_printf(arena, "%s/stats", s->path);
}

static void assert_has(struct scratch *s, const char *name, const char *want)
{
    BZ_CLEANUP(bz_mem_freep) char *text = NULL;
    struct bz_err err;
    size_t n;

    assert_ok(bz_fs_read(s->fd, name, 10000, &text, &n, &err), &err);
    assert_non_null(strstr(text, want));
}

static void write_stats(struct scratch *scratch, const char *log)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct bz_account a = {0};
    struct bz_shape s = {0};
    struct bz_err err;

    example_read(log, &a, &s);
    assert_ok(bz_buildstats_write(&a, &s, dir_of(scratch, &arena).p, &err), &err);
    assert_int_equal(bz_buildstats_write(&a, &s, dir_of(scratch, &arena).p, &err),
                     BZ_E_EXISTS);
    bz_shape_release(&s);
    bz_account_release(&a);
}

static void every_task_that_ran_has_a_file(void **state)
{
    struct scratch *scratch = *state;

    write_stats(scratch, EXAMPLE);
    assert_has(scratch, "stats/build_stats", "\nBuild Started: 1767323045.00 \n");
    assert_has(scratch, "stats/build_stats", "\nElapsed time: 8.00 seconds \n");
    assert_has(scratch, "stats/build_stats", "\nFailed at: app-0-r0 at task: do_z \n");
    assert_has(scratch, "stats/app-0-r0/do_x", "\nStarted: 1767323046.00 \n");
    assert_has(scratch, "stats/app-0-r0/do_x", "\napp-0-r0: do_x\n");
    assert_has(scratch, "stats/app-0-r0/do_x", "\nElapsed time: 2.00 seconds\n");
    assert_has(scratch, "stats/app-0-r0/do_x", "\nChild rusage ru_utime: 0.500000\n");
    assert_has(scratch, "stats/app-0-r0/do_x", "\nChild rusage ru_maxrss: 2\n");
    assert_has(scratch, "stats/app-0-r0/do_x",
               "\nStatus: PASSED \nEnded: 1767323048.00 \n");
    assert_has(scratch, "stats/app-0-r0/do_z", "\nStatus: FAILED \n");
    assert_false(bz_fs_exists(scratch->fd, "stats/lib-0-r0"));
}

static void a_task_without_its_end_has_none(void **state)
{
    struct scratch *scratch = *state;

    write_stats(scratch, EXAMPLE_BEGIN EXAMPLE_RAN("app:do_x", 0, 1, "", "\"done\"")
                             EXAMPLE_RAN("app:do_y", 1, 2, "", "\"progress\""));
    assert_true(bz_fs_exists(scratch->fd, "stats/app-0-r0/do_x"));
    assert_false(bz_fs_exists(scratch->fd, "stats/app-0-r0/do_y"));
}

static void names_stay_below_the_directory(void **state)
{
    struct scratch *scratch = *state;

    write_stats(scratch, EXAMPLE_BEGIN EXAMPLE_RAN("mc:m:../../x:../../y", 0, 1, "",
                                                   "\"done\""));
    assert_true(bz_fs_exists(scratch->fd, "stats/mc_m_.._.._x-0-r0/_._.._y"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
        TEST(every_task_that_ran_has_a_file),
        TEST(a_task_without_its_end_has_none),
        TEST(names_stay_below_the_directory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
