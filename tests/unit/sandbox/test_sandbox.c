#include "sandbox/sandbox.h"

#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "os/fs.h"
#include "tests/unit/sandbox/room.h"

static int setup(void **state)
{
    struct room *r = calloc(1, sizeof(*r));

    *state = r;
    room_open(r);
    bz_host_add(&r->spec);
    room_add(r, BZ_SPEC_TMPFS, "/tmp", "16m");
    return 0;
}

static int teardown(void **state)
{
    room_close(*state);
    free(*state);
    return 0;
}

static void work_dir(struct room *r, const char *name, const char *target)
{
    struct bz_err err;
    char path[128];

    room_path(r, name, path);
    assert_ok(bz_fs_mkdirs(AT_FDCWD, path, 0755, &err), &err);
    room_add(r, BZ_SPEC_WORK, target, path);
}

static void exit_status_and_signal_are_the_programs_own(void **state)
{
    struct room *r = *state;

    assert_int_equal(room_run(r, "exit 0"), 0);
    assert_int_equal(room_run(r, "exit 7"), 7);
    assert_int_equal(room_run(r, "kill -SEGV $$"), -SIGSEGV);
    assert_int_equal(room_run(r, "kill -TERM $$"), -SIGTERM);
}

static void a_program_that_is_not_there_is_named(void **state)
{
    struct room *r = *state;

    r->spec.entries.len = 0; /* nothing at all, not even a shell */
    assert_int_equal(room_run(r, "true"), 127);
    assert_string_equal(r->out, "sandbox: cannot run /bin/sh: error 2\n");
}

static void it_is_an_ordinary_user_on_another_machine(void **state)
{
    struct room *r = *state;

    assert_script(r, "id -un; id -u; id -g; hostname; pwd; umask",
                  "builder\n1000\n1000\nbitzel\n/\n0022\n");
}

static void it_can_be_root_and_own_files_but_not_the_machine(void **state)
{
    struct room *r = *state;

    r->spec.root = true;
    assert_script(r, "id -u; touch /tmp/f; chmod 000 /tmp/f; cat /tmp/f && echo read",
                  "0\nread\n");
    assert_int_not_equal(room_run(r, "mount -t tmpfs x /tmp"), 0);
    assert_int_not_equal(room_run(r, "hostname other"), 0);
}

static void only_what_the_spec_shows_can_be_seen(void **state)
{
    struct room *r = *state;
    char script[256];

    assert_script(r, "ls -A /home /root /etc/shadow /var/lib 2>/dev/null; echo end",
                  "end\n");
    snprintf(script, sizeof(script), "ls %s 2>/dev/null || echo none", r->dir);
    assert_script(r, script, "none\n");
}

static void nothing_but_work_can_be_written(void **state)
{
    struct room *r = *state;
    struct stat st;
    char path[128];

    work_dir(r, "w", "/work");
    assert_script(r,
                  "for d in / /usr /etc /dev /sys /run /proc/sys/kernel; do "
                  "touch $d/bz-x 2>/dev/null && echo wrote to $d; done; "
                  "echo >/etc/passwd; echo >/usr/bin/env; "
                  "echo data >/work/f; chmod 640 /work/f",
                  "/bin/sh: 1: cannot create /etc/passwd: Read-only file system\n"
                  "/bin/sh: 1: cannot create /usr/bin/env: Read-only file system\n");
    room_path(r, "w/f", path);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    assert_int_equal(st.st_uid, geteuid());
}

/* Root's files of the host belong to the task's user if root builds. */
static void the_kernel_and_devices_cannot_be_changed(void **state)
{
    struct room *r = *state;

    assert_script(
        r,
        "for f in sys/kernel/core_pattern sysrq-trigger self/oom_score_adj; do "
        "(: >>/proc/$f) 2>/dev/null && echo could write $f; done; "
        "chmod 666 /dev/null 2>/dev/null && echo could change; "
        "echo x >/dev/null && echo x >/dev/stdout",
        "x\n");
}

static void it_sees_no_process_but_its_own(void **state)
{
    struct room *r = *state;
    char script[128];

    assert_script(r, "echo /proc/[0-9]*", "/proc/1 /proc/2\n"); /* init and the shell */
    snprintf(script, sizeof(script), "kill -0 %d 2>/dev/null || echo no such",
             (int)getpid());
    assert_script(r, script, "no such\n");
}

static void processes_it_leaves_behind_die_with_it(void **state)
{
    struct room *r = *state;
    char path[128];

    work_dir(r, "w", "/work");
    room_path(r, "w/alive", path);
    assert_script(r,
                  "(setsid sh -c 'sleep 0.3; touch /work/alive' </dev/null "
                  ">/dev/null 2>&1 &) ; echo gone",
                  "gone\n");
    usleep(600 * 1000);
    assert_false(bz_fs_exists(AT_FDCWD, path));
}

static void there_is_no_network_but_a_loopback(void **state)
{
    struct room *r = *state;
    const struct sockaddr_un name = {AF_UNIX, "\0bz-test-outside"};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(fd, (const struct sockaddr *)&name, sizeof(name)), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_script(r, "cut -d: -f1 /proc/net/dev | tail -n +3 | tr -d ' '", "lo\n");
    assert_script(r, "grep -c outside /proc/net/unix || echo none", "0\nnone\n");
    close(fd);
    r->spec.network = true;
    assert_int_equal(room_run(r, "test -r /proc/net/dev"), 0);
}

/* Runs Python that has a socket `s` for UDP and one for TCP, `t`; what was tried. */
static const char *try_python(struct room *r, const char *code)
{
    char script[512];

    snprintf(script, sizeof(script),
             "python3 -c 'from socket import *\ns = socket(AF_INET, SOCK_DGRAM)\n"
             "t = socket()\nt.settimeout(1)\nv = socket(AF_INET6, SOCK_DGRAM)\n"
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
    assert_string_equal(r->out, said); /* ENETUNREACH, from the kernel */
    assert_string_equal(try_python(r, "s.sendto(b\"x\", (\"192.0.2.2\", 9))"),
                        "192.0.2.2 port 9");
    assert_string_equal(
        try_python(r, "s.sendmsg([b\"x\"], [], 0, (\"192.0.2.3\", 65535))"),
        "192.0.2.3 port 65535");
    assert_string_equal(try_python(r, "v.sendto(b\"x\", (\"2001:db8::5\", 7))"),
                        "2001:db8::5 port 7");
    assert_non_null(strstr(r->out, "tried to reach 2001:db8:0:0:0:0:0:5 port 7:"));
    assert_string_equal(try_python(r, "gethostbyname(\"host.example\")"),
                        "a name server");
}

static void what_stays_inside_or_is_allowed_is_not(void **state)
{
    struct room *r = *state;

    assert_string_equal(try_python(r, "t.connect((\"127.0.0.1\", 80))"), "");
    assert_string_equal(r->out, "111\n"); /* ECONNREFUSED */
    assert_string_equal(try_python(r, "v.sendto(b\"x\", (\"::1\", 80))"), "");
    assert_string_equal(try_python(r, "v.sendto(b\"x\", (\"::ffff:127.0.0.2\", 8))"),
                        "");
    assert_string_equal(try_python(r, "socket(AF_UNIX).connect(\"/tmp/none\")"), "");
    assert_string_equal(r->out, "2\n");
    r->spec.network = true;
    assert_string_equal(try_python(r, "s.sendto(b\"x\", (\"127.0.0.1\", 9))"), "");
}

static void only_the_first_addresses_are_told(void **state)
{
    struct room *r = *state;
    unsigned lines = 0;

    (void)try_python(r, "[s.connect_ex((\"192.0.2.%d\" % (i // 2 + 1), 1)) "
                        "for i in range(200)]");
    assert_string_equal(r->tried, "192.0.2.1 port 1");
    for (const char *p = r->out; *p; p++)
        lines += *p == '\n';
    assert_int_equal(lines, 8);
}

static void what_init_has_open_is_closed_to_the_task(void **state)
{
    struct room *r = *state;

    assert_script(r,
                  "readlink /proc/1/fd/3 || echo no; (echo x >/proc/1/fd/4) 2>&-  || "
                  "echo no; readlink /proc/self/fd/1 >&-; readlink /proc/1/exe || "
                  "echo no",
                  "no\nno\nno\n");
}

static int open_lock(struct room *r, struct bz_spec *spec)
{
    struct bz_err err;
    char path[128];
    int fd;

    room_path(r, "lock", path);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    if (spec)
        assert_ok(bz_spec_lock(spec, fd, &err), &err);
    return fd;
}

static void give_up_lock(struct room *r)
{
    while (r->spec.locks.len > 0)
        close(r->spec.locks.at[--r->spec.locks.len]);
}

static void it_holds_its_lock_files_and_waits_for_them(void **state)
{
    struct room *r = *state;
    char script[512];
    int fd = open_lock(r, NULL);

    work_dir(r, "w", "/work");
    (void)open_lock(r, &r->spec);
    assert_script(r, "ls /proc/self/fd | tr '\\n' ' '", "0 1 2 3 ");
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), -1); /* we hold it, too */
    give_up_lock(r);
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
    snprintf(script, sizeof(script), "sleep 0.2; touch %s/w/free", r->dir);
    if (fork() == 0) /* it has the lock as long as we have not closed it */
        _exit(system(script) != 0); /* NOLINT(cert-env33-c): a script of ours */
    close(fd);
    (void)open_lock(r, &r->spec);
    assert_script(r, "test -e /work/free && echo free",
                  "sandbox: waiting for another task to give up a lock file\nfree\n");
    give_up_lock(r);
    wait(NULL);
}

static void system_calls_of_administrators_are_refused(void **state)
{
    struct room *r = *state;

    assert_int_not_equal(room_run(r, "unshare --user true"), 0);
    assert_int_not_equal(room_run(r, "unshare --mount true"), 0);
    assert_script(r,
                  "grep -c '^NoNewPrivs:.1' /proc/self/status; "
                  "grep '^Seccomp:' /proc/self/status; grep Cap /proc/self/status | "
                  "grep -vc ':.0000000000000000'; true",
                  "1\nSeccomp:\t2\n0\n");
}

/* Two layers, each with a file that both have and one that only it has. */
static void make_layers(struct room *r, char dir[4][128], char link[128])
{
    static const char *const names[] = {"low0", "low1", "upper", "work"};
    struct bz_err err;
    char file[640];

    for (int i = 0; i < 4; i++) {
        room_path(r, names[i], dir[i]);
        assert_ok(bz_fs_mkdirs(AT_FDCWD, dir[i], 0755, &err), &err);
    }
    room_path(r, "links", link);
    assert_ok(bz_fs_mkdirs(AT_FDCWD, link, 0755, &err), &err);
    for (int i = 0; i < 2; i++) {
        snprintf(file, sizeof(file), "%s/%d", link, i);
        assert_int_equal(symlink(dir[i], file), 0);
        snprintf(file, sizeof(file), "%s/both", dir[i]);
        assert_ok(bz_fs_write(AT_FDCWD, file, i ? "1" : "0", 1, 0644, 0, &err), &err);
        snprintf(file, sizeof(file), "%s/only%d", dir[i], i);
        assert_ok(bz_fs_write(AT_FDCWD, file, "x", 1, 0644, 0, &err), &err);
    }
}

static void layers_lie_on_each_other_and_the_upper_one_is_the_output(void **state)
{
    struct room *r = *state;
    struct bz_err err;
    char dir[4][128], link[128], file[640];
    struct stat st;

    make_layers(r, dir, link);
    assert_ok(bz_spec_overlay(&r->spec, "/bitzel",
                              &(struct bz_spec_layers){link, 2, dir[2], dir[3]}, &err),
              &err);
    assert_script(r, "cd /bitzel; ls; cat both; rm only1; echo new >made",
                  "both\nonly0\nonly1\n0");
    snprintf(file, sizeof(file), "%s/made", dir[2]);
    assert_int_equal(stat(file, &st), 0);
    snprintf(file, sizeof(file), "%s/only1", dir[2]);
    assert_int_equal(lstat(file, &st), 0); /* what was deleted is kept as a whiteout */
    assert_true(S_ISCHR(st.st_mode) && st.st_rdev == 0);
    snprintf(file, sizeof(file), "%s/only1", dir[1]);
    assert_int_equal(stat(file, &st), 0);
}

static void a_link_in_a_layer_leads_no_mount_to_the_host(void **state)
{
    struct room *r = *state;
    struct bz_proc_spec io = {.out.kind = BZ_PROC_NULL, .err.kind = BZ_PROC_NULL};
    struct bz_sandbox_child child;
    struct bz_err err;
    char path[128];

    work_dir(r, "w", "/work");
    room_path(r, "w/trap", path);
    assert_int_equal(symlink("/etc", path), 0);
    room_add(r, BZ_SPEC_TMPFS, "/work/trap/inside", "1m");
    bz_spec_arg(&r->spec, "/bin/true");
    assert_int_equal(bz_sandbox_start(r->sb, &r->spec, &io, &child, &err), BZ_E_IO);
    assert_non_null(strstr(err.msg, "sandbox: make the place /work/trap/inside"));
}

static void what_cannot_be_set_up_is_named(void **state)
{
    struct room *r = *state;
    struct bz_proc_spec io = {.out.kind = BZ_PROC_NULL, .err.kind = BZ_PROC_NULL};
    struct bz_sandbox_child child;
    struct bz_err err;

    bz_spec_arg(&r->spec, "/bin/true");
    r->spec.cwd = "/no/such";
    assert_int_equal(bz_sandbox_start(r->sb, &r->spec, &io, &child, &err), BZ_E_NOENT);
    assert_string_equal(err.msg,
                        "sandbox: change to /no/such: No such file or directory");
    r->spec.cwd = NULL;
    room_add(r, BZ_SPEC_SHOW, "/data", "/no/such/source");
    assert_int_equal(bz_sandbox_start(r->sb, &r->spec, &io, &child, &err), BZ_E_NOENT);
    assert_string_equal(err.msg, "sandbox: set up /data: No such file or directory");
}

static void limits_and_environment_are_the_specs(void **state)
{
    struct room *r = *state;

    bz_spec_env(&r->spec, "PATH=/usr/bin:/bin");
    bz_spec_env(&r->spec, "ONLY=this");
    bz_spec_limit(&r->spec, RLIMIT_NOFILE, 33, 44);
    bz_spec_limit(&r->spec, RLIMIT_DATA, 1 << 30, RLIM_INFINITY);
    r->spec.umask = 027;
    assert_script(
        r,
        "env | grep -v '^PWD=\\|^_=' | sort; ulimit -n; ulimit -Hn; ulimit -d; umask",
        "ONLY=this\nPATH=/usr/bin:/bin\n33\n44\n1048576\n0027\n");
}

static void no_descriptor_of_ours_is_open_in_it(void **state)
{
    struct room *r = *state;
    int extra = open("/dev/null", O_RDONLY); /* not closed on exec */

    assert_script(r, "ls /proc/self/fd | tr '\\n' ' '", "0 1 2 3 "); /* 3 is of ls */
    close(extra);
}

static void its_own_tmp_is_bounded(void **state)
{
    struct room *r = *state;

    assert_int_not_equal(
        room_run(r, "dd if=/dev/zero of=/tmp/big bs=1M count=20 2>/dev/null"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(exit_status_and_signal_are_the_programs_own),
        TEST(a_program_that_is_not_there_is_named),
        TEST(it_is_an_ordinary_user_on_another_machine),
        TEST(it_can_be_root_and_own_files_but_not_the_machine),
        TEST(only_what_the_spec_shows_can_be_seen),
        TEST(nothing_but_work_can_be_written),
        TEST(the_kernel_and_devices_cannot_be_changed),
        TEST(it_sees_no_process_but_its_own),
        TEST(processes_it_leaves_behind_die_with_it),
        TEST(there_is_no_network_but_a_loopback),
        TEST(an_address_that_it_tries_to_reach_is_told),
        TEST(what_stays_inside_or_is_allowed_is_not),
        TEST(only_the_first_addresses_are_told),
        TEST(what_init_has_open_is_closed_to_the_task),
        TEST(it_holds_its_lock_files_and_waits_for_them),
        TEST(system_calls_of_administrators_are_refused),
        TEST(layers_lie_on_each_other_and_the_upper_one_is_the_output),
        TEST(a_link_in_a_layer_leads_no_mount_to_the_host),
        TEST(what_cannot_be_set_up_is_named),
        TEST(limits_and_environment_are_the_specs),
        TEST(no_descriptor_of_ours_is_open_in_it),
        TEST(its_own_tmp_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
