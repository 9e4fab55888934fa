#include "pipeline/builds.h"

#include "os/clock.h"
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
    int rc = bz_builds_find(&arena, at(w, "").p, which, &found, &w->err);

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

static void without_builds_the_message_says_what_to_do(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct bz_builds_found found = {0};
    struct world *w = *state;

    assert_int_equal(bz_builds_find(&arena, at(w, "").p, NULL, &found, &w->err),
                     BZ_E_NOENT);
    assert_non_null(strstr(w->err.msg, "bitzel sig TARGET --record FILE"));
}

static void a_record_is_kept_and_old_ones_go(void **state)
{
    struct world *w = *state;
    BZ_CLEANUP(bz_arena_release) struct bz_arena arena = {0};
    struct bz_builds_found found = {0};

    for (int64_t i = 0; i < BZ_BUILDS_KEPT + 5; i++)
        assert_ok(bz_builds_keep(at(w, "").p, i * BZ_CLOCK_S, BZ_STR("x"), &w->err),
                  &w->err);
    assert_ok(bz_builds_find(&arena, at(w, "").p, NULL, &found, &w->err), &w->err);
    assert_true(bz_str_starts(found.id, BZ_STR("19700101T000024-")));
    assert_int_equal(
        bz_builds_find(&arena, at(w, "").p, "19700101T000004", &found, &w->err),
        BZ_E_NOENT);
    assert_ok(bz_builds_find(&arena, at(w, "").p, "19700101T000005", &found, &w->err),
              &w->err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_record_is_kept_and_old_ones_go, world_setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(builds_are_found_by_name, world_setup,
                                        world_teardown),
        cmocka_unit_test_setup_teardown(without_builds_the_message_says_what_to_do,
                                        world_setup, world_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
