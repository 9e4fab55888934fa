#include "jobs/client.h"

#include "tests/unit/jobs/office.h"

static void a_client_that_takes_nothing_is_refused_alone(void **state)
{
    struct office *o = office_open(state);
    struct bz_client *lazy = bz_client_new(o->service, 3, office_take, o);
    uint64_t id;

    atomic_store(&o->gate, 1);
    for (int i = 0; i < 3; i++)
        assert_ok(
            bz_client_submit(lazy, BZ_STR("{\"opcode\":\"wait\"}"), NULL, &id, &o->err),
            &o->err);
    assert_int_equal(
        bz_client_submit(lazy, BZ_STR("{\"opcode\":3}"), NULL, &id, &o->err),
        BZ_E_BUSY);
    assert_string_equal(o->err.msg, "3 results wait to be taken");
    for (int i = 0; i < 3; i++) {
        struct bz_result *r = office_next(o); /* of any client */

        bz_client_taken(lazy, r);
        atomic_fetch_add(&o->client->opened, 1); /* which office_next counted */
        free(r);
    }
    assert_ok(bz_client_submit(lazy, BZ_STR("{\"opcode\":3}"), NULL, &id, &o->err),
              &o->err);
    bz_client_free(lazy);
}

static void an_id_is_used_once_at_a_time(void **state)
{
    struct office *o = office_open(state);
    uint64_t id;

    office_ask(o, "{\"opcode\":\"wait\",\"task_id\":5}");
    assert_int_equal(bz_client_submit(o->client, BZ_STR("{\"opcode\":3,\"task_id\":5}"),
                                      NULL, &id, &o->err),
                     BZ_E_EXISTS);
    assert_string_equal(o->err.msg, "task_id 5 is in use");
    atomic_store(&o->gate, 1);
    free(office_next(o));
    assert_int_equal(office_ask(o, "{\"opcode\":3,\"task_id\":5}"), 5);
    free(office_next(o));
}

static void an_id_that_a_client_uses_is_not_given(void **state)
{
    struct office *o = office_open(state);
    char text[100];

    for (unsigned i = 1; i <= 3; i++) {
        snprintf(text, sizeof(text), "{\"opcode\":\"wait\",\"task_id\":%llu}",
                 BZ_CLIENT_IDS + i);
        office_ask(o, text);
    }
    assert_int_equal(office_ask(o, "{\"opcode\":\"wait\"}"), BZ_CLIENT_IDS + 4);
    atomic_store(&o->gate, 1);
    for (int i = 0; i < 4; i++)
        free(office_next(o));
}

static void an_id_that_comes_beside_the_request_counts(void **state)
{
    struct office *o = office_open(state);
    struct bz_result *r;
    uint64_t id;

    assert_ok(bz_client_submit(o->client, BZ_STR("{\"opcode\":3,\"task_id\":5}"),
                               &(struct bz_client_extra){.id = 9}, &id, &o->err),
              &o->err);
    assert_int_equal(id, 9);
    r = office_next(o);
    assert_int_equal(r->id, 9);
    free(r);
}

static void parts_wait_until_some_are_taken(void **state)
{
    struct office *o = office_open(state);
    struct bz_client *slow = bz_client_new(o->service, 2, office_take, o);
    uint64_t id;

    assert_ok(
        bz_client_submit(slow, BZ_STR("{\"opcode\":\"stream\"}"), NULL, &id, &o->err),
        &o->err);
    usleep(50000);
    assert_int_equal(atomic_load(&slow->parts), 2);
    for (int i = 0; i < 6; i++) {
        struct bz_result *r = office_next(o);

        assert_int_equal(r->final, i == 5);
        bz_client_taken(slow, r);
        if (r->final)
            atomic_fetch_add(&o->client->opened, 1);
        else
            atomic_fetch_add(&o->client->parts, 1);
        free(r);
    }
    bz_client_free(slow);
}

static void a_client_has_so_many_bytes_at_a_time(void **state)
{
    struct office *o = office_open(state);
    char text[8000];
    struct bz_result *r;
    uint64_t id;

    o->client->bytes = 10000;
    memset(text, ' ', sizeof(text));
    memcpy(text, "{\"opcode\":\"wait\"}", 17);
    text[sizeof(text) - 1] = '\0';
    office_ask(o, text);
    office_ask(o, text);
    assert_int_equal(
        bz_client_submit(o->client, BZ_STR("{\"opcode\":3}"), NULL, &id, &o->err),
        BZ_E_BUSY);
    assert_string_equal(o->err.msg, "requests and results of 15998 bytes wait to be "
                                    "done or taken");
    atomic_store(&o->gate, 1);
    free(office_next(o));
    free(office_next(o));
    /* Results count until they are taken. */
    memcpy(text, "{\"opcode\":3,\"args\":{         ", 29);
    memcpy(text + sizeof(text) - 3, "}}", 2);
    while (atomic_load(&o->client->asked) > 0)
        usleep(1000);
    office_ask(o, text);
    office_ask(o, text);
    while (atomic_load(&o->client->asked) > 0)
        usleep(1000);
    assert_true(atomic_load(&o->client->untaken) > 15000);
    assert_int_equal(
        bz_client_submit(o->client, BZ_STR("{\"opcode\":3}"), NULL, &id, &o->err),
        BZ_E_BUSY);
    r = office_next(o);
    assert_int_equal(r->status, 0);
    free(r);
    free(office_next(o));
    assert_int_equal(atomic_load(&o->client->untaken), 0);
    office_ask(o, "{\"opcode\":3}");
    free(office_next(o));
}

static void parts_wait_until_there_are_fewer_bytes(void **state)
{
    struct office *o = office_open(state);

    o->client->bytes = 100000;
    office_ask(o, "{\"opcode\":\"flood\"}");
    usleep(100000);
    assert_int_equal(atomic_load(&o->emitted), 2);
    for (int i = 0; i <= OFFICE_FLOOD; i++) {
        struct bz_result *r = office_next(o);

        assert_non_null(r);
        assert_int_equal(r->final, i == OFFICE_FLOOD);
        free(r);
    }
    assert_int_equal(atomic_load(&o->client->untaken), 0);
}

static int reply_much(struct bz_call *c, void *ctx)
{
    static const char zeros[65536];

    (void)ctx;
    return bz_call_reply(c, zeros, sizeof(zeros));
}

static void who_takes_results_in_order_gets_no_more_than_that(void **state)
{
    static const struct bz_handler much = {
        .name = "much", .run = reply_much, .blocks = true};
    struct office *o = office_open(state);

    assert_ok(bz_dispatch_offer(o->dispatch, &much, &o->err), &o->err);
    o->client->bytes = 100000;
    o->client->in_order = true;
    for (int i = 0; i < 50; i++)
        office_ask(o, "{\"opcode\":\"much\"}");
    usleep(100000);
    /* Each of the twelve threads that it may have can be one too late. */
    assert_true(atomic_load(&o->client->untaken) <= (size_t)(2 + 12) * 65536);
    for (int i = 0; i < 50; i++) {
        struct bz_result *r = office_next(o);

        assert_non_null(r);
        assert_int_equal(r->size, 65536);
        free(r);
    }
}

static atomic_uint tries;

static void *nothing_large(size_t n)
{
    if (n > 100000)
        atomic_fetch_add(&tries, 1);
    return n > 100000 ? NULL : malloc(n);
}

static void who_hands_in_for_others_does_not_wait_for_memory(void **state)
{
    struct office *o = *state;
    char *text = calloc(1, 200000);
    struct bz_result *r;
    uint64_t id;

    o->opts.alloc = nothing_large;
    office_open(state);
    o->client->in_order = true;
    memset(text, ' ', 199999);
    for (unsigned i = 1; i < 5; i++) {
        assert_int_equal(
            bz_client_submit(o->client, bz_str_from(text), NULL, &id, &o->err),
            BZ_E_BUSY);
        assert_int_equal(tries, i); /* once each time */
    }
    id = office_ask(o, text);
    r = office_next(o);
    assert_int_equal(r->id, id);
    assert_int_equal(r->status, BZ_TASK_NO_MEMORY);
    free(r);
    assert_int_equal(bz_client_open(o->client), 0);
    free(text);
}

struct box {
    atomic_uint n;
    uint64_t id;
};

static void call_back(struct bz_result *r, void *ctx)
{
    struct box *box = ctx;

    box->id = r->id;
    free(r);
    atomic_fetch_add(&box->n, 1);
}

static void a_callback_takes_the_result(void **state)
{
    struct office *o = office_open(state);
    struct box box = {0};
    uint64_t id;

    assert_ok(
        bz_client_submit(o->client, BZ_STR("{\"opcode\":3}"),
                         &(struct bz_client_extra){.callback = call_back, .ctx = &box},
                         &id, &o->err),
        &o->err);
    for (int i = 0; i < 5000 && atomic_load(&box.n) == 0; i++)
        usleep(1000);
    assert_int_equal(box.n, 1);
    assert_int_equal(box.id, id);
}

static void a_client_that_goes_ends_what_it_asked_for(void **state)
{
    struct office *o = office_open(state);
    struct bz_client *gone = bz_client_new(o->service, 8, office_take, o);
    uint64_t id;

    for (int i = 0; i < 8; i++)
        assert_ok(
            bz_client_submit(gone, BZ_STR("{\"opcode\":\"wait\"}"), NULL, &id, &o->err),
            &o->err);
    bz_client_free(gone); /* the gate is shut: they end because they are canceled */
    assert_null(o->first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, office_setup, office_teardown)
        TEST(a_client_that_takes_nothing_is_refused_alone),
        TEST(an_id_is_used_once_at_a_time),
        TEST(an_id_that_a_client_uses_is_not_given),
        TEST(an_id_that_comes_beside_the_request_counts),
        TEST(parts_wait_until_some_are_taken),
        TEST(a_client_has_so_many_bytes_at_a_time),
        TEST(parts_wait_until_there_are_fewer_bytes),
        TEST(who_takes_results_in_order_gets_no_more_than_that),
        TEST(who_hands_in_for_others_does_not_wait_for_memory),
        TEST(a_callback_takes_the_result),
        TEST(a_client_that_goes_ends_what_it_asked_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
