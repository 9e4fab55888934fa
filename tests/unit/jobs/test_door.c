#include "jobs/door.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "tests/unit/os/scratch.h"

#define CLOSED ((struct bz_door){.listen = -1, .lock = -1})

static const char *path_in(const struct scratch *s, char path[static 300])
{
    snprintf(path, 300, "%s/run/socket", s->path);
    return path;
}

static int dial(const char *path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
    if (connect(fd, (const struct sockaddr *)&at, sizeof(at)) == 0)
        return fd;
    close(fd);
    return -1;
}

static void one_server_is_at_a_path_and_one_that_is_gone_is_none(void **state)
{
    struct bz_door one = CLOSED, two = CLOSED;
    char path[300];
    struct bz_err err;

    assert_ok(bz_door_open(&one, path_in(*state, path), false, &err), &err);
    /* Before it listens nobody could tell by asking. */
    assert_int_equal(bz_door_open(&two, path, false, &err), BZ_E_EXISTS);
    bz_door_close(&two);
    assert_int_equal(access(path, F_OK), 0);
    /* As if it were killed: the socket stays, the lock does not. */
    bz_fs_closep(&one.listen);
    bz_fs_closep(&one.lock);
    free(one.path);
    assert_ok(bz_door_open(&two, path, false, &err), &err);
    assert_int_equal(listen(two.listen, 1), 0);
    one.listen = dial(path);
    assert_true(one.listen >= 0);
    close(one.listen);
    bz_door_close(&two);
    assert_int_not_equal(access(path, F_OK), 0);
}

static void what_somebody_else_has_put_there_stays(void **state)
{
    struct scratch *s = *state;
    struct bz_door d = CLOSED;
    char path[300];
    struct bz_err err;

    assert_ok(bz_door_open(&d, path_in(s, path), false, &err), &err);
    assert_int_equal(unlinkat(s->fd, "run/socket", 0), 0);
    put(s->fd, "run/socket", "else");
    bz_door_close(&d);
    assert_int_equal(access(path, F_OK), 0);
}

static void a_lock_that_the_caller_has_is_not_asked_for(void **state)
{
    struct bz_door one = CLOSED, two = CLOSED;
    char path[300];
    struct bz_err err;

    assert_ok(bz_door_open(&one, path_in(*state, path), true, &err), &err);
    assert_int_equal(one.lock, -1);
    assert_int_equal(listen(one.listen, 1), 0);
    assert_int_equal(bz_door_open(&two, path, true, &err), BZ_E_EXISTS);
    bz_door_close(&two);
    bz_door_close(&one);
}

/* Tries to connect as a user, and says what became of it: 0 friend, 1 no friend, 2 not
 * even let near. */
static int try_as(struct bz_door *d, const char *path, uid_t user)
{
    pid_t child = fork();
    int how = 0, fd;
    bool friend;

    if (child == 0) {
        char byte;

        if (setresuid(user, user, user) < 0)
            _exit(3);
        fd = dial(path);
        _exit(fd < 0 ? 2 : read(fd, &byte, 1) == 1 ? 0 : 1);
    }
    while ((fd = accept(d->listen, NULL, NULL)) < 0 &&
           waitpid(child, &how, WNOHANG) == 0)
        usleep(1000);
    if (fd < 0)
        return WEXITSTATUS(how);
    friend = bz_door_is_friend(fd);
    if (friend)
        assert_int_equal(write(fd, "x", 1), 1);
    close(fd);
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(WEXITSTATUS(how), friend ? 0 : 1);
    return WEXITSTATUS(how);
}

static void others_are_no_friends(void **state)
{
    struct scratch *s = *state;
    struct bz_door d = CLOSED;
    char path[300];
    struct bz_err err;

    assert_ok(bz_door_open(&d, path_in(s, path), false, &err), &err);
    assert_int_equal(listen(d.listen, 8), 0);
    assert_int_equal(try_as(&d, path, geteuid()), 0);
    if (geteuid() == 0) { /* only root can be somebody else */
        assert_int_equal(try_as(&d, path, 65534), 2);
        /* Even if the directories let everybody in. */
        assert_int_equal(fchmod(s->fd, 0755), 0);
        assert_int_equal(fchmodat(s->fd, "run", 0755, 0), 0);
        assert_int_equal(fchmodat(s->fd, "run/socket", 0777, 0), 0);
        assert_int_equal(try_as(&d, path, 65534), 1);
    }
    bz_door_close(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
        TEST(one_server_is_at_a_path_and_one_that_is_gone_is_none),
        TEST(what_somebody_else_has_put_there_stays),
        TEST(a_lock_that_the_caller_has_is_not_asked_for),
        TEST(others_are_no_friends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
