/* A service in process, for long: many jobs from several threads at once, each to be
 * done exactly once and answered rightly; and what it costs when there is nothing to
 * do.
 *
 *     jobs_endure JOBS SECONDS      (0: without the second)
 */
#include <bitzel/jobs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "os/clock.h"
#include "tests/unit/bz_test.h"

enum { SENDERS = 4 };
#define IDLE_MAX (1 * BZ_CLOCK_MS) /* of CPU time, in up to ten seconds */

struct endurance {
    unsigned long jobs;
    unsigned seconds;
    bitzel_jobs *service;
    atomic_uchar *ran; /* a bit for each job */
    atomic_ulong answered, twice, wrong;
};

static unsigned long number_in(const char *text)
{
    return strtoul(text + strcspn(text, "0123456789"), NULL, 10);
}

/* {"n": 7} is answered with 8. */
static int next_number(bitzel_call *call, void *user_data)
{
    struct endurance *e = user_data;
    unsigned long n = number_in(bitzel_call_args(call, NULL));
    unsigned char bit = (unsigned char)(1U << n % 8);
    char text[24];

    if (n >= e->jobs || atomic_fetch_or(&e->ran[n / 8], bit) & bit)
        atomic_fetch_add(&e->twice, 1);
    return bitzel_call_reply(call, text,
                             (size_t)snprintf(text, sizeof(text), "%lu", n + 1));
}

static void take(bitzel_result *r, void *user_data)
{
    struct endurance *e = user_data;

    /* The id of a job is its number and one. */
    if (r->status != 0 || !r->final || strtoul(r->data, NULL, 10) != r->task_id)
        atomic_fetch_add(&e->wrong, 1);
    bitzel_result_free(r);
    atomic_fetch_add(&e->answered, 1);
}

struct sender {
    struct endurance *e;
    unsigned long first;
};

static void *send_all(void *arg)
{
    struct sender *s = arg;

    for (unsigned long i = s->first; i < s->e->jobs; i += SENDERS) {
        char text[100];

        snprintf(text, sizeof(text),
                 "{\"opcode\":\"next\",\"task_id\":%lu,\"args\":{\"n\":%lu}}", i + 1,
                 i);
        while (bitzel_jobs_submit_with_callback(s->e->service, text, take, s->e) == 0)
            usleep(50);
    }
    return NULL;
}

static void every_job_is_done_once_and_answered_rightly(void **state)
{
    struct endurance *e = *state;
    struct sender senders[SENDERS];
    pthread_t threads[SENDERS];
    int64_t begin = bz_clock_now();
    unsigned long ran = 0;

    for (unsigned i = 0; i < SENDERS; i++) {
        senders[i] = (struct sender){e, i};
        assert_int_equal(pthread_create(&threads[i], NULL, send_all, &senders[i]), 0);
    }
    for (unsigned i = 0; i < SENDERS; i++)
        pthread_join(threads[i], NULL);
    while (atomic_load(&e->answered) < e->jobs)
        usleep(1000);
    for (unsigned long i = 0; i < e->jobs; i++)
        ran += e->ran[i / 8] >> i % 8 & 1;
    assert_int_equal(e->wrong, 0);
    assert_int_equal(e->twice, 0);
    assert_int_equal(ran, e->jobs);
    printf("%lu jobs in %.1f s\n", e->jobs,
           (double)(bz_clock_now() - begin) / (double)BZ_CLOCK_S);
}

static int64_t cpu_time(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * BZ_CLOCK_S + t.tv_nsec;
}

static void a_service_without_work_takes_no_time(void **state)
{
    struct endurance *e = *state;
    int64_t begin, took = 0;

    /* One with a time limit, so that all that watches is there. */
    bitzel_result_free(bitzel_jobs_wait(
        e->service,
        bitzel_jobs_submit(e->service, "{\"opcode\":\"updater\",\"timeout_ms\":60000}"),
        60000));
    for (int i = 0; i < 3; i++) { /* whoever went to sleep late had to be waited for */
        sleep(1);
        begin = cpu_time();
        sleep(e->seconds);
        took = cpu_time() - begin;
        printf("%.3f ms in %u s\n", (double)took / (double)BZ_CLOCK_MS, e->seconds);
        if (took < IDLE_MAX)
            return;
    }
    fail_msg("%.3f ms", (double)took / (double)BZ_CLOCK_MS);
}

static int setup(void **state)
{
    struct endurance *e = *state;
    char error[200] = "";

    e->ran = calloc(e->jobs / 8 + 1, sizeof(*e->ran));
    e->service = bitzel_jobs_new();
    if (bitzel_jobs_register(e->service, "next", next_number, e, 0) == 0 &&
        bitzel_jobs_start(e->service, NULL, error, sizeof(error)) == 0)
        return 0;
    fprintf(stderr, "%s\n", error);
    return -1;
}

static int teardown(void **state)
{
    struct endurance *e = *state;

    bitzel_jobs_shutdown(e->service);
    free(e->ran);
    return 0;
}

int main(int argc, char **argv)
{
    struct endurance many = {.jobs = 100000}, idle = {.seconds = 1};
    const struct CMUnitTest busy[] = {
        cmocka_unit_test_prestate_setup_teardown(
            every_job_is_done_once_and_answered_rightly, setup, teardown, &many),
    };
    const struct CMUnitTest at_rest[] = {
        cmocka_unit_test_prestate_setup_teardown(a_service_without_work_takes_no_time,
                                                 setup, teardown, &idle),
    };
    int failed;

    if (argc > 1)
        many.jobs = strtoul(argv[1], NULL, 10);
    if (argc > 2)
        idle.seconds = (unsigned)strtoul(argv[2], NULL, 10);
    failed = cmocka_run_group_tests(busy, NULL, NULL);
    if (idle.seconds > 0)
        failed += cmocka_run_group_tests(at_rest, NULL, NULL);
    return failed;
}
