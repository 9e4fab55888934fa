#include "jobs/inbox.h"

#include "tests/unit/jobs/office.h"

/* A client of the office's service with an inbox. */
struct desk {
    struct bz_inbox *inbox;
    struct bz_client *client;
};

static void desk_open(struct office *o, struct desk *d)
{
    d->inbox = bz_inbox_new();
    d->client = bz_client_new(o->service, 8, bz_inbox_put, d->inbox);
    d->inbox->client = d->client;
}

static void desk_close(struct desk *d)
{
    bz_client_free(d->client);
    bz_inbox_free(d->inbox);
}

static uint64_t ask(struct office *o, struct desk *d, const char *text)
{
    uint64_t id;

    assert_ok(bz_client_submit(d->client, bz_str_from(text), NULL, &id, &o->err),
              &o->err);
    return id;
}

static void results_are_found_by_id_in_any_order(void **state)
{
    struct office *o = office_open(state);
    struct desk d;
    uint64_t ids[8];

    desk_open(o, &d);
    for (int i = 0; i < 8; i++)
        ids[i] = ask(o, &d, "{\"opcode\":3}");
    for (int i = 7; i >= 0; i--) {
        struct bz_result *r =
            bz_inbox_wait(d.inbox, ids[i], bz_clock_in(5 * BZ_CLOCK_S));

        assert_non_null(r);
        assert_int_equal(r->id, ids[i]);
        free(r);
        assert_null(bz_inbox_poll(d.inbox, ids[i]));
    }
    desk_close(&d);
}

static void waiting_ends_at_the_deadline(void **state)
{
    struct office *o = office_open(state);
    struct desk d;
    uint64_t id;
    int64_t began;

    desk_open(o, &d);
    id = ask(o, &d, "{\"opcode\":\"wait\"}");
    began = bz_clock_now();
    assert_null(bz_inbox_wait(d.inbox, id, bz_clock_in(30 * BZ_CLOCK_MS)));
    assert_true(bz_clock_now() - began >= 30 * BZ_CLOCK_MS);
    desk_close(&d);
}

static void parts_come_in_order_and_what_is_left_is_dropped(void **state)
{
    struct office *o = office_open(state);
    struct desk d;
    uint64_t id;

    desk_open(o, &d);
    id = ask(o, &d, "{\"opcode\":\"stream\"}");
    for (int i = 0; i < 3; i++) {
        struct bz_result *r = bz_inbox_wait(d.inbox, id, bz_clock_in(5 * BZ_CLOCK_S));

        assert_int_equal(r->data[0], '0' + i);
        free(r);
    }
    desk_close(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, office_setup, office_teardown)
        TEST(results_are_found_by_id_in_any_order),
        TEST(waiting_ends_at_the_deadline),
        TEST(parts_come_in_order_and_what_is_left_is_dropped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
