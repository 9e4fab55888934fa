#include "sandbox/landlock.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "os/fs.h"
#include "tests/unit/sandbox/room.h"

static int setup(void **state)
{
    struct room *r = calloc(1, sizeof(*r));
    struct bz_err err;
    char path[128];

    *state = r;
    room_open_as(r, true);
    bz_host_add(&r->spec);
    room_path(r, "work/inner", path);
    assert_ok(bz_fs_mkdirs(AT_FDCWD, path, 0755, &err), &err);
    room_path(r, "layer", path);
    assert_ok(bz_fs_mkdirs(AT_FDCWD, path, 0755, &err), &err);
    room_add(r, BZ_SPEC_SHOW, "/layer", path);
    room_path(r, "layer/file", path);
    assert_ok(bz_fs_write(AT_FDCWD, path, "seen\n", 5, 0644, BZ_FS_NOSYNC, &err), &err);
    room_path(r, "secret", path);
    assert_ok(bz_fs_write(AT_FDCWD, path, "key\n", 4, 0644, BZ_FS_NOSYNC, &err), &err);
    room_path(r, "work", path);
    room_add(r, BZ_SPEC_WORK, "/work", path);
    r->spec.cwd = bz_arena_dup(&r->spec.arena, bz_str_from(path)).p;
    return 0;
}

static int teardown(void **state)
{
    room_close(*state);
    free(*state);
    return 0;
}

static void exit_status_and_signal_are_the_programs_own(void **state)
{
    struct room *r = *state;

    assert_int_equal(room_run(r, "exit 0"), 0);
    assert_int_equal(room_run(r, "exit 7"), 7);
    assert_int_equal(room_run(r, "kill -SEGV $$"), -SIGSEGV);
    assert_int_equal(room_run(r, "kill -TERM $$"), -SIGTERM);
}

static void work_can_be_done_and_what_is_shown_is_read(void **state)
{
    struct room *r = *state;

    assert_script(
        r,
        "set -e; echo a >a; mv a inner/b; ln inner/b c; ln -s c d; cat d; rm c; "
        "mkfifo p; cat ../layer/file; echo x >/dev/null; "
        "head -c1 /dev/zero | wc -c; umask; stat -c %a inner/b",
        "a\nseen\n1\n0022\n644\n");
}

static void nothing_else_is_read_or_written(void **state)
{
    static const char *const tries[] = {
        "cat ../secret",
        "ls ..",
        "ls /home",
        "ls /var",
        "cat /etc/shadow",
        "echo x >../new",
        "echo x >../layer/file",
        "rm ../layer/file",
        "mkdir ../layer/d",
        "ln ../secret s",
        "mv ../secret s",
        "truncate -s 0 ../secret",
        "echo x >/usr/new",
        "echo x >/tmp/bz-landlock-new",
        "cp /bin/true ../true",
        "mknod dev c 1 1",
        "cat /proc/1/environ",
        "unshare -U true",
        "chroot /",
    };
    struct room *r = *state;
    struct bz_err err;
    char path[128], *text;
    size_t n;

    for (size_t i = 0; i < BZ_COUNTOF(tries); i++)
        if (room_run(r, tries[i]) == 0)
            fail_msg("'%s' worked: %s", tries[i], r->out);
    room_path(r, "secret", path);
    assert_ok(bz_fs_read(AT_FDCWD, path, 100, &text, &n, &err), &err);
    assert_string_equal(text, "key\n");
    free(text);
}

static void it_has_no_powers_even_if_root_builds(void **state)
{
    struct room *r = *state;

    assert_script(
        r,
        "grep -c 'Cap\\(Prm\\|Eff\\|Inh\\).*0000000000000000' /proc/self/status; "
        "grep NoNewPrivs /proc/self/status",
        "3\nNoNewPrivs:\t1\n");
}

#define SOCKET(family, type)                                                           \
    "python3 -c 'import socket; socket.socket(socket." family ", socket." type ")' "   \
    "2>/dev/null"

static void there_are_no_sockets_but_pairs(void **state)
{
    struct room *r = *state;

    assert_int_equal(room_run(r, SOCKET("AF_INET", "SOCK_STREAM")), 1);
    assert_int_equal(room_run(r, SOCKET("AF_INET6", "SOCK_DGRAM")), 1);
    assert_int_equal(room_run(r, SOCKET("AF_NETLINK", "SOCK_RAW")), 1);
    assert_int_equal(room_run(r, SOCKET("AF_UNIX", "SOCK_STREAM")), 1);
    assert_int_equal(room_run(r, "python3 -c 'import socket; socket.socketpair()'"), 0);
    r->spec.network = true;
    assert_int_equal(room_run(r, SOCKET("AF_INET", "SOCK_STREAM")), 0);
    assert_int_equal(room_run(r, SOCKET("AF_UNIX", "SOCK_STREAM")), 1);
}

static void processes_it_leaves_behind_are_killed(void **state)
{
    struct room *r = *state;
    char path[128], *text;
    struct bz_err err;
    size_t n;

    assert_script(r,
                  "for i in 1 2 3; do setsid sh -c 'echo $$ >>pids; setsid sleep 50 & "
                  "exec sleep 50' & done >/dev/null 2>&1 </dev/null; "
                  "while test $(wc -l 2>/dev/null <pids || echo 0) -lt 3; do :; done",
                  "");
    room_path(r, "work/pids", path);
    assert_ok(bz_fs_read(AT_FDCWD, path, 100, &text, &n, &err), &err);
    for (char *at = text; *at;) {
        pid_t pid = (pid_t)strtol(at, &at, 10);

        at++;
        assert_true(kill(pid, 0) < 0);
    }
    free(text);
}

static void a_log_can_be_opened_anew_through_its_stream(void **state)
{
    struct room *r = *state;

    assert_script(r, "echo x >/dev/stderr", "x\n");
}

static void older_kernels_are_told_what_they_know(void **state)
{
    struct room *r = *state;
    const int none[3] = {-1, -1, -1};
    struct bz_err err;
    int abi, fd = -1;

    assert_ok(bz_landlock_find(&abi, &err), &err);
    assert_true(abi >= BZ_LANDLOCK_REFER);

    for (; abi >= BZ_LANDLOCK_REFER; abi--) {
        assert_ok(bz_landlock_make(&r->spec, abi, none, &fd, &err), &err);
        close(fd);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(exit_status_and_signal_are_the_programs_own),
        TEST(work_can_be_done_and_what_is_shown_is_read),
        TEST(nothing_else_is_read_or_written),
        TEST(it_has_no_powers_even_if_root_builds),
        TEST(there_are_no_sockets_but_pairs),
        TEST(processes_it_leaves_behind_are_killed),
        TEST(a_log_can_be_opened_anew_through_its_stream),
        TEST(older_kernels_are_told_what_they_know),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
