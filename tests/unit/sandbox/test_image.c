#include "sandbox/image.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/fs.h"
#include "tests/unit/bz_test.h"

/* Runs init with a shell script as the task; what it reports, or -1. */
static int report_of(const char *program, const char *script)
{
    const char *const argv[] = {"init", program, "-c", script, NULL};
    char *const env[] = {NULL};
    struct bz_err err;
    int ends[2], status = -1, init;
    pid_t pid;

    assert_ok(bz_image_open(&init, &err), &err);
    assert_int_equal(pipe(ends), 0);
    pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY);
        int program_fd = fcntl(init, F_DUPFD_CLOEXEC, 20);

        dup2(fcntl(ends[1], F_DUPFD, 20), 3);
        dup2(null, 2);
        close_range(4, 19, 0); /* whatever the test inherited */
        fexecve(program_fd, (char *const *)(uintptr_t)argv, env);
        _exit(99);
    }
    close(ends[1]);
    close(init);
    if (read(ends[0], &status, sizeof(status)) != sizeof(status))
        status = -1;
    close(ends[0]);
    assert_int_equal(waitpid(pid, &(int){0}, 0), pid);
    return status;
}

static void it_reports_how_the_task_ended(void **state)
{
    (void)state;
    assert_int_equal(report_of("/bin/sh", "exit 0"), 0);
    assert_int_equal(report_of("/bin/sh", "exit 7"), 7 << 8);
    assert_int_equal(report_of("/bin/sh", "kill -9 $$"), 9);
}

static void a_task_that_cannot_start_has_status_127(void **state)
{
    (void)state;
    assert_int_equal(report_of("/no/such/program", ""), 127 << 8);
}

static void it_does_not_wait_for_what_the_task_leaves(void **state)
{
    (void)state;
    assert_int_equal(report_of("/bin/sh", "sleep 5 >/dev/null 2>&1 & exit 3"), 3 << 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_reports_how_the_task_ended),
        cmocka_unit_test(a_task_that_cannot_start_has_status_127),
        cmocka_unit_test(it_does_not_wait_for_what_the_task_leaves),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
