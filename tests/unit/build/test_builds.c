#include "build/builds.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "os/clock.h"
#include "os/fs.h"
#include "tests/unit/recipe/files.h"

static const struct file builds[] = {
    {"builds/20260102T030405-77/record", "x"},
    {"builds/20260102T030406-8/record",  "x"},
    {"builds/20260103T000000-1/log",     "x"},
    {"builds/zz/record",                 "x"},
    {"builds/20260104T000000-1x/record", "x"},
};

static const struct {
    const char *which, *id, *message; /* one of the last two is NULL */
} cases[] = {
    {NULL,                 "20260102T030406-8",  NULL                                 },
    {"last",               "20260102T030406-8",  NULL                                 },
    {"20260102T030405",    "20260102T030405-77", NULL                                 },
    {"20260102T030405-77", "20260102T030405-77", NULL                                 },
    {"20260102",           NULL,                 "2 builds begin with '20260102', the"},
    {"20260103",           NULL,                 "the build 20260103T000000-1 has no" },
    {"2027",               NULL,                 "no build is called '2027'"          },
    {"zz",                 NULL,                 "no build is called 'zz'"            },
};

static void ask(struct world *w, const char *which, const char *id, const char *message)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct bz_builds_found found = {0};
    int rc =
        bz_builds_find(&arena, at(w, "").p, which, BZ_BUILDS_RECORD, &found, &w->err);

    if (id) {
        assert_ok(rc, &w->err);
        assert_string_equal(found.id.p, id);
        return;
    }
    assert_true(rc < 0);
    w->err.msg[strlen(message)] = '\0';
    assert_string_equal(w->err.msg, message);
}

static void builds_are_found_by_name(void **state)
{
    struct world *w = *state;

    put_files(w, builds, BZ_COUNTOF(builds));
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++)
        ask(w, cases[i].which, cases[i].id, cases[i].message);
}

static void all_builds_with_a_file_are_listed(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    BZ_CLEANUP(bz_vec_release) struct bz_builds_list list = {0};
    struct world *w = *state;

    assert_ok(bz_builds_list(&arena, at(w, "").p, BZ_BUILDS_RECORD, &list, &w->err),
              &w->err);
    assert_int_equal(list.len, 0);
    put_files(w, builds, BZ_COUNTOF(builds));
    assert_ok(bz_builds_list(&arena, at(w, "").p, BZ_BUILDS_RECORD, &list, &w->err),
              &w->err);
    assert_int_equal(list.len, 2);
    assert_string_equal(list.at[0].id.p, "20260102T030405-77");
    assert_string_equal(list.at[1].id.p, "20260102T030406-8");
}

static void another_file_is_looked_for_by_itself(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct bz_builds_found found = {0};
    struct world *w = *state;

    put_files(w, builds, BZ_COUNTOF(builds));
    assert_ok(bz_builds_find(&arena, at(w, "").p, NULL, "log", &found, &w->err),
              &w->err);
    assert_string_equal(found.id.p, "20260103T000000-1");
    assert_int_equal(
        bz_builds_find(&arena, at(w, "").p, NULL, BZ_BUILDS_EVENTS, &found, &w->err),
        BZ_E_NOENT);
    assert_non_null(strstr(w->err.msg, "no build has run anything here yet"));
}

static void without_builds_the_message_says_what_to_do(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct bz_builds_found found = {0};
    struct world *w = *state;

    assert_int_equal(
        bz_builds_find(&arena, at(w, "").p, NULL, BZ_BUILDS_RECORD, &found, &w->err),
        BZ_E_NOENT);
    assert_non_null(strstr(w->err.msg, "bitzel sig TARGET --record FILE"));
}

static void make(struct world *w, struct bz_arena *arena, int64_t second,
                 const char *file)
{
    const char *path;

    assert_ok(
        bz_builds_make(arena, at(w, "").p, second * BZ_CLOCK_S, file, &path, &w->err),
        &w->err);
    assert_ok(bz_fs_write(AT_FDCWD, path, "x", 1, 0644, BZ_FS_NOSYNC, &w->err),
              &w->err);
}

static void of_one_second_the_last_that_was_written_is_the_last(void **state)
{
    static const struct file same[] = {
        {"builds/20260102T030405-32767/record", "x"},
        {"builds/20260102T030405-00300/record", "x"},
        {"builds/20260102T030404-99999/record", "x"},
    };
    static const struct timespec times[][2] = {
        {{1000, 5}, {1000, 5}},
        {{1000, 6}, {1000, 6}},
        {{2000, 0}, {2000, 0}},
    };
    struct world *w = *state;

    put_files(w, same, BZ_COUNTOF(same));
    for (size_t i = 0; i < BZ_COUNTOF(same); i++)
        assert_int_equal(utimensat(AT_FDCWD, at(w, same[i].path).p, times[i], 0), 0);
    ask(w, NULL, "20260102T030405-00300", NULL);
}

static void builds_that_ran_nothing_displace_no_others(void **state)
{
    struct world *w = *state;
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    BZ_CLEANUP(bz_vec_release) struct bz_builds_list list = {0}, ran = {0};
    struct bz_builds_found found = {0};

    for (int64_t i = 0; i < BZ_BUILDS_KEPT; i++)
        make(w, &arena, i, BZ_BUILDS_EVENTS);
    for (int64_t i = 0; i < BZ_BUILDS_KEPT + 9; i++)
        make(w, &arena, 100 + i, BZ_BUILDS_IDLE);
    make(w, &arena, 1000, BZ_BUILDS_EVENTS);
    make(w, &arena, 1001, BZ_BUILDS_IDLE);
    assert_ok(bz_builds_list(&arena, at(w, "").p, BZ_BUILDS_ANY, &list, &w->err),
              &w->err);
    assert_int_equal(list.len, BZ_BUILDS_KEPT + BZ_BUILDS_IDLE_KEPT);
    assert_ok(bz_builds_list(&arena, at(w, "").p, BZ_BUILDS_EVENTS, &ran, &w->err),
              &w->err);
    assert_int_equal(ran.len, BZ_BUILDS_KEPT);
    assert_true(bz_str_starts(ran.at[0].id, BZ_STR("19700101T000001-")));
    assert_ok(bz_builds_find(&arena, at(w, "").p, NULL, BZ_BUILDS_ANY, &found, &w->err),
              &w->err);
    assert_true(bz_str_starts(found.id, BZ_STR("19700101T001641-")));
    assert_true(bz_str_ends(found.path, BZ_STR("/" BZ_BUILDS_IDLE)));
    assert_ok(
        bz_builds_find(&arena, at(w, "").p, NULL, BZ_BUILDS_EVENTS, &found, &w->err),
        &w->err);
    assert_true(bz_str_starts(found.id, BZ_STR("19700101T001640-")));
}

static void builds_are_kept_and_old_ones_go(void **state)
{
    struct world *w = *state;
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct bz_builds_found found = {0};

    for (int64_t i = 0; i < BZ_BUILDS_KEPT + 5; i++)
        make(w, &arena, i, BZ_BUILDS_RECORD);
    assert_ok(
        bz_builds_find(&arena, at(w, "").p, NULL, BZ_BUILDS_RECORD, &found, &w->err),
        &w->err);
    assert_true(bz_str_starts(found.id, BZ_STR("19700101T000024-")));
    assert_int_equal(bz_builds_find(&arena, at(w, "").p, "19700101T000004",
                                    BZ_BUILDS_RECORD, &found, &w->err),
                     BZ_E_NOENT);
    assert_ok(bz_builds_find(&arena, at(w, "").p, "19700101T000005", BZ_BUILDS_RECORD,
                             &found, &w->err),
              &w->err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(builds_are_kept_and_old_ones_go, world_setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(
            of_one_second_the_last_that_was_written_is_the_last, world_setup,
            world_teardown),
        cmocka_unit_test_setup_teardown(builds_that_ran_nothing_displace_no_others,
                                        world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(another_file_is_looked_for_by_itself,
                                        world_setup, world_teardown),
        cmocka_unit_test_setup_teardown(builds_are_found_by_name, world_setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(all_builds_with_a_file_are_listed, world_setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(without_builds_the_message_says_what_to_do,
                                        world_setup, world_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
