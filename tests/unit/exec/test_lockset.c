#include "exec/lockset.h"

#include <sys/file.h>
#include <unistd.h>

#include "os/fs.h"
#include "tests/unit/os/scratch.h"

static bool is_free(struct scratch *s, const char *name)
{
    int fd = openat(s->fd, name, O_RDWR | O_CLOEXEC);
    bool free = flock(fd, LOCK_EX | LOCK_NB) == 0;

    assert_true(fd >= 0);
    close(fd);
    return free;
}

/* a, and b by two names. */
static void open_set(struct scratch *s, struct bz_lockset *set)
{
    char a[300], b[300], other[300];
    const char *const paths[] = {b, a, other, a};
    struct bz_err err;

    snprintf(a, sizeof(a), "%s/new/a", s->path);
    snprintf(b, sizeof(b), "%s/b", s->path);
    snprintf(other, sizeof(other), "%s/other", s->path);
    assert_ok(bz_fs_write(AT_FDCWD, b, "", 0, 0644, BZ_FS_NOSYNC, &err), &err);
    if (!bz_fs_exists(AT_FDCWD, other))
        assert_int_equal(link(b, other), 0);
    assert_ok(bz_lockset_open(set, paths, BZ_COUNTOF(paths), &err), &err);
}

static void each_file_is_locked_once_until_it_is_released(void **state)
{
    struct scratch *s = *state;
    struct bz_lockset set = {0};
    struct bz_cancel cancel;
    struct bz_err err;

    bz_cancel_init(&cancel, NULL, 0);
    open_set(s, &set);
    assert_int_equal(set.files.len, 2);
    assert_true(is_free(s, "new/a") && is_free(s, "b"));
    assert_ok(bz_lockset_take(&set, STDERR_FILENO, &cancel, &err), &err);
    assert_ok(bz_lockset_take(&set, STDERR_FILENO, &cancel, &err), &err);
    assert_false(is_free(s, "new/a") || is_free(s, "b"));
    bz_lockset_release(&set);
    assert_true(is_free(s, "new/a") && is_free(s, "b"));
}

static void what_is_free_can_be_had_at_once(void **state)
{
    struct scratch *s = *state;
    struct bz_lockset set = {0}, other = {0};

    open_set(s, &set);
    open_set(s, &other);
    assert_true(bz_lockset_try(&set));
    assert_false(bz_lockset_try(&other));
    bz_lockset_release(&set);
    assert_true(bz_lockset_try(&other));
    bz_lockset_release(&other);
}

static void what_a_sandbox_gets_stays_locked(void **state)
{
    struct scratch *s = *state;
    struct bz_lockset set = {0};
    struct bz_cancel cancel;
    struct bz_spec spec;
    struct bz_err err;

    bz_cancel_init(&cancel, NULL, 0);
    bz_spec_init(&spec);
    open_set(s, &set);
    assert_ok(bz_lockset_take(&set, STDERR_FILENO, &cancel, &err), &err);
    assert_ok(bz_lockset_give(&set, &spec, &err), &err);
    bz_lockset_release(&set);
    assert_int_equal(spec.locks.len, 2);
    assert_false(is_free(s, "new/a") || is_free(s, "b"));
    bz_spec_release(&spec);
    assert_true(is_free(s, "new/a") && is_free(s, "b"));
}

static void waiting_ends_when_it_is_cancelled(void **state)
{
    struct scratch *s = *state;
    struct bz_lockset first = {0}, second = {0};
    struct bz_cancel cancel;
    struct bz_err err;
    char text[100] = "";
    int pipes[2];

    bz_cancel_init(&cancel, NULL, 0);
    open_set(s, &first);
    open_set(s, &second);
    assert_ok(bz_lockset_take(&first, STDERR_FILENO, &cancel, &err), &err);
    assert_int_equal(pipe(pipes), 0);
    bz_cancel_now(&cancel);
    assert_int_equal(bz_lockset_take(&second, pipes[1], &cancel, &err), BZ_E_CANCELED);
    bz_cancel_init(&cancel, NULL, 0);
    bz_lockset_release(&first);
    assert_ok(bz_lockset_take(&second, pipes[1], &cancel, &err), &err);
    close(pipes[1]);
    assert_int_equal(read(pipes[0], text, sizeof(text)), 0); /* it did not wait */
    close(pipes[0]);
    bz_lockset_release(&second);
}

static void a_file_that_cannot_be_opened_is_named(void **state)
{
    const char *const paths[] = {"/dev/null/lock"};
    struct bz_lockset set = {0};
    struct bz_err err;

    (void)state;
    assert_true(bz_lockset_open(&set, paths, 1, &err) < 0);
    assert_non_null(strstr(err.msg, "/dev/null"));
    bz_lockset_release(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
        TEST(each_file_is_locked_once_until_it_is_released),
        TEST(what_is_free_can_be_had_at_once),
        TEST(what_a_sandbox_gets_stays_locked),
        TEST(waiting_ends_when_it_is_cancelled),
        cmocka_unit_test(a_file_that_cannot_be_opened_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
