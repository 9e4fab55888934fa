#include "os/proc.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "tests/unit/os/scratch.h"

#define SH(script) ((const char *const[]){"/bin/sh", "-c", (script), NULL})

/* Runs a child to its end and returns what it wrote to stdout. */
static char *output_of(const struct bz_proc_spec *spec, int *status)
{
    struct bz_proc p;
    struct bz_err err;
    size_t n = 0, cap = 1 << 16;
    char *text = calloc(1, cap);

    assert_ok(bz_proc_spawn(spec, &p, &err), &err);
    for (;;) {
        struct pollfd wait = {.fd = p.out, .events = POLLIN};
        ssize_t got;

        poll(&wait, 1, -1);
        got = read(p.out, text + n, cap - n - 1);
        assert_true(got >= 0);
        if (got == 0)
            break;
        n += (size_t)got;
    }
    bz_proc_reap(&p, status, NULL);
    return text;
}

static void assert_output(const struct bz_proc_spec *spec, const char *want)
{
    int status;
    char *text = output_of(spec, &status);

    assert_string_equal(text, want);
    assert_int_equal(status, 0);
    free(text);
}

static void standard_streams_go_where_they_are_told(void **state)
{
    struct scratch *s = *state;
    struct bz_proc_spec merged = {
        .argv = SH("echo out; echo err >&2"),
        .err.kind = BZ_PROC_MERGE,
    };
    struct bz_proc_spec no_err = {
        .argv = SH("echo out; echo err >&2"),
        .err.kind = BZ_PROC_NULL,
    };
    struct bz_proc_spec bytes = {
        .argv = SH("cat; cat"),
        .in = {.kind = BZ_PROC_IN_BYTES, .bytes = BZ_STR("fed")},
    };
    struct bz_proc_spec nothing = {.argv = SH("cat; echo end")};
    struct bz_proc_spec file = {.argv = SH("cat"), .in.kind = BZ_PROC_IN_FD};

    assert_output(&merged, "out\nerr\n");
    assert_output(&no_err, "out\n");
    assert_output(&bytes, "fed");
    assert_output(&nothing, "end\n");
    put(s->fd, "in", "from a file");
    file.in.fd = openat(s->fd, "in", O_RDONLY | O_CLOEXEC);
    assert_output(&file, "from a file");
    close(file.in.fd);
}

static void output_can_go_to_a_file(void **state)
{
    struct scratch *s = *state;
    int fd = openat(s->fd, "log", O_RDWR | O_CREAT | O_CLOEXEC, 0644), status;
    struct bz_proc_spec spec = {
        .argv = SH("echo out; echo err >&2"),
        .out = {.kind = BZ_PROC_FD, .fd = fd},
        .err.kind = BZ_PROC_MERGE,
    };
    struct bz_proc p;
    struct bz_err err;
    char text[32] = "";

    assert_ok(bz_proc_spawn(&spec, &p, &err), &err);
    assert_int_equal(p.out, -1);
    bz_proc_reap(&p, &status, NULL);
    assert_int_equal(pread(fd, text, sizeof(text) - 1, 0), 8);
    assert_string_equal(text, "out\nerr\n");
    close(fd);
}

static void a_child_has_only_the_standard_descriptors(void **state)
{
    int leak = dup(0); /* as a careless library would leave it */
    /* The shell's own descriptor for reading the directory does not appear: it is
     * ls that reads. */
    struct bz_proc_spec spec = {.argv = SH("exec ls /proc/self/fd")};

    (void)state;
    assert_true(leak >= 3);
    assert_output(&spec, "0\n1\n2\n3\n"); /* 3 is the directory ls reads */
    close(leak);
}

static void standard_descriptors_that_are_closed_do_no_harm(void **state)
{
    struct bz_proc_spec spec = {
        .argv = SH("cat; echo out; echo err >&2"),
        .in = {.kind = BZ_PROC_IN_BYTES, .bytes = BZ_STR("in ")},
        .err.kind = BZ_PROC_MERGE,
    };
    int saved = dup(0), status;
    char *text;

    (void)state;
    close(0); /* the next descriptor that is opened is number 0 */
    text = output_of(&spec, &status);
    dup2(saved, 0);
    close(saved);
    assert_string_equal(text, "in out\nerr\n");
    free(text);
}

static void streams_can_be_exchanged(void **state)
{
    struct scratch *s = *state;
    int one = dup(1), two = dup(2), status;
    int a = openat(s->fd, "a", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    int b = openat(s->fd, "b", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    struct bz_proc_spec spec = {
        .argv = SH("echo out; echo err >&2"),
        .out = {.kind = BZ_PROC_FD, .fd = 2},
        .err = {.kind = BZ_PROC_FD, .fd = 1},
    };
    char text[8] = "";
    struct bz_proc p;
    struct bz_err err;
    int rc;

    dup2(a, 1);
    dup2(b, 2);
    rc = bz_proc_spawn(&spec, &p, &err);
    dup2(one, 1);
    dup2(two, 2);
    assert_ok(rc, &err);
    bz_proc_reap(&p, &status, NULL);
    assert_int_equal(pread(a, text, sizeof(text), 0), 4);
    assert_memory_equal(text, "err\n", 4);
    assert_int_equal(pread(b, text, sizeof(text), 0), 4);
    assert_memory_equal(text, "out\n", 4);
    close(a);
    close(b);
    close(one);
    close(two);
}

static void directory_and_environment_are_the_given_ones(void **state)
{
    struct scratch *s = *state;
    const char *const env[] = {"A=1", "PATH=/usr/bin:/bin", NULL};
    const char *const none[] = {NULL};
    struct bz_proc_spec where = {.argv = SH("pwd -P"), .cwd = s->path};
    struct bz_proc_spec with = {
        .argv = (const char *const[]){"env", NULL},
            .env = env
    };
    struct bz_proc_spec without = {
        .argv = (const char *const[]){"env", NULL},
            .env = none
    };
    struct bz_proc_spec relative = {
        .argv = (const char *const[]){"./tool", NULL},
            .cwd = s->path
    };
    char *real = realpath(s->path, NULL), want[300];

    snprintf(want, sizeof(want), "%s\n", real);
    assert_output(&where, want);
    assert_output(&with, "A=1\nPATH=/usr/bin:/bin\n");
    assert_output(&without, "");
    put(s->fd, "tool", "#!/bin/sh\necho tool\n");
    assert_int_equal(fchmodat(s->fd, "tool", 0755, 0), 0);
    assert_output(&relative, "tool\n");
    free(real);
}

static void the_path_that_counts_is_the_childs(void **state)
{
    struct scratch *s = *state;
    char path[900];
    const char *env[] = {path, NULL};
    struct bz_proc_spec spec = {
        .argv = (const char *const[]){"own-tool", NULL},
        .env = env,
    };
    struct bz_proc p;
    struct bz_err err;

    make_dirs(s->fd, "dir/own-tool"); /* a directory is no program */
    make_dirs(s->fd, "text");
    make_dirs(s->fd, "bin");
    put(s->fd, "text/own-tool", "not executable");
    put(s->fd, "bin/own-tool", "#!/bin/sh\necho found\n");
    assert_int_equal(fchmodat(s->fd, "bin/own-tool", 0755, 0), 0);
    snprintf(path, sizeof(path), "PATH=:rel:%s/dir:%s/text:%s/bin", s->path, s->path,
             s->path);
    assert_output(&spec, "found\n");
    snprintf(path, sizeof(path), "PATH=bin");
    assert_int_equal(bz_proc_spawn(&spec, &p, &err), BZ_E_NOENT);
}

static void what_cannot_be_started_is_named(void **state)
{
    struct scratch *s = *state;
    size_t before = count_fds();
    char script[300], plain[300];
    const struct {
        const char *program, *cwd, *says;
        int rc, sys;
    } cases[] = {
        {"no-such-tool",  NULL,      "no-such-tool",  BZ_E_NOENT, ENOENT },
        {"/no/such/tool", NULL,      "/no/such/tool", BZ_E_NOENT, ENOENT },
        {"",              NULL,      "run ''",        BZ_E_NOENT, ENOENT },
        {plain,           NULL,      "plain",         BZ_E_IO,    EACCES },
        {script,          NULL,      "interpreter",   BZ_E_NOENT, ENOENT },
        {"/bin/sh",       "/absent", "/absent",       BZ_E_NOENT, ENOENT },
        {"/bin/sh",       plain,     "plain",         BZ_E_IO,    ENOTDIR},
        {s->path,         NULL,      "bz-test",       BZ_E_IO,    EACCES },
    };

    snprintf(script, sizeof(script), "%s/script", s->path);
    snprintf(plain, sizeof(plain), "%s/plain", s->path);
    put(s->fd, "plain", "text");
    put(s->fd, "script", "#!/no/such/interpreter\n");
    assert_int_equal(fchmodat(s->fd, "script", 0755, 0), 0);
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_proc_spec spec = {
            .argv = (const char *const[]){cases[i].program, NULL},
            .cwd = cases[i].cwd,
        };
        struct bz_err err = {0};
        struct bz_proc p;
        int rc = bz_proc_spawn(&spec, &p, &err);

        if (rc != cases[i].rc || err.sys != cases[i].sys ||
            !strstr(err.msg, cases[i].says))
            fail_msg("'%s': %d %d %s", cases[i].program, rc, err.sys, err.msg);
    }
    assert_int_equal(count_fds(), before);
    assert_int_equal(waitpid(-1, NULL, WNOHANG),
                     -1); /* no child, not even a dead one */
}

static void signals_are_as_in_a_fresh_process(void **state)
{
    struct bz_proc_spec spec = {.argv = SH("exec cat /proc/self/status")};
    static const char *const fields[] = {"SigBlk:", "SigIgn:", "SigCgt:"};
    /* The C library keeps 32 and 33 for itself and has a child ignore them until its
     * own C library needs them. */
    const unsigned long long ours = ~(3ULL << 31);
    sigset_t usr1;
    char *text;
    int status;

    (void)state;
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(sigprocmask(SIG_BLOCK, &usr1, NULL), 0);
    text = output_of(&spec, &status);
    assert_int_equal(sigprocmask(SIG_UNBLOCK, &usr1, NULL), 0);
    signal(SIGPIPE, SIG_DFL);
    for (size_t i = 0; i < BZ_COUNTOF(fields); i++) {
        const char *at = strstr(text, fields[i]);

        assert_non_null(at);
        assert_int_equal(strtoull(at + strlen(fields[i]), NULL, 16) & ours, 0);
    }
    free(text);
}

static void groups_and_sessions_are_as_told(void **state)
{
    /* Fields 1, 5 and 6 of stat: process, group, session. */
    const char *const *argv = SH("read p n s pp g sid rest < /proc/self/stat; "
                                 "echo $p $g $sid");
    static const struct {
        enum bz_proc_group group;
        bool own_group, own_session;
    } cases[] = {
        {BZ_PROC_OWN_GROUP,   true,  false},
        {BZ_PROC_OWN_SESSION, true,  true },
        {BZ_PROC_OUR_GROUP,   false, false},
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++) {
        struct bz_proc_spec spec = {.argv = argv, .group = cases[i].group};
        int pid, group, session, status;
        char *text = output_of(&spec, &status);

        assert_int_equal(sscanf(text, "%d %d %d", &pid, &group, &session), 3);
        assert_int_equal(group, cases[i].own_group ? pid : getpgrp());
        assert_int_equal(session, cases[i].own_session ? pid : getsid(0));
        free(text);
    }
}

static void a_signal_reaches_the_whole_group(void **state)
{
    struct bz_proc_spec spec = {.argv = SH("sleep 1000 & echo ready; wait")};
    struct bz_proc p;
    struct bz_err err;
    struct pollfd wait;
    int status;
    char text[16];

    (void)state;
    assert_ok(bz_proc_spawn(&spec, &p, &err), &err);
    wait = (struct pollfd){.fd = p.out, .events = POLLIN};
    assert_int_equal(poll(&wait, 1, 60000), 1);
    assert_int_equal(read(p.out, text, sizeof(text)), 6);
    bz_proc_signal(&p, SIGTERM);
    /* The pipe ends only when the sleeper is gone too. */
    assert_int_equal(poll(&wait, 1, 60000), 1);
    assert_int_equal(read(p.out, text, sizeof(text)), 0);
    bz_proc_reap(&p, &status, NULL);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGTERM);
}

static void reaping_tells_the_cost_and_kills_what_is_left(void **state)
{
    struct bz_proc_spec spec = {.argv = SH("sleep 1000 & exit 3")};
    struct rusage usage;
    struct bz_proc p;
    struct bz_err err;
    struct pollfd wait;
    int status, out;
    char byte;

    (void)state;
    assert_ok(bz_proc_spawn(&spec, &p, &err), &err);
    out = dup(p.out); /* to see the end of the sleeper */
    bz_proc_reap(&p, &status, &usage);
    assert_int_equal(WEXITSTATUS(status), 3);
    assert_true(usage.ru_maxrss > 0);
    wait = (struct pollfd){.fd = out, .events = POLLIN};
    assert_int_equal(poll(&wait, 1, 60000), 1);
    assert_int_equal(read(out, &byte, 1), 0);
    close(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(standard_streams_go_where_they_are_told),
        scratch_test(output_can_go_to_a_file),
        scratch_test(a_child_has_only_the_standard_descriptors),
        scratch_test(standard_descriptors_that_are_closed_do_no_harm),
        scratch_test(streams_can_be_exchanged),
        scratch_test(directory_and_environment_are_the_given_ones),
        scratch_test(the_path_that_counts_is_the_childs),
        scratch_test(what_cannot_be_started_is_named),
        scratch_test(signals_are_as_in_a_fresh_process),
        scratch_test(groups_and_sessions_are_as_told),
        scratch_test(a_signal_reaches_the_whole_group),
        scratch_test(reaping_tells_the_cost_and_kills_what_is_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
