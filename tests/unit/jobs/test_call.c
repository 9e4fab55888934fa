#include "jobs/call.h"

#include "tests/unit/jobs/office.h"

static struct bz_result *ask(struct office *o, const char *text)
{
    uint64_t id = office_ask(o, text);
    struct bz_result *r = office_next(o);

    assert_non_null(r);
    assert_int_equal(r->id, id);
    return r;
}

static void check_echo(struct office *o)
{
    struct bz_result *r = ask(o, "{\"opcode\":3,\"task_id\":7,\"args\":{\"a\": 1}}");

    assert_int_equal(r->status, BZ_TASK_OK);
    assert_int_equal(r->id, 7);
    assert_true(r->final);
    assert_string_equal(r->data, "{\"a\": 1}");
    free(r);
}

static void a_reply_is_the_result(void **state)
{
    check_echo(office_open(state));
}

static void a_handler_that_crashes_costs_one_task(void **state)
{
    struct office *o = office_open(state);

    for (int i = 0; i < 20 && OFFICE_CRASHES; i++) {
        struct bz_result *r =
            ask(o, i % 2 ? "{\"opcode\":\"crash\"}"
                         : "{\"opcode\":\"crash\",\"args\":{\"how\":\"abort\"}}");

        assert_int_equal(r->status, BZ_TASK_CRASHED);
        assert_non_null(strstr(r->error, "the handler crashed: signal "));
        free(r);
        check_echo(o);
    }
}

static void parts_come_before_the_end(void **state)
{
    struct office *o = office_open(state);
    uint64_t id = office_ask(o, "{\"opcode\":\"stream\"}");

    for (int i = 0; i < 6; i++) {
        struct bz_result *r = office_next(o);

        assert_int_equal(r->id, id);
        assert_int_equal(r->final, i == 5);
        assert_int_equal(r->data[0], i < 5 ? '0' + i : 'e');
        free(r);
    }
}

/* Offers more than anybody takes, and says how many were taken. */
static int offer_many(struct bz_call *c, void *ctx)
{
    char text[16];
    int taken = 0;

    (void)ctx;
    for (int i = 0; i < 100; i++) {
        int rc = bz_call_offer(c, "x", 1, bz_clock_in(i == 64 ? 20 * BZ_CLOCK_MS : 0));

        if (rc < 0)
            return rc;
        taken += rc == 0;
    }
    return bz_call_reply(c, text, (size_t)snprintf(text, sizeof(text), "%d", taken));
}

static void parts_may_be_lost_rather_than_waited_for(void **state)
{
    static const struct bz_handler row = {
        .name = "offer", .run = offer_many, .blocks = true};
    struct office *o = office_open(state);
    uint64_t id;

    assert_ok(bz_dispatch_offer(o->dispatch, &row, &o->err), &o->err);
    id = office_ask(o, "{\"opcode\":\"offer\"}");
    while (bz_client_tasks(o->client) > 0) /* nobody takes anything before the end */
        usleep(1000);
    for (int i = 0; i <= 64; i++) {
        struct bz_result *r = office_next(o);

        assert_int_equal(r->id, id);
        assert_int_equal(r->final, i == 64);
        assert_string_equal(r->data, i < 64 ? "x" : "64");
        free(r);
    }
}

static void time_is_limited_and_tasks_can_be_canceled(void **state)
{
    struct office *o = office_open(state);
    struct bz_result *r = ask(o, "{\"opcode\":\"wait\",\"timeout_ms\":20}");
    uint64_t id;

    assert_int_equal(r->status, BZ_TASK_TIMEOUT);
    assert_string_equal(r->error, "it took longer than it may");
    free(r);
    id = office_ask(o, "{\"opcode\":\"wait\"}");
    assert_true(bz_client_cancel(o->client, id));
    r = office_next(o);
    assert_int_equal(r->status, BZ_TASK_CANCELED);
    free(r);
    assert_false(bz_client_cancel(o->client, id));
}

/* Looks at two pieces of memory, and crashes if it is asked to. */
static int use_memory(struct bz_call *c, void *ctx)
{
    const struct bz_symbol *in = NULL, *out = NULL;
    int status = bz_call_symbol(c, BZ_STR("in"), BZ_SYMBOLS_READ, &in);

    (void)ctx;
    if (status == 0)
        status = bz_call_symbol(c, BZ_STR("out"), BZ_SYMBOLS_WRITE, &out);
    if (status != 0)
        return status;
    if (c->args.n > 0)
        raise(SIGSEGV);
    memcpy(out->p, in->p, out->size);
    return 0;
}

static void expect_status(struct office *o, const char *text, int status,
                          const char *error)
{
    struct bz_result *r = ask(o, text);

    assert_int_equal(r->status, status);
    assert_string_equal(r->error, error);
    free(r);
}

static void memory_is_held_until_the_end_however_that_comes(void **state)
{
    static struct bz_handler rows[] = {
        {.name = "use",      .run = use_memory},
        { .name = "use_alone", .run = use_memory,   .isolate = true}
    };
    struct office *o = office_open(state);
    struct bz_symbols *s = &o->symbols;
    char in[4] = "abc", out[4] = "";

    for (size_t i = 0; i < BZ_COUNTOF(rows); i++)
        assert_ok(bz_dispatch_offer(o->dispatch, &rows[i], &o->err), &o->err);
    assert_ok(bz_symbols_add(s, "in", in, 4, BZ_SYMBOLS_READ, &o->err), &o->err);
    expect_status(o, "{\"opcode\":\"use\"}", BZ_TASK_UNKNOWN_SYMBOL,
                  "unknown symbol: out");
    assert_ok(bz_symbols_add(s, "out", out, 4, BZ_SYMBOLS_READ, &o->err), &o->err);
    expect_status(o, "{\"opcode\":\"use\"}", BZ_TASK_FAILED,
                  "symbol out may not be written");
    assert_ok(bz_symbols_remove(s, "out", &o->err), &o->err);
    assert_ok(bz_symbols_add(s, "out", out, 4, BZ_SYMBOLS_WRITE, &o->err), &o->err);
    expect_status(o, "{\"opcode\":\"use\"}", 0, "");
    assert_string_equal(out, "abc");
    expect_status(o, "{\"opcode\":\"use_alone\"}", BZ_TASK_FAILED,
                  "symbol out cannot be written in a process of its own");
    if (OFFICE_CRASHES)
        free(ask(o, "{\"opcode\":\"use\",\"args\":{\"crash\":1}}"));
    /* Nobody has it any more: this does not wait. */
    assert_ok(bz_symbols_remove(s, "out", &o->err), &o->err);
    assert_ok(bz_symbols_remove(s, "in", &o->err), &o->err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, office_setup, office_teardown)
        TEST(a_reply_is_the_result),
        TEST(a_handler_that_crashes_costs_one_task),
        TEST(parts_come_before_the_end),
        TEST(memory_is_held_until_the_end_however_that_comes),
        TEST(parts_may_be_lost_rather_than_waited_for),
        TEST(time_is_limited_and_tasks_can_be_canceled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
