#include "jobs/link.h"

#include "tests/unit/jobs/office.h"

/* A service, a link to it, and the client's end, all in one thread but for workers. */
struct desk {
    struct office *o;
    struct bz_client *client;
    struct bz_link *link;
    struct bz_channel channel;
    struct bz_channel_writer requests;
    struct bz_channel_reader results;
    atomic_uint told;
    unsigned handled;
};

static void deliver(void *ctx, struct bz_result *r)
{
    struct desk *d = ctx;

    if (bz_link_deliver(d->link, r))
        atomic_fetch_add(&d->told, 1);
}

static void desk_open(void **state, struct desk *d)
{
    int fd;

    memset(d, 0, sizeof(*d));
    d->o = office_open(state);
    d->client = bz_client_new(d->o->service, 4, deliver, d);
    assert_ok(bz_link_new(d->client, &d->link, &fd, &d->o->err), &d->o->err);
    assert_ok(bz_channel_map(&d->channel, fd, &d->o->err), &d->o->err);
    close(fd);
    bz_channel_write_requests(&d->channel, &d->requests);
    bz_channel_read_results(&d->channel, &d->results);
}

static void desk_close(struct desk *d)
{
    bz_client_free(d->client);
    bz_link_free(d->link);
    bz_channel_reader_release(&d->results);
    bz_channel_release(&d->channel);
}

static int put(struct desk *d, unsigned kind, uint64_t id, const char *text)
{
    struct bz_channel_head head = {.kind = (uint16_t)kind, .id = id};
    const struct bz_str bytes[2] = {bz_str_from(text), BZ_STR("")};
    bool wake = false;
    size_t sent = 0;

    return bz_channel_put(&d->requests, &head, bytes, &sent, &wake, &d->o->err);
}

static enum bz_link_state pump(struct desk *d)
{
    return bz_link_pump(d->link, &d->handled);
}

/* Pumps until a result has come. */
static void next_result(struct desk *d, struct bz_channel_head *head)
{
    int64_t end = bz_clock_in(60 * BZ_CLOCK_S);
    bool wake = false;
    int rc;

    while ((rc = bz_channel_take(&d->results, head, &wake, &d->o->err)) == 0) {
        assert_int_not_equal(pump(d), BZ_LINK_BROKEN);
        assert_true(bz_clock_now() < end);
        usleep(100);
    }
    assert_int_equal(rc, 1);
}

static void requests_go_in_and_results_come_out(void **state)
{
    struct bz_channel_head head;
    struct desk d;

    desk_open(state, &d);
    assert_int_equal(put(&d, BZ_CHANNEL_REQUEST, 7, "{\"opcode\":3,\"args\":{}}"), 1);
    next_result(&d, &head);
    assert_int_equal(head.id, 7);
    assert_int_equal(head.status, 0);
    assert_int_equal(head.flags, BZ_CHANNEL_FINAL | BZ_CHANNEL_DATA);
    assert_string_equal(d.results.whole.data, "{}");
    assert_int_equal(put(&d, BZ_CHANNEL_REQUEST, 8, "nonsense"), 1);
    next_result(&d, &head);
    assert_int_equal(head.id, 8);
    assert_int_equal(head.status, BZ_TASK_INVALID_JSON);
    assert_int_equal(head.error, head.size);
    assert_string_equal(d.results.whole.data, "column 1: expected an object");
    assert_int_equal(d.handled, 2);
    desk_close(&d);
}

static void a_task_is_canceled_by_its_id(void **state)
{
    struct bz_channel_head head;
    struct desk d;

    desk_open(state, &d);
    assert_int_equal(put(&d, BZ_CHANNEL_REQUEST, 7, "{\"opcode\":\"wait\"}"), 1);
    assert_int_equal(put(&d, BZ_CHANNEL_REQUEST, 7, "{\"opcode\":\"wait\"}"), 1);
    assert_int_equal(put(&d, BZ_CHANNEL_CANCEL, 7, ""), 1);
    next_result(&d, &head); /* of the second: its id is in use */
    assert_int_equal(head.status, BZ_TASK_INVALID_JSON);
    next_result(&d, &head);
    assert_int_equal(head.status, BZ_TASK_CANCELED);
    desk_close(&d);
}

static void too_many_requests_wait_and_none_is_lost(void **state)
{
    struct bz_channel_head head;
    bool seen[41] = {0};
    struct desk d;

    desk_open(state, &d);
    for (uint64_t i = 1; i <= 40; i++) /* 4 may be open */
        assert_int_equal(put(&d, BZ_CHANNEL_REQUEST, i, "{\"opcode\":\"wait\"}"), 1);
    while (pump(&d) != BZ_LINK_PAUSED)
        ;
    atomic_store(&d.o->gate, 1);
    for (int i = 1; i <= 40; i++) {
        next_result(&d, &head);
        assert_in_range(head.id, 1, 40);
        assert_false(seen[head.id]);
        seen[head.id] = true;
    }
    desk_close(&d);
}

static void results_without_room_wait_and_requests_with_them(void **state)
{
    struct bz_channel_head head;
    struct desk d;
    enum bz_link_state s = BZ_LINK_AWAKE;
    unsigned big = 0, small = 0;
    char *text = malloc(300001);
    int64_t end = bz_clock_in(60 * BZ_CLOCK_S);
    size_t sent = 0;

    desk_open(state, &d);
    snprintf(text, 300001, "{\"opcode\":3,\"args\":{\"a\":\"%0*d\"}}", 200000, 0);
    for (uint64_t i = 1; i <= 4; i++, sent = 0) {
        struct bz_channel_head ask = {.kind = BZ_CHANNEL_REQUEST, .id = i};
        const struct bz_str bytes[2] = {bz_str_from(text), BZ_STR("")};
        bool wake = false;

        while (bz_channel_put(&d.requests, &ask, bytes, &sent, &wake, &d.o->err) == 0)
            pump(&d);
    }
    /* Four echoes are more than the ring has room for. */
    while (bz_clock_now() < end &&
           (bz_client_tasks(d.client) > 0 || s != BZ_LINK_QUIET))
        s = pump(&d);
    assert_int_equal(s, BZ_LINK_QUIET);
    assert_int_equal(put(&d, BZ_CHANNEL_REQUEST, 9, "{\"opcode\":3}"), 1);
    assert_int_equal(pump(&d), BZ_LINK_QUIET); /* it is not read */
    assert_int_equal(bz_client_tasks(d.client), 0);
    assert_true(bz_client_open(d.client) > 0);
    /* The last may be unread as well, and is then no sooner done than the small one. */
    for (int i = 1; i <= 5; i++) {
        next_result(&d, &head);
        big += head.id != 9 && head.size == 200008;
        small += head.id == 9 && head.size == 0;
    }
    assert_int_equal(big, 4);
    assert_int_equal(small, 1);
    free(text);
    desk_close(&d);
}

static void nonsense_ends_the_link(void **state)
{
    static const struct {
        unsigned kind;
        uint64_t id;
    } cases[] = {
        {0,                  1},
        {BZ_CHANNEL_RESULT,  1},
        {77,                 1},
        {BZ_CHANNEL_REQUEST, 0},
        {BZ_CHANNEL_CANCEL,  0},
    };

    for (size_t i = 0; i <= BZ_COUNTOF(cases); i++) {
        void *own = NULL;
        struct desk d;

        assert_int_equal(office_setup(&own), 0);
        desk_open(&own, &d);
        if (i < BZ_COUNTOF(cases))
            assert_int_equal(put(&d, cases[i].kind, cases[i].id, "{\"opcode\":3}"), 1);
        else
            atomic_store(&d.requests.words->tail, 0x90000000);
        assert_int_equal(pump(&d), BZ_LINK_BROKEN);
        desk_close(&d);
        office_teardown(&own);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, office_setup, office_teardown)
        TEST(requests_go_in_and_results_come_out),
        TEST(a_task_is_canceled_by_its_id),
        TEST(too_many_requests_wait_and_none_is_lost),
        TEST(results_without_room_wait_and_requests_with_them),
        cmocka_unit_test(nonsense_ends_the_link),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
