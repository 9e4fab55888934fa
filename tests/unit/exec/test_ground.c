#include "exec/ground.h"

#include "exec/job.h"
#include "os/clock.h"
#include "os/fs_lock.h"
#include "tests/unit/os/scratch.h"

static void there_is_always_a_root_and_a_tmp(void **state)
{
    struct bz_ground g;

    (void)state;
    bz_ground_usual(&g);
    assert_false(g.bare);
    assert_string_equal(g.root, BZ_JOB_ROOT);
    assert_string_equal(g.tmp, "/tmp");
    bz_ground_find(&g, NULL);
    assert_int_equal(g.root[0], '/');
    assert_int_equal(g.why.code, g.bare ? BZ_E_NOSUP : 0);
    bz_ground_bare(&g, "/tmp/x");
    assert_true(g.bare);
    assert_string_equal(g.root, "/tmp/x/root");
    assert_string_equal(g.tmp, "/tmp/x/tmp");
}

static void make_place(struct scratch *s, struct bz_ground *g)
{
    char top[300];

    snprintf(top, sizeof(top), "%s/top", s->path);
    bz_ground_bare(g, top);
}

static void it_is_ours_alone_and_one_at_a_time_has_it(void **state)
{
    struct scratch *s = *state;
    struct bz_ground g;
    struct bz_err err;
    struct stat st;
    int lock, other;

    make_place(s, &g);
    assert_ok(bz_ground_open(&g, NULL, &lock, &err), &err);
    assert_int_equal(fstatat(s->fd, "top", &st, 0), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(bz_fs_lock(s->fd, "top/lock", BZ_FS_LOCK_EXCLUSIVE, bz_clock_in(0),
                                &other, &err),
                     BZ_E_BUSY);
    make_dirs(s->fd, "top/root/a/b");
    make_dirs(s->fd, "top/tmp/x");
    put(s->fd, "top/task", "");
    bz_ground_clear(&g);
    assert_false(bz_fs_exists(s->fd, "top/root"));
    assert_false(bz_fs_exists(s->fd, "top/tmp"));
    assert_false(bz_fs_exists(s->fd, "top/task"));
    close(lock);
    assert_ok(bz_ground_open(&g, NULL, &lock, &err), &err);
    close(lock);
}

static void what_somebody_else_put_there_is_not_used(void **state)
{
    struct scratch *s = *state;
    struct bz_ground g;
    struct bz_err err;
    int lock;

    make_place(s, &g);
    make_dirs(s->fd, "elsewhere");
    assert_int_equal(symlinkat("elsewhere", s->fd, "top"), 0);
    assert_int_equal(bz_ground_open(&g, NULL, &lock, &err), BZ_E_INVAL);
    assert_non_null(strstr(err.msg, "top is not a directory of this user: remove it"));
    if (geteuid() != 0)
        return;
    assert_int_equal(unlinkat(s->fd, "top", 0), 0);
    make_dirs(s->fd, "top");
    assert_int_equal(fchownat(s->fd, "top", 1234, 1234, 0), 0);
    assert_int_equal(bz_ground_open(&g, NULL, &lock, &err), BZ_E_INVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
        TEST(there_is_always_a_root_and_a_tmp),
        TEST(it_is_ours_alone_and_one_at_a_time_has_it),
        TEST(what_somebody_else_put_there_is_not_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
