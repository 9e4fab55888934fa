#include "os/fs_lock.h"

#include <pthread.h>
#include <sys/wait.h>

#include "os/clock.h"
#include "tests/unit/os/scratch.h"

#define PAST 1 /* an instant long ago: try once */

static int lock(const struct scratch *s, enum bz_fs_lock_kind kind, int64_t deadline,
                int *fd)
{
    struct bz_err err;

    return bz_fs_lock(s->fd, "lock", kind, deadline, fd, &err);
}

static void kinds_exclude_each_other_as_they_should(void **state)
{
    static const struct {
        enum bz_fs_lock_kind held, wanted;
        int rc;
    } cases[] = {
        {BZ_FS_LOCK_EXCLUSIVE, BZ_FS_LOCK_EXCLUSIVE, BZ_E_BUSY},
        {BZ_FS_LOCK_EXCLUSIVE, BZ_FS_LOCK_SHARED,    BZ_E_BUSY},
        {BZ_FS_LOCK_SHARED,    BZ_FS_LOCK_EXCLUSIVE, BZ_E_BUSY},
        {BZ_FS_LOCK_SHARED,    BZ_FS_LOCK_SHARED,    0        },
    };
    struct scratch *s = *state;

    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        int held = -1, second = -1;

        /* The same process, even the same thread: a second description is enough. */
        assert_int_equal(lock(s, cases[i].held, BZ_CLOCK_NEVER, &held), 0);
        assert_int_equal(lock(s, cases[i].wanted, PAST, &second), cases[i].rc);
        bz_fs_closep(&held);
        bz_fs_closep(&second);
        assert_int_equal(lock(s, cases[i].wanted, PAST, &second), 0);
        close(second);
    }
}

static void who_looks_can_tell_that_a_file_is_held(void **state)
{
    struct scratch *s = *state;
    struct bz_err err;
    int fd = openat(s->fd, "log", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    int again = openat(s->fd, "log", O_WRONLY | O_CLOEXEC);

    assert_false(bz_fs_lock_held(s->fd, "nothing"));
    assert_false(bz_fs_lock_held(s->fd, "log"));
    assert_ok(bz_fs_lock_fd(fd, &err), &err);
    assert_true(bz_fs_lock_held(s->fd, "log"));
    assert_int_equal(bz_fs_lock_fd(again, &err), BZ_E_BUSY);
    close(fd);
    assert_false(bz_fs_lock_held(s->fd, "log"));
    close(again);
}

static void the_deadline_ends_the_wait(void **state)
{
    struct scratch *s = *state;
    size_t before;
    int held, second = -1;
    int64_t deadline;

    assert_int_equal(lock(s, BZ_FS_LOCK_EXCLUSIVE, BZ_CLOCK_NEVER, &held), 0);
    before = count_fds();
    deadline = bz_clock_in(50 * BZ_CLOCK_MS);
    assert_int_equal(lock(s, BZ_FS_LOCK_SHARED, deadline, &second), BZ_E_BUSY);
    assert_true(bz_clock_now() >= deadline);
    assert_int_equal(count_fds(), before);
    close(held);
}

struct adder {
    const struct scratch *s;
    int64_t deadline;
    long *sum; /* plain: the lock is all that protects it */
    int failures;
};

static void *add_under_lock(void *arg)
{
    struct adder *a = arg;

    for (int i = 0; i < 50; i++) {
        int fd;

        if (lock(a->s, BZ_FS_LOCK_EXCLUSIVE, a->deadline, &fd) < 0) {
            a->failures++;
            continue;
        }
        /* The sanitizer knows no file locks, so these are atomic one by one; without
         * the lock around both, additions would still be lost. */
        long seen = __atomic_load_n(a->sum, __ATOMIC_RELAXED);

        sched_yield();
        __atomic_store_n(a->sum, seen + 1, __ATOMIC_RELAXED);
        close(fd);
    }
    return NULL;
}

static void threads_wait_for_each_other(void **state)
{
    long sum = 0;
    struct adder adders[4];
    pthread_t threads[4];
    int failures = 0;

    for (size_t i = 0; i < BZ_COUNTOF(adders); i++) {
        /* Both ways of waiting at once. */
        adders[i] = (struct adder){
            .s = *state,
            .sum = &sum,
            .deadline = i % 2 ? BZ_CLOCK_NEVER : bz_clock_in(60 * BZ_CLOCK_S),
        };
        assert_int_equal(pthread_create(&threads[i], NULL, add_under_lock, &adders[i]),
                         0);
    }
    for (size_t i = 0; i < BZ_COUNTOF(adders); i++) {
        pthread_join(threads[i], NULL);
        failures += adders[i].failures;
    }
    assert_int_equal(failures, 0);
    assert_int_equal(sum, 50 * BZ_COUNTOF(adders));
}

static void a_dead_holder_holds_nothing(void **state)
{
    struct scratch *s = *state;
    int ready[2], fd, status;
    char byte;
    pid_t pid;

    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    pid = fork();
    if (pid == 0) {
        if (lock(s, BZ_FS_LOCK_EXCLUSIVE, PAST, &fd) < 0 || write(ready[1], "x", 1) < 0)
            _exit(1);
        pause();
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(lock(s, BZ_FS_LOCK_EXCLUSIVE, PAST, &fd), BZ_E_BUSY);
    kill(pid, SIGKILL);
    assert_int_equal(lock(s, BZ_FS_LOCK_EXCLUSIVE, bz_clock_in(60 * BZ_CLOCK_S), &fd),
                     0);
    close(fd);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    close(ready[0]);
    close(ready[1]);
}

static void a_lock_that_cannot_be_opened_is_named(void **state)
{
    struct scratch *s = *state;
    struct bz_err err;
    int fd;

    assert_int_equal(
        bz_fs_lock(s->fd, "absent/lock", BZ_FS_LOCK_SHARED, PAST, &fd, &err),
        BZ_E_NOENT);
    assert_non_null(strstr(err.msg, "absent/lock"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(kinds_exclude_each_other_as_they_should),
        scratch_test(the_deadline_ends_the_wait),
        scratch_test(who_looks_can_tell_that_a_file_is_held),
        scratch_test(threads_wait_for_each_other),
        scratch_test(a_dead_holder_holds_nothing),
        scratch_test(a_lock_that_cannot_be_opened_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
