#include "exec/failed.h"

#include "tests/unit/os/scratch.h"

struct bench {
    struct bz_desk_list desks;
    struct bz_desk *desk;
    struct bz_arena arena;
};

static void leave(const char *dir, const char *name, const char *text)
{
    struct bz_err err;
    char path[400];

    snprintf(path, sizeof(path), "%s/%s", dir, name);
    assert_ok(bz_fs_write(AT_FDCWD, path, text, strlen(text), 0644, BZ_FS_NOSYNC, &err),
              &err);
}

static void bench_open(struct bench *b, struct scratch *s)
{
    struct bz_err err;

    *b = (struct bench){.desks.scratch = s->path};
    assert_ok(bz_desk_take(&b->desks, BZ_STR(""), &b->desk, &err), &err);
}

static void bench_close(struct bench *b)
{
    bz_desk_give(&b->desks, b->desk);
    bz_desk_list_release(&b->desks);
    bz_arena_release(&b->arena);
}

static void what_a_task_left_is_found_by_its_signature(void **state)
{
    const struct bz_digest key = {{1}}, other = {{2}};
    const struct timespec long_ago[2] = {
        {1000, 0},
        {1000, 0}
    };
    const char *upper, *tmp;
    struct scratch *s = *state;
    struct bench b;
    struct stat st;

    bench_open(&b, s);
    leave(b.desk->upper, "made", "x");
    leave(b.desk->tmp, "left", "y");
    bz_failed_keep(s->path, BZ_STR("a/b:do_x"), &key, b.desk);
    assert_true(bz_fs_exists(AT_FDCWD, b.desk->upper));
    assert_true(bz_fs_exists(AT_FDCWD, b.desk->tmp));
    assert_true(bz_fs_exists(s->fd, "failed/a_b:do_x/upper/made"));
    assert_true(bz_fs_exists(s->fd, "failed/a_b:do_x/tmp/left"));
    assert_int_equal(utimensat(s->fd, "failed/a_b:do_x", long_ago, 0), 0);
    assert_false(
        bz_failed_find(s->path, BZ_STR("a/b:do_x"), &other, &b.arena, &upper, &tmp));
    assert_true(
        bz_failed_find(s->path, BZ_STR("a/b:do_x"), &key, &b.arena, &upper, &tmp));
    assert_int_equal(fstatat(s->fd, "failed/a_b:do_x", &st, 0), 0);
    assert_true(st.st_mtim.tv_sec > 1000); /* so that no collector takes it */
    assert_non_null(strstr(upper, "failed/a_b:do_x/upper"));
    assert_false(bz_failed_crowds("/proc/nowhere")); /* nothing is known of it */
    assert_true(bz_failed_crowds("/proc"));
    bz_failed_drop(s->path, BZ_STR("a/b:do_x"));
    assert_false(
        bz_failed_find(s->path, BZ_STR("a/b:do_x"), &key, &b.arena, &upper, &tmp));
    bench_close(&b);
}

static void only_the_last_are_kept_and_the_newest_of_a_recipe_is_found(void **state)
{
    const struct bz_digest key = {{1}};
    struct scratch *s = *state;
    struct bench b;
    char name[40];

    bench_open(&b, s);
    for (int i = 0; i < BZ_FAILED_MOST + 3; i++) {
        snprintf(name, sizeof(name), "r:do_%d", i);
        bz_failed_keep(s->path, bz_str_from(name), &key, b.desk);
        usleep(4000); /* the resolution of a file's time */
    }
    assert_false(bz_fs_exists(s->fd, "failed/r:do_0"));
    assert_false(bz_fs_exists(s->fd, "failed/r:do_2"));
    assert_true(bz_fs_exists(s->fd, "failed/r:do_3"));
    snprintf(name, sizeof(name), "do_%d", BZ_FAILED_MOST + 2);
    assert_true(
        bz_str_eq(bz_failed_last(s->path, BZ_STR("r"), &b.arena), bz_str_from(name)));
    assert_int_equal(bz_failed_last(s->path, BZ_STR("q"), &b.arena).n, 0);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
        TEST(what_a_task_left_is_found_by_its_signature),
        TEST(only_the_last_are_kept_and_the_newest_of_a_recipe_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
