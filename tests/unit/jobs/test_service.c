#include "jobs/service.h"

#include <pthread.h>
#include <time.h>

#include "tests/unit/jobs/office.h"

static void what_is_wrong_with_a_request_is_a_result(void **state)
{
    static const struct {
        const char *text;
        int status;
        const char *error;
    } rows[] = {
        {"{\"opcode\":99}",       BZ_TASK_UNKNOWN_OPCODE, "unknown opcode"              },
        {"{\"opcode\":\"none\"}", BZ_TASK_UNKNOWN_OPCODE, "unknown opcode"              },
        {"nonsense",              BZ_TASK_INVALID_JSON,   "column 1: expected an object"},
    };
    struct office *o = office_open(state);

    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        uint64_t id = office_ask(o, rows[i].text);
        struct bz_result *r = office_next(o);

        assert_int_equal(r->id, id);
        assert_int_equal(r->status, rows[i].status);
        assert_string_equal(r->error, rows[i].error);
        free(r);
    }
}

enum { SENDERS = 4, EACH = 5000 };

static void count_result(struct bz_result *r, void *ctx)
{
    atomic_uint *n = ctx;

    if (r->status == 0)
        atomic_fetch_add(n, 1);
    free(r);
}

struct sender {
    struct office *o;
    struct bz_client *client;
    atomic_uint results;
};

static void *send_all(void *arg)
{
    struct sender *s = arg;
    struct bz_client_extra extra = {.callback = count_result, .ctx = &s->results};

    for (int i = 0; i < EACH; i++) {
        struct bz_err err;
        uint64_t id;

        while (bz_client_submit(s->client, BZ_STR("{\"opcode\":\"count\"}"), &extra,
                                &id, &err) < 0)
            usleep(100);
    }
    return NULL;
}

static void every_task_of_every_client_runs_exactly_once(void **state)
{
    struct office *o = office_open(state);
    struct sender senders[SENDERS] = {0};
    pthread_t threads[SENDERS];
    struct bz_service_stats stats;

    for (int i = 0; i < SENDERS; i++) {
        senders[i].o = o;
        senders[i].client = bz_client_new(o->service, 256, office_take, o);
        assert_int_equal(pthread_create(&threads[i], NULL, send_all, &senders[i]), 0);
    }
    for (int i = 0; i < SENDERS; i++) {
        pthread_join(threads[i], NULL);
        for (int k = 0; k < 10000 && atomic_load(&senders[i].results) < EACH; k++)
            usleep(1000);
        assert_int_equal(senders[i].results, EACH);
        bz_client_free(senders[i].client);
    }
    assert_int_equal(o->ran, SENDERS * EACH);
    bz_service_stats(o->service, &stats);
    assert_int_equal(stats.done, SENDERS * EACH);
    assert_int_equal(stats.waiting, 0);
}

static void handlers_that_block_keep_nobody_waiting(void **state)
{
    struct office *o = office_open(state);

    for (int i = 0; i < 8; i++)
        office_ask(o, "{\"opcode\":\"wait\"}");
    for (int i = 0; i < 100; i++) {
        uint64_t id = office_ask(o, "{\"opcode\":3}");
        struct bz_result *r = office_next(o);

        assert_int_equal(r->id, id);
        free(r);
    }
    atomic_store(&o->gate, 1);
    for (int i = 0; i < 8; i++)
        free(office_next(o));
}

/* The next result is of this task, and says this. */
static void expect(struct office *o, uint64_t id, int status)
{
    struct bz_result *r = office_next(o);

    assert_non_null(r);
    assert_int_equal(r->id, id);
    assert_int_equal(r->status, status);
    assert_true(r->final);
    free(r);
}

static void handlers_that_hang_are_answered_for_and_replaced(void **state)
{
    struct office *o = office_open(state);
    uint64_t id;

    /* More than there are threads that compute: the others hang in their place. */
    for (int i = 0; i < 5; i++) {
        id = office_ask(o, "{\"opcode\":\"hang\",\"timeout_ms\":20}");
        expect(o, id, BZ_TASK_TIMEOUT);
    }
    id = office_ask(o, "{\"opcode\":3}");
    expect(o, id, 0);
    id = office_ask(o, "{\"opcode\":\"hang_apart\",\"timeout_ms\":20}");
    expect(o, id, BZ_TASK_TIMEOUT);
    assert_int_equal(o->gate, 0);
    /* What they say now is dropped, and those that came for them leave. */
    atomic_store(&o->gate, 1);
    for (int i = 0; i < 100; i++) {
        id = office_ask(o, "{\"opcode\":3}");
        expect(o, id, 0);
    }
    assert_null(o->first);
}

static void a_task_that_waits_is_answered_when_its_time_is_up(void **state)
{
    struct office *o = office_open(state);
    uint64_t id;

    for (int i = 0; i < 20; i++) /* more than one may have at a time */
        office_ask(o, "{\"opcode\":\"wait\"}");
    id = office_ask(o, "{\"opcode\":\"count\",\"timeout_ms\":60000}");
    expect(o, id, 0);
    id = office_ask(o, "{\"opcode\":\"wait\",\"timeout_ms\":20}");
    expect(o, id, BZ_TASK_TIMEOUT);
    atomic_store(&o->gate, 1);
    for (int i = 0; i < 20; i++)
        free(office_next(o));
    assert_null(o->first);
}

static void one_client_cannot_have_all_threads_that_block(void **state)
{
    struct office *o = office_open(state);
    struct bz_client *greedy = bz_client_new(o->service, 1000, office_take, o);
    atomic_uint results = 0;
    struct bz_client_extra extra = {.callback = count_result, .ctx = &results};
    uint64_t id;

    for (int i = 0; i < 1000; i++)
        assert_ok(bz_client_submit(greedy, BZ_STR("{\"opcode\":\"wait\"}"), &extra, &id,
                                   &o->err),
                  &o->err);
    for (int i = 0; i < 20; i++) {
        office_ask(o, "{\"opcode\":\"stream\"}");
        for (int k = 0; k < 6; k++) {
            struct bz_result *r = office_next(o);

            assert_non_null(r);
            free(r);
        }
    }
    assert_int_equal(results, 0);
    atomic_store(&o->gate, 1);
    for (int k = 0; k < 20000 && atomic_load(&results) < 1000; k++)
        usleep(1000);
    assert_int_equal(results, 1000); /* each, once */
    bz_client_free(greedy);
}

static int take_a_while(struct bz_call *c, void *ctx)
{
    (void)ctx;
    usleep(5000);
    return bz_call_reply(c, NULL, 0);
}

static void one_client_cannot_have_all_threads_that_compute(void **state)
{
    static const struct bz_handler slow = {.name = "slow", .run = take_a_while};
    struct office *o = office_open(state);
    struct bz_client *greedy = bz_client_new(o->service, 400, office_take, o);
    atomic_uint results = 0;
    struct bz_client_extra extra = {.callback = count_result, .ctx = &results};
    uint64_t id;

    assert_ok(bz_dispatch_offer(o->dispatch, &slow, &o->err), &o->err);
    for (int i = 0; i < 400; i++) /* a second, at least */
        assert_ok(bz_client_submit(greedy, BZ_STR("{\"opcode\":\"slow\"}"), &extra, &id,
                                   &o->err),
                  &o->err);
    for (int i = 0; i < 3; i++) {
        id = office_ask(o, "{\"opcode\":3}");
        expect(o, id, 0);
    }
    /* Before each of these are those that were on the list, and some more. */
    assert_true(atomic_load(&results) < 200);
    for (int k = 0; k < 20000 && atomic_load(&results) < 400; k++)
        usleep(1000);
    assert_int_equal(results, 400); /* each, once */
    bz_client_free(greedy);
}

static void what_a_client_held_back_ends_when_it_leaves(void **state)
{
    struct office *o = office_open(state);
    struct bz_client *c = bz_client_new(o->service, 100, office_take, o);
    uint64_t id;

    for (int i = 0; i < 100; i++)
        assert_ok(
            bz_client_submit(c, BZ_STR("{\"opcode\":\"wait\"}"), NULL, &id, &o->err),
            &o->err);
    bz_client_free(c); /* waits for them */
}

/* One thread, which is busy until the gate opens. */
static struct office *open_with_one_thread(void **state)
{
    struct office *o = *state;
    struct bz_service_stats stats;

    o->opts.threads = 1;
    office_open(state);
    office_ask(o, "{\"opcode\":\"hang\",\"task_id\":1000}");
    do {
        usleep(1000);
        bz_service_stats(o->service, &stats);
    } while (stats.waiting > 0);
    return o;
}

static void ask_for(struct office *o, int id, const char *priority)
{
    char text[100];

    snprintf(text, sizeof(text),
             "{\"opcode\":\"count\",\"task_id\":%d,\"priority\":\"%s\"}", id, priority);
    office_ask(o, text);
}

static void what_is_urgent_runs_first_also_what_nobody_has_read_yet(void **state)
{
    struct office *o = open_with_one_thread(state);

    for (int i = 1; i <= 10; i++)
        ask_for(o, i, "normal");
    ask_for(o, 11, "high");
    ask_for(o, 12, "high");
    atomic_store(&o->gate, 1);
    expect(o, 1000, 0);
    expect(o, 11, 0);
    expect(o, 12, 0);
    for (int i = 1; i <= 10; i++)
        expect(o, (uint64_t)i, 0);
}

static void what_is_not_urgent_gets_its_turn(void **state)
{
    struct office *o = open_with_one_thread(state);
    int at = 0;

    ask_for(o, 500, "normal");
    for (int i = 1; i <= 40; i++)
        ask_for(o, i, "high");
    atomic_store(&o->gate, 1);
    expect(o, 1000, 0);
    for (int i = 1; i <= 41; i++) {
        struct bz_result *r = office_next(o);

        assert_non_null(r);
        if (r->id == 500)
            at = i;
        free(r);
    }
    assert_int_equal(at, 8);
}

static void a_task_that_is_canceled_while_it_waits_is_answered_at_once(void **state)
{
    struct office *o = open_with_one_thread(state);

    for (int i = 1; i <= 20; i++) /* in a mailbox, all of them */
        ask_for(o, i, "normal");
    for (int i = 20; i >= 1; i--) {
        assert_true(bz_client_cancel(o->client, (uint64_t)i));
        assert_false(bz_client_cancel(o->client, (uint64_t)i));
        expect(o, (uint64_t)i, BZ_TASK_CANCELED);
    }
    ask_for(o, 7, "normal"); /* the number is free again */
    atomic_store(&o->gate, 1);
    expect(o, 1000, 0);
    expect(o, 7, 0);
    assert_int_equal(o->ran, 1);
}

static void so_is_one_that_was_held_back(void **state)
{
    struct office *o = office_open(state);
    uint64_t id = 0;

    for (int i = 0; i < 20; i++)
        id = office_ask(o, "{\"opcode\":\"hang_apart\",\"timeout_ms\":60000}");
    assert_true(bz_client_cancel(o->client, id));
    expect(o, id, BZ_TASK_CANCELED);
    atomic_store(&o->gate, 1);
    for (int i = 0; i < 19; i++) {
        struct bz_result *r = office_next(o);

        assert_non_null(r);
        assert_int_equal(r->status, 0);
        free(r);
    }
    assert_null(o->first);
}

struct told {
    struct office *o;
    atomic_uint n;
    int status;
    pthread_t by;
};

static void tell(struct bz_result *r, void *ctx)
{
    struct told *t = ctx;

    t->status = r->status;
    t->by = pthread_self();
    free(r);
    atomic_fetch_add(&t->n, 1);
}

/* Cancels a task with a callback, which is told soon, on a thread of the pool. */
static void cancel_with_callback(struct office *o, const char *text)
{
    struct told told = {.o = o};
    struct bz_client_extra extra = {.callback = tell, .ctx = &told};
    unsigned open = bz_client_open(o->client);
    uint64_t id;

    assert_ok(bz_client_submit(o->client, bz_str_from(text), &extra, &id, &o->err),
              &o->err);
    assert_true(bz_client_cancel(o->client, id));
    for (int i = 0; i < 10000 && atomic_load(&told.n) == 0; i++)
        usleep(1000);
    assert_int_equal(told.n, 1);
    assert_int_equal(told.status, BZ_TASK_CANCELED);
    assert_false(pthread_equal(told.by, pthread_self()));
    while (bz_client_open(o->client) > open) /* there is room after it was told */
        usleep(1000);
    assert_false(bz_client_cancel(o->client, id));
    assert_int_equal(told.n, 1);
}

static void a_callback_is_told_at_once_that_its_task_was_canceled(void **state)
{
    struct office *o = open_with_one_thread(state);

    /* In a mailbox, which nobody else reads: the gate is shut. */
    cancel_with_callback(o, "{\"opcode\":\"count\"}");
    cancel_with_callback(o, "{\"opcode\":\"count\",\"task_id\":5}");
    /* Read by then, and on the list. */
    ask_for(o, 1, "normal");
    cancel_with_callback(o, "{\"opcode\":\"count\"}");
    /* Held back. */
    for (int i = 0; i < 20; i++)
        office_ask(o, "{\"opcode\":\"wait\"}");
    cancel_with_callback(o, "{\"opcode\":\"wait\"}");
    assert_int_equal(o->gate, 0);
    atomic_store(&o->gate, 1);
    for (int i = 0; i < 22; i++)
        free(office_next(o));
    assert_int_equal(o->ran, 1);
}

enum { CANCELS = 20000 };

static atomic_uint told_done, told_canceled;

static void count_told(struct bz_result *r, void *ctx)
{
    (void)ctx;
    atomic_fetch_add(r->status == 0 ? &told_done : &told_canceled, 1);
    free(r);
}

static void what_is_canceled_while_it_is_read_is_told_once(void **state)
{
    struct office *o = office_open(state);
    struct bz_client_extra extra = {.callback = count_told};
    unsigned results = 0;

    for (int i = 0; i < CANCELS; i++) {
        bool called = i % 2;
        uint64_t id;

        while (bz_client_submit(o->client, BZ_STR("{\"opcode\":\"count\"}"),
                                called ? &extra : NULL, &id, &o->err) < 0)
            usleep(10);
        for (volatile int k = 0; k < i % 700; k++)
            ;
        bz_client_cancel(o->client, id);
        if (!called) {
            struct bz_result *r = office_next(o);

            assert_non_null(r);
            assert_int_equal(r->id, id);
            results += r->status == 0;
            free(r);
        }
    }
    for (int i = 0; i < 10000 && bz_client_tasks(o->client) > 0; i++)
        usleep(1000);
    assert_int_equal(bz_client_tasks(o->client), 0);
    assert_int_equal(bz_client_open(o->client), 0);
    assert_int_equal(told_done + told_canceled, CANCELS / 2);
    assert_int_equal(o->ran, told_done + results);
    assert_null(o->first);
}

static void what_was_canceled_counts_until_its_turn(void **state)
{
    struct office *o = open_with_one_thread(state);
    uint64_t id;
    int n = 0;

    while (bz_client_submit(o->client, BZ_STR("{\"opcode\":3}"), NULL, &id, &o->err) ==
           0) {
        assert_true(++n <= 128);
        assert_true(bz_client_cancel(o->client, id));
        expect(o, id, BZ_TASK_CANCELED);
    }
    assert_string_equal(o->err.msg, "128 tasks wait to be run");
    atomic_store(&o->gate, 1);
    expect(o, 1000, 0);
}

static void time_runs_from_the_moment_a_task_is_handed_in(void **state)
{
    struct office *o = open_with_one_thread(state);

    office_ask(o, "{\"opcode\":\"count\",\"task_id\":5,\"timeout_ms\":50}");
    usleep(200000);
    atomic_store(&o->gate, 1);
    expect(o, 1000, 0);
    expect(o, 5, BZ_TASK_TIMEOUT);
    assert_int_equal(o->ran, 0);
}

struct slow_reader {
    struct office *o;
    atomic_uint began, ended;
};

/* Takes a result when the gate opens, or after some seconds. */
static void take_slowly(struct bz_result *r, void *ctx)
{
    struct slow_reader *s = ctx;

    atomic_store(&s->began, 1);
    for (int i = 0; i < 5000 && atomic_load(&s->o->gate) == 0; i++)
        usleep(1000);
    free(r);
    atomic_store(&s->ended, 1);
}

static int64_t cpu_time(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * BZ_CLOCK_S + t.tv_nsec;
}

static void whoever_takes_a_refusal_slowly_keeps_nobody_waiting(void **state)
{
    struct office *o = office_open(state);
    struct slow_reader slow = {.o = o};
    struct bz_client_extra extra = {.callback = take_slowly, .ctx = &slow};
    int64_t before;
    uint64_t id;

    assert_ok(bz_client_submit(o->client, BZ_STR("nonsense"), &extra, &id, &o->err),
              &o->err);
    while (atomic_load(&slow.began) == 0)
        usleep(1000);
    for (int i = 0; i < 10; i++) {
        id = office_ask(o, "{\"opcode\":3}");
        expect(o, id, 0);
        id = office_ask(o, "nonsense");
        expect(o, id, BZ_TASK_INVALID_JSON);
    }
    before = cpu_time();
    usleep(300000);
    assert_true(cpu_time() - before < 150 * BZ_CLOCK_MS);
    assert_int_equal(slow.ended, 0);
    atomic_store(&o->gate, 1);
    while (atomic_load(&slow.ended) == 0)
        usleep(1000);
}

static void tasks_wait_for_room_on_a_short_list_and_run_once(void **state)
{
    struct office *o = *state;
    struct bz_client *clients[20];
    atomic_uint results = 0;
    struct bz_client_extra extra = {.callback = count_result, .ctx = &results};
    uint64_t id;

    o->opts = (struct bz_service_opts){.io_threads = 2, .tasks = 2, .tasks_max = 2};
    office_open(state);
    /* More that block than there is room for: no thread that computes runs them. */
    for (size_t i = 0; i < BZ_COUNTOF(clients); i++) {
        clients[i] = bz_client_new(o->service, 4, office_take, o);
        assert_ok(bz_client_submit(clients[i], BZ_STR("{\"opcode\":\"wait\"}"), &extra,
                                   &id, &o->err),
                  &o->err);
    }
    id = office_ask(o, "{\"opcode\":3}");
    expect(o, id, 0);
    /* More that compute. */
    for (int i = 0; i < 2; i++)
        assert_ok(bz_client_submit(o->client, BZ_STR("{\"opcode\":\"hang\"}"), &extra,
                                   &id, &o->err),
                  &o->err);
    for (int i = 0; i < 60; i++)
        assert_ok(bz_client_submit(o->client, BZ_STR("{\"opcode\":\"count\"}"), &extra,
                                   &id, &o->err),
                  &o->err);
    assert_int_equal(results, 0);
    atomic_store(&o->gate, 1);
    for (int i = 0; i < 20000 && atomic_load(&results) < 82; i++)
        usleep(1000);
    assert_int_equal(results, 82);
    assert_int_equal(o->ran, 60);
    for (size_t i = 0; i < BZ_COUNTOF(clients); i++)
        bz_client_free(clients[i]);
}

static void *small_only(size_t n)
{
    return n > 100000 ? NULL : malloc(n);
}

static int reply_much(struct bz_call *c, void *ctx)
{
    static const char zeros[200000];

    (void)ctx;
    return bz_call_reply(c, zeros, sizeof(zeros));
}

static void a_request_or_result_without_memory_fails_alone(void **state)
{
    static const struct bz_handler much = {.name = "much", .run = reply_much};
    static const struct bz_handler alone = {
        .name = "much_alone", .run = reply_much, .isolate = true};
    struct office *o = *state;
    char *text = malloc(200000);
    uint64_t id;

    o->opts.alloc = small_only;
    office_open(state);
    assert_ok(bz_dispatch_offer(o->dispatch, &much, &o->err), &o->err);
    memset(text, ' ', 199999);
    text[199999] = '\0';
    memcpy(text, "{\"opcode\":3,\"task_id\":5}", 24);
    assert_int_equal(office_ask(o, text), 5);
    expect(o, 5, BZ_TASK_NO_MEMORY);
    assert_ok(bz_dispatch_offer(o->dispatch, &alone, &o->err), &o->err);
    id = office_ask(o, "{\"opcode\":\"much\"}");
    expect(o, id, BZ_TASK_NO_MEMORY);
    id = office_ask(o, "{\"opcode\":\"much_alone\"}");
    expect(o, id, BZ_TASK_NO_MEMORY);
    id = office_ask(o, "{\"opcode\":3}");
    expect(o, id, 0);
    free(text);
}

static void a_service_that_stops_takes_nothing_more(void **state)
{
    struct office *o = office_open(state);
    uint64_t id;

    bz_service_stop(o->service);
    assert_int_equal(
        bz_client_submit(o->client, BZ_STR("{\"opcode\":3}"), NULL, &id, &o->err),
        BZ_E_CANCELED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, office_setup, office_teardown)
        TEST(what_is_wrong_with_a_request_is_a_result),
        TEST(every_task_of_every_client_runs_exactly_once),
        TEST(handlers_that_block_keep_nobody_waiting),
        TEST(handlers_that_hang_are_answered_for_and_replaced),
        TEST(a_task_that_waits_is_answered_when_its_time_is_up),
        TEST(one_client_cannot_have_all_threads_that_block),
        TEST(one_client_cannot_have_all_threads_that_compute),
        TEST(what_a_client_held_back_ends_when_it_leaves),
        TEST(what_is_urgent_runs_first_also_what_nobody_has_read_yet),
        TEST(what_is_not_urgent_gets_its_turn),
        TEST(a_task_that_is_canceled_while_it_waits_is_answered_at_once),
        TEST(so_is_one_that_was_held_back),
        TEST(a_callback_is_told_at_once_that_its_task_was_canceled),
        TEST(what_is_canceled_while_it_is_read_is_told_once),
        TEST(what_was_canceled_counts_until_its_turn),
        TEST(time_runs_from_the_moment_a_task_is_handed_in),
        TEST(whoever_takes_a_refusal_slowly_keeps_nobody_waiting),
        TEST(tasks_wait_for_room_on_a_short_list_and_run_once),
        TEST(a_request_or_result_without_memory_fails_alone),
        TEST(a_service_that_stops_takes_nothing_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
