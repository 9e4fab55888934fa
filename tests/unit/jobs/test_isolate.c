#include "jobs/isolate.h"

#include <poll.h>

#include "tests/unit/jobs/office.h"

static void a_process_of_its_own_may_crash(void **state)
{
    struct office *o = office_open(state);
    struct bz_result *r;

    office_ask(o, "{\"opcode\":\"crash_alone\"}");
    r = office_next(o);
    assert_int_equal(r->status, BZ_TASK_CRASHED);
    assert_non_null(strstr(r->error, "signal 11"));
    free(r);
}

static void parts_come_through_too(void **state)
{
    struct office *o = office_open(state);

    office_ask(o, "{\"opcode\":\"stream_alone\"}");
    for (int i = 0; i < 6; i++) {
        struct bz_result *r = office_next(o);

        assert_int_equal(r->status, 0);
        assert_int_equal(r->final, i == 5);
        assert_int_equal(r->data[0], i < 5 ? '0' + i : 'e');
        free(r);
    }
}

static void it_is_killed_when_it_is_not_wanted_any_more(void **state)
{
    struct office *o = office_open(state);
    struct bz_result *r;

    office_ask(o, "{\"opcode\":\"wait_alone\",\"timeout_ms\":50}");
    r = office_next(o);
    assert_int_equal(r->status, BZ_TASK_TIMEOUT);
    free(r);
}

static void one_that_hangs_is_gone_when_its_time_is_up(void **state)
{
    struct office *o = office_open(state);
    struct pollfd gone = {.events = POLLIN};
    struct bz_result *r;
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    office_ask(o, "{\"opcode\":\"hang_alone\",\"timeout_ms\":300}");
    r = office_next(o);
    assert_int_equal(r->status, BZ_TASK_TIMEOUT);
    free(r);
    /* The child has the other end as well, for as long as it lives. */
    close(ends[1]);
    gone.fd = ends[0];
    assert_int_equal(poll(&gone, 1, 20000), 1);
    close(ends[0]);
}

/* Leaves a process behind that has all it had, and crashes. */
static int leave_one_behind(struct bz_call *c, void *ctx)
{
    (void)c;
    (void)ctx;
    if (fork() == 0) {
        sleep(3);
        _exit(0);
    }
    abort();
}

static void a_crash_is_told_at_once_whoever_else_lives(void **state)
{
    static const struct bz_handler row = {
        .name = "leave", .run = leave_one_behind, .isolate = true};
    struct office *o = office_open(state);
    int64_t began = bz_clock_now();
    struct bz_result *r;

    assert_ok(bz_dispatch_offer(o->dispatch, &row, &o->err), &o->err);
    office_ask(o, "{\"opcode\":\"leave\"}");
    r = office_next(o);
    assert_non_null(r);
    assert_int_equal(r->status, BZ_TASK_CRASHED);
    assert_non_null(strstr(r->error, "signal 6"));
    assert_true(bz_clock_now() - began < 2 * BZ_CLOCK_S);
    free(r);
}

static int read_memory(struct bz_call *c, void *ctx)
{
    const struct bz_symbol *s = NULL;
    int status = bz_call_symbol(c, BZ_STR("memory"), BZ_SYMBOLS_READ, &s);

    (void)ctx;
    return status < 0 ? status : bz_call_reply(c, s->p, s->size);
}

static void it_can_use_memory_whoever_was_at_the_table(void **state)
{
    static const struct bz_handler row = {
        .name = "read", .run = read_memory, .isolate = true};
    struct office *o = office_open(state);
    struct bz_result *r;

    assert_ok(bz_dispatch_offer(o->dispatch, &row, &o->err), &o->err);
    assert_ok(bz_symbols_add(&o->symbols, "memory", o, 1, BZ_SYMBOLS_READ, &o->err),
              &o->err);
    bz_sync_lock(&o->symbols.mutex);
    office_ask(o, "{\"opcode\":\"read\"}");
    usleep(100000);
    bz_sync_unlock(&o->symbols.mutex);
    r = office_next(o);
    assert_non_null(r);
    assert_int_equal(r->status, 0);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, office_setup, office_teardown)
        TEST(a_process_of_its_own_may_crash),
        TEST(parts_come_through_too),
        TEST(it_is_killed_when_it_is_not_wanted_any_more),
        TEST(a_crash_is_told_at_once_whoever_else_lives),
        TEST(it_can_use_memory_whoever_was_at_the_table),
        TEST(one_that_hangs_is_gone_when_its_time_is_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
