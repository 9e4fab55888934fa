/* Handlers from a shared object, as a program gets them from libbitzel.
 *
 *     jobs_loaded OBJECT
 */
#include <bitzel/jobs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/os/scratch.h"

static const char *object; /* of the handlers */

/* By a config file, in which '@' stands for the object. */
static bitzel_jobs *start(struct scratch *s, const char *config, char *error, size_t n)
{
    char path[300], text[4000];
    size_t len = 0;

    for (; *config; config++)
        len += (size_t)(*config == '@'
                            ? snprintf(text + len, sizeof(text) - len, "%s", object)
                            : snprintf(text + len, sizeof(text) - len, "%c", *config));
    snprintf(path, sizeof(path), "%s/config", s->path);
    put(s->fd, "config", text);
    return bitzel_jobs_create(path, error, n);
}

/* The process that a request is served by. */
static int pid_of(bitzel_jobs *jobs, const char *request)
{
    bitzel_result *r = bitzel_jobs_wait(jobs, bitzel_jobs_submit(jobs, request), 20000);
    int pid;

    assert_non_null(r);
    assert_int_equal(r->status, BITZEL_SUCCESS);
    pid = (int)strtol(r->data, NULL, 10);
    bitzel_result_free(r);
    return pid;
}

static void they_run_elsewhere_unless_a_number_has_them_here(void **state)
{
    char error[300] = "";
    bitzel_jobs *jobs = start(*state,
                              "load=@\n20=tell_pid\n21=tell_pid thread\n"
                              "22=tell_pid process\n",
                              error, sizeof(error));

    if (!jobs)
        fail_msg("%s", error);
    assert_int_not_equal(pid_of(jobs, "{\"opcode\":20}"), getpid());
    assert_int_equal(pid_of(jobs, "{\"opcode\":21}"), getpid());
    assert_int_not_equal(pid_of(jobs, "{\"opcode\":22}"), getpid());
    assert_int_not_equal(pid_of(jobs, "{\"opcode\":\"tell_pid\"}"), getpid());
    bitzel_jobs_shutdown(jobs);
}

static void their_crash_is_a_result(void **state)
{
    char error[300] = "";
    bitzel_jobs *jobs =
        start(*state, "load=@\n5=crash\n6=tell_pid\n", error, sizeof(error));
    bitzel_result *r;

    if (!jobs)
        fail_msg("%s", error);
    r = bitzel_jobs_wait(jobs, bitzel_jobs_submit(jobs, "{\"opcode\":5}"), 20000);
    assert_non_null(r);
    assert_int_equal(r->status, BITZEL_HANDLER_CRASH);
    assert_non_null(strstr(r->error_msg, "signal 6"));
    bitzel_result_free(r);
    assert_int_not_equal(pid_of(jobs, "{\"opcode\":6}"), getpid());
    bitzel_jobs_shutdown(jobs);
}

static void what_cannot_be_loaded_is_told_with_its_line(void **state)
{
    char error[300] = "";

    assert_null(start(*state, "# one\n\nload=@.none\n", error, sizeof(error)));
    assert_non_null(strstr(error, "/config:3: "));
    assert_non_null(strstr(error, ".none"));
    /* This is no shared object. */
    assert_null(start(*state, "load=/proc/self/exe\n", error, sizeof(error)));
    assert_non_null(strstr(error, "/config:1: "));
    assert_null(start(*state, "load=@\nload=/none\n", error, sizeof(error)));
    assert_non_null(strstr(error, "/config:2: "));
    assert_null(start(*state, "load=@\nload=@\n", error, sizeof(error)));
    assert_non_null(strstr(error, "/config:2: "));
    assert_non_null(strstr(error, "there is a handler tell_pid already"));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
        TEST(they_run_elsewhere_unless_a_number_has_them_here),
        TEST(their_crash_is_a_result),
        TEST(what_cannot_be_loaded_is_told_with_its_line),
    };

    if (argc != 2)
        return 2;
    object = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
