#include <bitzel/jobs.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/os/scratch.h"

static int greet(bitzel_call *call, void *user_data)
{
    char text[100];

    snprintf(text, sizeof(text), "%s %s", (const char *)user_data,
             bitzel_call_args(call, NULL));
    return bitzel_call_reply(call, text, strlen(text));
}

static int count(bitzel_call *call, void *user_data)
{
    int status = 0;

    (void)user_data;
    for (char c = '1'; c <= '3' && status == 0; c++)
        status = bitzel_call_emit(call, &c, 1);
    return status ? status : bitzel_call_fail(call, BITZEL_FAILED, "enough");
}

static int wait_for_end(bitzel_call *call, void *user_data)
{
    int status;

    (void)user_data;
    while ((status = bitzel_call_check(call)) == 0)
        usleep(1000);
    return status;
}

/* Copies one piece of memory to another. */
static int copy(bitzel_call *call, void *user_data)
{
    void *from = NULL, *to = NULL;
    size_t n = 0, room = 0;
    int status = bitzel_call_symbol(call, "from", BITZEL_READ, &from, &n);

    (void)user_data;
    if (status == 0)
        status = bitzel_call_symbol(call, "to", BITZEL_WRITE, &to, &room);
    if (status == 0)
        memcpy(to, from, n < room ? n : room);
    return status;
}

static bitzel_jobs *start(const char *config)
{
    static char hello[] = "hello";
    char error[200] = "";
    bitzel_jobs *jobs = bitzel_jobs_new();

    assert_int_equal(bitzel_jobs_register(jobs, "greet", greet, hello, 0), 0);
    assert_int_equal(bitzel_jobs_register(jobs, "greet", greet, hello, 0), -1);
    assert_int_equal(bitzel_jobs_register(jobs, "count", count, NULL, BITZEL_BLOCKS),
                     0);
    assert_int_equal(
        bitzel_jobs_register(jobs, "wait", wait_for_end, NULL, BITZEL_BLOCKS), 0);
    assert_int_equal(bitzel_jobs_register(jobs, "copy", copy, NULL, 0), 0);
    if (bitzel_jobs_start(jobs, config, error, sizeof(error)) < 0)
        fail_msg("%s", error);
    assert_int_equal(bitzel_jobs_register(jobs, "late", greet, hello, 0), -1);
    return jobs;
}

static void results_come_by_waiting_and_polling(void **state)
{
    bitzel_jobs *jobs = start(NULL);
    uint64_t id = bitzel_jobs_submit(jobs, "{\"opcode\":\"greet\",\"args\":{}}");
    bitzel_result *r = bitzel_jobs_wait(jobs, id, 5000);

    (void)state;
    assert_int_equal(r->task_id, id);
    assert_int_equal(r->status, BITZEL_SUCCESS);
    assert_string_equal(r->data, "hello {}");
    assert_int_equal(r->data_size, 8);
    bitzel_result_free(r);
    id = bitzel_jobs_submit(jobs, "{\"opcode\":\"count\"}");
    for (int i = 0; i < 4; i++) {
        while (!(r = bitzel_jobs_poll(jobs, id)))
            usleep(100);
        assert_int_equal(r->final, i == 3);
        if (i < 3)
            assert_int_equal(r->data[0], '1' + i);
        else
            assert_string_equal(r->error_msg, "enough");
        bitzel_result_free(r);
    }
    assert_null(bitzel_jobs_wait(jobs, 12345, 10));
    bitzel_jobs_shutdown(jobs);
}

static void handlers_of_a_program_use_memory_by_name(void **state)
{
    bitzel_jobs *jobs = start(NULL);
    char from[] = "abc", to[] = "...";
    const char *request = "{\"opcode\":\"copy\"}";
    bitzel_result *r;

    (void)state;
    assert_int_equal(bitzel_jobs_register_symbol(jobs, "from", from, 3, BITZEL_READ),
                     0);
    r = bitzel_jobs_wait(jobs, bitzel_jobs_submit(jobs, request), 5000);
    assert_int_equal(r->status, BITZEL_SYMBOL_NOT_FOUND);
    assert_string_equal(r->error_msg, "unknown symbol: to");
    bitzel_result_free(r);
    assert_int_equal(bitzel_jobs_register_symbol(jobs, "to", to, 2, BITZEL_WRITE), 0);
    r = bitzel_jobs_wait(jobs, bitzel_jobs_submit(jobs, request), 5000);
    assert_int_equal(r->status, BITZEL_SUCCESS);
    bitzel_result_free(r);
    assert_string_equal(to, "ab.");
    assert_int_equal(bitzel_jobs_unregister_symbol(jobs, "from"), 0);
    assert_int_equal(bitzel_jobs_unregister_symbol(jobs, "to"), 0);
    bitzel_jobs_shutdown(jobs);
}

static void take(bitzel_result *result, void *user_data)
{
    atomic_int *status = user_data;

    atomic_store(status, result->status - 100);
    bitzel_result_free(result);
}

static void callbacks_are_called_and_tasks_canceled(void **state)
{
    bitzel_jobs *jobs = start(NULL);
    atomic_int first = 0, second = 0;
    uint64_t id;

    (void)state;
    id = bitzel_jobs_submit_with_callback(jobs, "{\"opcode\":\"wait\"}", take, &first);
    assert_int_equal(bitzel_jobs_cancel(jobs, id), 1);
    for (int i = 0; i < 5000 && atomic_load(&first) == 0; i++)
        usleep(1000);
    assert_int_equal(first, BITZEL_CANCELED - 100);
    assert_int_not_equal(
        bitzel_jobs_submit_with_callback(jobs, "{\"opcode\":\"wait\"}", take, &second),
        0);
    bitzel_jobs_shutdown(jobs); /* ends it, and tells */
    assert_int_equal(second, BITZEL_CANCELED - 100);
}

static void a_config_file_gives_numbers_and_its_errors_lines(void **state)
{
    struct scratch *s = *state;
    char path[300], error[300] = "";
    bitzel_jobs *jobs;
    bitzel_result *r;

    snprintf(path, sizeof(path), "%s/config", s->path);
    put(s->fd, "config", "thread_count=1\n5=greet\n");
    jobs = start(path);
    r = bitzel_jobs_wait(jobs, bitzel_jobs_submit(jobs, "{\"opcode\":5}"), 5000);
    assert_string_equal(r->data, "hello ");
    bitzel_result_free(r);
    bitzel_jobs_shutdown(jobs);
    put(s->fd, "config", "\n6=nobody\n");
    assert_null(bitzel_jobs_create(path, error, sizeof(error)));
    assert_non_null(strstr(error, "/config:2: there is no handler nobody"));
    assert_null(bitzel_jobs_create("/nonexistent", error, sizeof(error)));
}

/* As the first description of the interface has it. */
static const char example[] = "# Threadpool configuration\n"
                              "thread_count=4\n"
                              "initial_task_capacity=256\n"
                              "result_queue_capacity=2\n"
                              "\n"
                              "0=handler_updater\n"
                              "1=handler_http_get\n"
                              "2=handler_http_post\n"
                              "3=handler_write_memory\n"
                              "4=handler_read_memory\n"
                              "5=handler_file_read\n"
                              "6=handler_file_write\n"
                              "7=greet process\n";

static int status_of(bitzel_jobs *jobs, const char *json)
{
    bitzel_result *r = bitzel_jobs_wait(jobs, bitzel_jobs_submit(jobs, json), 20000);
    int status;

    assert_non_null(r);
    status = r->status;
    bitzel_result_free(r);
    return status;
}

static void the_config_file_of_the_description_works_as_it_is(void **state)
{
    struct scratch *s = *state;
    char path[300], memory[6] = "";
    bitzel_jobs *jobs;
    uint64_t ids[2];

    snprintf(path, sizeof(path), "%s/config", s->path);
    put(s->fd, "config", example);
    jobs = start(path);
    assert_int_equal(bitzel_jobs_register_symbol(jobs, "m", memory, 5, 3), 0);
    assert_int_equal(status_of(jobs, "{\"opcode\":0}"), 0);
    assert_int_equal(
        status_of(jobs,
                  "{\"opcode\":3,\"args\":{\"write_to\":\"m\",\"data\":\"hello\"}}"),
        0);
    assert_string_equal(memory, "hello");
    assert_int_equal(status_of(jobs, "{\"opcode\":4,\"args\":{\"read_from\":\"m\"}}"),
                     0);
    for (int i = 0; i < 4; i++) { /* the others are there, and miss their arguments */
        static const int numbers[] = {1, 2, 5, 6};
        char text[40];

        snprintf(text, sizeof(text), "{\"opcode\":%d}", numbers[i]);
        assert_int_equal(status_of(jobs, text), BITZEL_INVALID_JSON);
    }
    assert_int_equal(status_of(jobs, "{\"opcode\":7}"), 0);
    assert_int_equal(status_of(jobs, "{\"opcode\":8}"), BITZEL_UNKNOWN_OPCODE);
    /* Two results may wait to be taken. */
    for (int i = 0; i < 2; i++)
        assert_true((ids[i] = bitzel_jobs_submit(jobs, "{\"opcode\":0}")) > 0);
    assert_int_equal(bitzel_jobs_submit(jobs, "{\"opcode\":0}"), 0);
    bitzel_result_free(bitzel_jobs_wait(jobs, ids[0], 20000));
    assert_int_not_equal(bitzel_jobs_submit(jobs, "{\"opcode\":0}"), 0);
    bitzel_jobs_shutdown(jobs);
}

static void symbols_and_sockets_are_offered(void **state)
{
    struct scratch *s = *state;
    char memory[4] = "abc", path[100], error[200] = "";
    bitzel_jobs *jobs = start(NULL);
    bitzel_result *r;

    assert_int_equal(
        bitzel_jobs_register_symbol(jobs, "m", memory, sizeof(memory), BITZEL_READ), 0);
    assert_int_equal(
        bitzel_jobs_register_symbol(jobs, "m", memory, sizeof(memory), BITZEL_READ),
        -1);
    r = bitzel_jobs_wait(
        jobs,
        bitzel_jobs_submit(
            jobs, "{\"opcode\":\"memory_read\",\"args\":{\"read_from\":\"m\"}}"),
        5000);
    assert_string_equal(r->data, "abc");
    bitzel_result_free(r);
    assert_int_equal(bitzel_jobs_unregister_symbol(jobs, "m"), 0);
    assert_int_equal(bitzel_jobs_unregister_symbol(jobs, "m"), -1);
    snprintf(path, sizeof(path), "%.80s/run/socket", s->path);
    assert_int_equal(bitzel_jobs_listen(jobs, path, error, sizeof(error)), 0);
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(bitzel_jobs_listen(jobs, path, error, sizeof(error)), -1);
    assert_string_equal(error, "it listens already, or was not started");
    bitzel_jobs_shutdown(jobs);
}

/* Refused, and why. */
static int refused(bitzel_jobs *jobs, const char *json, bitzel_result_fn callback)
{
    int why = 0;

    assert_int_equal(bitzel_jobs_submit_or_why(jobs, json, callback, NULL, &why), 0);
    return why;
}

static void a_refusal_has_a_reason(void **state)
{
    const char *seven = "{\"opcode\":\"wait\",\"task_id\":7}";
    const size_t n = (size_t)17 << 20;
    struct scratch *s = *state;
    char path[300], error[200] = "", *large = malloc(n + 1);
    bitzel_jobs *jobs, *there;
    int why = 0;

    snprintf(path, sizeof(path), "%s/config", s->path);
    put(s->fd, "config", "result_queue_capacity=2\n");
    jobs = start(path);
    memset(large, ' ', n);
    large[n] = '\0';
    assert_int_equal(refused(jobs, large, NULL), BITZEL_TOO_LARGE);
    assert_int_equal(bitzel_jobs_submit_or_why(jobs, seven, NULL, NULL, &why), 7);
    assert_int_equal(refused(jobs, seven, NULL), BITZEL_ID_IN_USE);
    assert_int_not_equal(bitzel_jobs_submit(jobs, "{\"opcode\":\"wait\"}"), 0);
    assert_int_equal(refused(jobs, "{\"opcode\":\"wait\"}", take), BITZEL_BUSY);
    assert_int_equal(why, 0);
    snprintf(path, sizeof(path), "%s/run/socket", s->path);
    if (bitzel_jobs_listen(jobs, path, error, sizeof(error)) < 0)
        fail_msg("%s", error);
    there = bitzel_attach(path, error, sizeof(error));
    if (!there)
        fail_msg("%s", error);
    assert_int_equal(refused(there, seven, take), BITZEL_UNSUPPORTED);
    assert_int_equal(refused(there, large, NULL), BITZEL_TOO_LARGE);
    bitzel_jobs_shutdown(jobs);
    /* It finds out when it next looks. */
    bitzel_result_free(bitzel_jobs_wait(
        there, bitzel_jobs_submit(there, "{\"opcode\":\"wait\"}"), 5000));
    assert_int_equal(refused(there, seven, NULL), BITZEL_STOPPED);
    bitzel_jobs_shutdown(there);
    free(large);
}

static void another_process_attaches_by_name(void **state)
{
    struct scratch *s = *state;
    char error[200] = "";
    bitzel_jobs *jobs = start(NULL), *there;
    bitzel_result *r;
    uint64_t id;

    assert_int_equal(setenv("XDG_RUNTIME_DIR", s->path, 1), 0);
    assert_null(bitzel_attach("test", error, sizeof(error)));
    assert_non_null(strstr(error, "no service is at "));
    if (bitzel_jobs_listen(jobs, "test", error, sizeof(error)) < 0)
        fail_msg("%s", error);
    there = bitzel_attach("test", error, sizeof(error));
    if (!there)
        fail_msg("%s", error);
    id = bitzel_jobs_submit(there, "{\"opcode\":\"greet\",\"args\":{}}");
    r = bitzel_jobs_wait(there, id, 60000);
    assert_string_equal(r->data, "hello {}");
    bitzel_result_free(r);
    id = bitzel_jobs_submit(there, "{\"opcode\":\"wait\"}");
    assert_null(bitzel_jobs_poll(there, id));
    assert_int_equal(bitzel_jobs_cancel(there, id), 1);
    r = bitzel_jobs_wait(there, id, 60000);
    assert_int_equal(r->status, BITZEL_CANCELED);
    bitzel_result_free(r);
    assert_int_equal(bitzel_jobs_submit_with_callback(there, "{}", take, NULL), 0);
    assert_int_equal(bitzel_jobs_register(there, "greet", greet, NULL, 0), -1);
    assert_int_equal(bitzel_jobs_start(there, NULL, error, sizeof(error)), -1);
    assert_int_equal(bitzel_jobs_listen(there, "other", error, sizeof(error)), -1);
    assert_int_equal(bitzel_jobs_register_symbol(there, "m", error, 1, BITZEL_READ),
                     -1);
    bitzel_jobs_shutdown(there);
    bitzel_jobs_shutdown(jobs);
    assert_int_equal(unsetenv("XDG_RUNTIME_DIR"), 0);
    assert_null(bitzel_attach("test", error, sizeof(error)));
    assert_non_null(strstr(error, "XDG_RUNTIME_DIR is not set"));
}

static void mailboxes_are_watched_by_config_or_call(void **state)
{
    struct scratch *s = *state;
    char config[320], dir[320], error[400] = "";
    bitzel_jobs *jobs, *second;

    snprintf(config, sizeof(config), "%s/config", s->path);
    snprintf(dir, sizeof(dir), "watch=%s/mail\n", s->path);
    put(s->fd, "config", dir);
    jobs = start(config);
    assert_true(bz_fs_exists(s->fd, "mail/.bitzel/lock"));
    assert_int_equal(bitzel_jobs_watch(jobs, dir + 6, error, sizeof(error)), -1);
    assert_string_equal(error, "it watches already, or was not started");
    assert_null(bitzel_jobs_create(config, error, sizeof(error)));
    assert_non_null(strstr(error, "another service reads the mailboxes in "));
    bitzel_jobs_shutdown(jobs);
    snprintf(dir, sizeof(dir), "%s/mail", s->path);
    second = start(NULL);
    assert_int_equal(bitzel_jobs_watch(second, dir, error, sizeof(error)), 0);
    bitzel_jobs_shutdown(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name)                                                                     \
    cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
        TEST(results_come_by_waiting_and_polling),
        TEST(handlers_of_a_program_use_memory_by_name),
        TEST(callbacks_are_called_and_tasks_canceled),
        TEST(a_config_file_gives_numbers_and_its_errors_lines),
        TEST(the_config_file_of_the_description_works_as_it_is),
        TEST(symbols_and_sockets_are_offered),
        TEST(a_refusal_has_a_reason),
        TEST(another_process_attaches_by_name),
        TEST(mailboxes_are_watched_by_config_or_call),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
