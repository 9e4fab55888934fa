#include "sandbox/landlock.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "base/buf.h"
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

    assert_int_equal(room_run(r, SOCKET("AF_INET", "SOCK_RAW")), 1);
    assert_int_equal(room_run(r, SOCKET("AF_NETLINK", "SOCK_RAW")), 1);
    assert_int_equal(room_run(r, SOCKET("AF_UNIX", "SOCK_STREAM")), 1);
    assert_int_equal(room_run(r, "python3 -c 'import socket; socket.socketpair()'"), 0);
    r->spec.network = true;
    assert_int_equal(room_run(r, SOCKET("AF_INET", "SOCK_STREAM")), 0);
    assert_int_equal(room_run(r, SOCKET("AF_UNIX", "SOCK_STREAM")), 1);
}

/* Runs Python that has what it was given for sockets; what was tried, and the error. */
static const char *try_python(struct room *r, const char *code)
{
    char script[700];

    snprintf(script, sizeof(script),
             "python3 -c 'from socket import *\nimport os\n"
             "t = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC)\n"
             "s = socket(AF_INET, SOCK_DGRAM)\nv = socket(AF_INET6, SOCK_DGRAM)\n"
             "try:\n    %s\nexcept OSError as e: print(e.errno)'",
             code);
    assert_int_equal(room_run(r, script), 0);
    return r->tried;
}

static void an_address_that_it_tries_to_reach_is_told(void **state)
{
    static const char said[] =
        "sandbox: tried to reach 192.0.2.1 port 80: there is no network here; "
        "[network] = \"1\" of the task allows it\n101\n";
    struct room *r = *state;

    assert_string_equal(try_python(r, "t.connect((\"192.0.2.1\", 80))"),
                        "192.0.2.1 port 80");
    assert_string_equal(r->out, said);
    assert_string_equal(try_python(r, "s.sendto(b\"x\", (\"192.0.2.2\", 9))"),
                        "192.0.2.2 port 9");
    assert_string_equal(
        try_python(r, "s.sendmsg([b\"x\"], [], 0, (\"192.0.2.3\", 65535))"),
        "192.0.2.3 port 65535");
    assert_string_equal(try_python(r, "v.sendto(b\"x\", (\"2001:db8::5\", 7))"),
                        "2001:db8::5 port 7");
    /* On a thread, and by a process that its parent has left. */
    assert_string_equal(
        try_python(r, "import threading; x = threading.Thread(target=t.connect_ex, "
                      "args=((\"192.0.2.6\", 6),)); x.start(); x.join()"),
        "192.0.2.6 port 6");
    assert_string_equal(try_python(r, "(p := os.fork()) and os.waitpid(p, 0) or "
                                      "t.connect((\"192.0.2.7\", 7))"),
                        "192.0.2.7 port 7");
    assert_string_equal(try_python(r, "gethostbyname(\"host.example\")"),
                        "a name server");
    assert_string_equal(try_python(r, "pass"), ""); /* it is not the last one's */
    r->spec.network = true;
    assert_string_equal(try_python(r, "s.sendto(b\"x\", (\"127.0.0.1\", 9))"), "");
    assert_string_equal(r->out, "");
}

/* What stands in for a socket reaches neither this machine nor anybody on it. */
static void what_it_has_for_sockets_reaches_nothing(void **state)
{
    static const struct {
        const char *code, *out;
    } rows[] = {
        {"t.connect((\"127.0.0.1\", %d))",                                         "111\n"       },
        {"s.sendto(b\"x\", (\"127.0.0.1\", %d))",                                  "111\n"       },
        {"v.connect((\"::1\", %d))",                                               "111\n"       },
        {"t.bind((\"127.0.0.1\", 0)) # %d",                                        "1\n"         },
        {"t.listen() # %d",                                                        "22\n"        },
        {"t.send(b\"x\") # %d",                                                    "32\n"        },
        {"print(t.recv(1)) # %d",                                                  "b''\n"       },
        {"socket(AF_UNIX, SOCK_STREAM, 0, t.detach()).connect(\"\\0bz-test-%d\")",
         "13\n"                                                                                  },
        {"socket(AF_UNIX, SOCK_STREAM, 0, t.detach()).sendto(b\"x\", "
         "\"\\0bz-test-%d\")",                                            "106\n"       },
        {"a, b = socketpair(); a.sendmsg([b\"%d\"]); print(len(b.recv(9)) > 1)",
         "True\n"                                                                                },
        {"print(t.get_inheritable(), %d > 0)",                                     "False True\n"},
    };
    struct room *r = *state;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(0x7f000001)}};
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    socklen_t n = sizeof(at);
    int tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int local = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(tcp, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(tcp, 1), 0);
    assert_int_equal(getsockname(tcp, (struct sockaddr *)&at, &n), 0);
    snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "bz-test-%d",
             ntohs(at.sin_port));
    assert_int_equal(bind(local, (struct sockaddr *)&name,
                          (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                                      strlen(name.sun_path + 1))),
                     0);
    assert_int_equal(listen(local, 1), 0);
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        BZ_CLEANUP(bz_buf_release) struct bz_buf code = {0};
        const char *mark = strstr(rows[i].code, "%d");

        bz_buf_add(&code, rows[i].code, (size_t)(mark - rows[i].code));
        bz_buf_addf(&code, "%d%s", ntohs(at.sin_port), mark + 2);
        assert_string_equal(try_python(r, bz_buf_text(&code)), "");
        assert_string_equal(r->out, rows[i].out);
    }
    close(tcp);
    close(local);
}

/* Only one of those around a program can be told of its calls; here somebody is
 * already. What this test does to its process lasts: it comes last. */
static void where_nobody_can_be_told_there_are_no_sockets(void **state)
{
    struct sock_filter all[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const struct sock_fprog prog = {1, all};
    struct room *r = *state;
    int listener;

    assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                            SECCOMP_FILTER_FLAG_NEW_LISTENER, &prog);
    if (listener < 0) /* so it is here anyway */
        print_message("already told: %s\n", strerror(errno));
    assert_int_equal(room_run(r, SOCKET("AF_INET", "SOCK_STREAM")), 1);
    assert_int_equal(room_run(r, SOCKET("AF_INET6", "SOCK_DGRAM")), 1);
    assert_script(r,
                  "python3 -c 'import socket; a, b = socket.socketpair(); "
                  "a.sendmsg([b\"x\"]); print(b.recv(1))'",
                  "b'x'\n");
    close(listener);
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
        TEST(an_address_that_it_tries_to_reach_is_told),
        TEST(what_it_has_for_sockets_reaches_nothing),
        TEST(processes_it_leaves_behind_are_killed),
        TEST(a_log_can_be_opened_anew_through_its_stream),
        TEST(older_kernels_are_told_what_they_know),
        TEST(where_nobody_can_be_told_there_are_no_sockets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
