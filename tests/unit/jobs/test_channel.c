#include "jobs/channel.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "os/clock.h"
#include "tests/unit/bz_test.h"

/* Both ends, each with a mapping of its own. */
struct pair {
    struct bz_channel ours, theirs;
    struct bz_channel_writer w;
    struct bz_channel_reader r;
    int fd;
    struct bz_err err;
};

static int setup(void **state)
{
    struct pair *p = calloc(1, sizeof(*p));

    *state = p;
    if (bz_channel_new(&p->ours, &p->fd, &p->err) < 0 ||
        bz_channel_map(&p->theirs, p->fd, &p->err) < 0)
        return -1;
    bz_channel_write_requests(&p->theirs, &p->w);
    bz_channel_read_requests(&p->ours, &p->r);
    return 0;
}

static int teardown(void **state)
{
    struct pair *p = *state;

    bz_channel_reader_release(&p->r);
    bz_channel_release(&p->ours);
    bz_channel_release(&p->theirs);
    close(p->fd);
    free(p);
    return 0;
}

static int put(struct pair *p, uint64_t id, struct bz_str data, size_t *sent)
{
    struct bz_channel_head head = {
        .kind = BZ_CHANNEL_REQUEST, .id = id, .status = -3, .error = 1};
    const struct bz_str bytes[2] = {data, BZ_STR("!")};
    bool wake = false;

    return bz_channel_put(&p->w, &head, bytes, sent, &wake, &p->err);
}

static int take(struct pair *p, struct bz_channel_head *head)
{
    bool wake = false;

    return bz_channel_take(&p->r, head, &wake, &p->err);
}

static void what_is_put_in_comes_out_many_times_around(void **state)
{
    struct pair *p = *state;
    char text[1000];
    struct bz_channel_head head;

    memset(text, 'x', sizeof(text));
    assert_int_equal(take(p, &head), 0);
    for (uint64_t i = 1; i < 3000; i++) {
        size_t n = i % sizeof(text), sent = 0;

        text[n / 2] = (char)('a' + i % 26);
        assert_int_equal(put(p, i, bz_str_of(text, n), &sent), 1);
        assert_int_equal(take(p, &head), 1);
        assert_int_equal(head.id, i);
        assert_int_equal(head.status, -3);
        assert_int_equal(head.error, 1);
        assert_int_equal(head.kind, BZ_CHANNEL_REQUEST);
        assert_int_equal(p->r.whole.len, n + 1);
        assert_memory_equal(p->r.whole.data, text, n);
        assert_int_equal(p->r.whole.data[n], '!');
    }
    assert_int_equal(take(p, &head), 0);
}

static void a_record_longer_than_the_ring_goes_in_pieces(void **state)
{
    struct pair *p = *state;
    size_t n = 3 * (size_t)BZ_CHANNEL_REQUESTS + 5, sent = 0;
    char *text = malloc(n);
    struct bz_channel_head head = {0};
    int rc = 0, turns = 0;

    for (size_t i = 0; i < n; i++)
        text[i] = (char)(i * 7 + i / 1000);
    while (put(p, 5, bz_str_of(text, n), &sent) == 0) {
        assert_int_equal(rc, 0);
        rc = take(p, &head);
        turns++;
    }
    assert_true(turns >= 3);
    assert_int_equal(take(p, &head), 1);
    assert_int_equal(head.size, n + 1);
    assert_int_equal(head.flags, 0);
    assert_memory_equal(p->r.whole.data, text, n);
    free(text);
}

static void a_full_ring_says_so_and_tells_of_room(void **state)
{
    struct pair *p = *state;
    char text[1000] = "";
    struct bz_channel_head head;
    bool wake = false;
    size_t sent = 0;
    unsigned n = 0;

    for (; put(p, n + 1, bz_str_of(text, sizeof(text)), &sent) > 0; sent = 0)
        n++;
    assert_int_equal(sent, 0);
    assert_true(n > 200 && n < BZ_CHANNEL_REQUESTS / sizeof(text));
    assert_true(bz_channel_is_full(&p->w));
    assert_int_equal(bz_channel_take(&p->r, &head, &wake, &p->err), 1);
    assert_true(wake); /* once */
    wake = false;
    assert_int_equal(bz_channel_take(&p->r, &head, &wake, &p->err), 1);
    assert_false(wake);
    for (unsigned i = 2; i < n; i++)
        assert_int_equal(take(p, &head), 1);
    assert_int_equal(take(p, &head), 0);
    assert_false(bz_channel_is_full(&p->w));
}

static void who_sleeps_is_to_be_woken(void **state)
{
    struct pair *p = *state;
    struct bz_channel_head head = {.kind = BZ_CHANNEL_REQUEST, .id = 1};
    const struct bz_str bytes[2] = {BZ_STR("a"), BZ_STR("")};
    bool wake = false;
    size_t sent = 0;

    assert_true(bz_channel_quiet(&p->r));
    assert_int_equal(bz_channel_put(&p->w, &head, bytes, &sent, &wake, &p->err), 1);
    assert_true(wake);
    wake = false;
    sent = 0;
    assert_int_equal(bz_channel_put(&p->w, &head, bytes, &sent, &wake, &p->err), 1);
    assert_false(wake);
    assert_false(bz_channel_quiet(&p->r));
    bz_channel_sleep(p->r.words, 12345, BZ_CLOCK_NEVER); /* has changed: returns */
}

/* What a peer may do: any value in any word. */
static void lies_are_noticed(void **state)
{
    struct pair *p = *state;
    static const uint32_t tails[] = {1,          8,          23,         0xffffffff,
                                     0x80000000, 0x00040001, 0xfffffff8, 0x7fffffff};
    struct bz_channel_head head;
    size_t sent = 0;

    for (size_t i = 0; i < BZ_COUNTOF(tails); i++) {
        atomic_store(&p->w.words->tail, tails[i]);
        assert_int_equal(take(p, &head), BZ_E_CORRUPT);
    }
    atomic_store(&p->w.words->tail, 0);
    atomic_store(&p->w.words->head, 99); /* more was read than written */
    p->w.head = p->w.tail - p->w.size;   /* as if it were full */
    assert_int_equal(put(p, 1, BZ_STR("a"), &sent), BZ_E_CORRUPT);
}

static void sizes_that_do_not_fit_are_noticed(void **state)
{
    struct pair *p = *state;
    static const uint32_t sizes[] = {9, 1000, 0xffffffff, 0xffffffe8, 0x80000000};
    struct bz_channel_head head;

    atomic_store(&p->w.words->tail, 32); /* a head and 8 bytes */
    for (size_t i = 0; i < BZ_COUNTOF(sizes); i++) {
        memcpy(p->w.bytes, &sizes[i], sizeof(sizes[i]));
        assert_int_equal(take(p, &head), BZ_E_CORRUPT);
    }
}

static void pieces_without_end_are_too_much(void **state)
{
    struct pair *p = *state;
    char text[4096] = "";
    struct bz_channel_head head = {.kind = 1, .flags = BZ_CHANNEL_MORE};
    int rc = 0;

    p->r.limit = 100000;
    for (int i = 0; i < 100 && rc == 0; i++) {
        uint64_t word = sizeof(text) | 1ULL << 32 | (uint64_t)BZ_CHANNEL_MORE << 48;
        size_t sent = 0;

        /* A record that is whole, and then says that it is not. */
        uint32_t at = p->w.tail & (p->w.size - 1);

        assert_int_equal(put(p, 1, bz_str_of(text, sizeof(text) - 1), &sent), 1);
        memcpy(p->w.bytes + at, &word, sizeof(word));
        rc = take(p, &head);
    }
    assert_int_equal(rc, BZ_E_LIMIT);
}

static void memory_that_could_shrink_is_refused(void **state)
{
    struct pair *p = *state;
    struct bz_channel other = {0};
    int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    assert_int_equal(ftruncate(fd, 4096 + BZ_CHANNEL_REQUESTS + BZ_CHANNEL_RESULTS), 0);
    assert_int_equal(bz_channel_map(&other, fd, &p->err), BZ_E_CORRUPT);
    assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL),
                     0);
    assert_int_equal(bz_channel_map(&other, fd, &p->err), BZ_E_CORRUPT); /* no magic */
    assert_null(other.face);
    close(fd);
    assert_int_equal(ftruncate(p->fd, 0), -1);
}

enum { CROWD = 20000 };

static void *write_all(void *arg)
{
    struct pair *p = arg;
    struct bz_err err;

    for (uint64_t i = 1; i <= CROWD; i++) {
        struct bz_channel_head head = {.kind = BZ_CHANNEL_REQUEST, .id = i};
        char text[200];
        const struct bz_str bytes[2] = {bz_str_of(text, 1 + i % 199), BZ_STR("")};
        bool wake = false;
        size_t sent = 0;

        memset(text, (int)(i % 100), sizeof(text));
        while (bz_channel_put(&p->w, &head, bytes, &sent, &wake, &err) == 0)
            bz_channel_await(&p->w, bz_clock_in(BZ_CLOCK_S));
        if (wake)
            bz_channel_wake(p->w.words);
    }
    return NULL;
}

static void one_sleeps_until_the_other_has_something(void **state)
{
    struct pair *p = *state;
    struct bz_channel_head head;
    uint64_t next = 1;
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, write_all, p), 0);
    while (next <= CROWD) {
        bool wake = false;
        int rc = bz_channel_take(&p->r, &head, &wake, &p->err);

        if (wake)
            bz_channel_tell(p->r.words);
        if (rc == 0) {
            bz_channel_sleep(p->r.words, p->r.head, bz_clock_in(60 * BZ_CLOCK_S));
            continue;
        }
        assert_int_equal(rc, 1);
        assert_int_equal(head.id, next);
        assert_int_equal(head.size, 1 + next % 199);
        assert_int_equal(p->r.whole.data[head.size - 1], next % 100);
        next++;
    }
    pthread_join(thread, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(what_is_put_in_comes_out_many_times_around),
        TEST(a_record_longer_than_the_ring_goes_in_pieces),
        TEST(a_full_ring_says_so_and_tells_of_room),
        TEST(who_sleeps_is_to_be_woken),
        TEST(lies_are_noticed),
        TEST(sizes_that_do_not_fit_are_noticed),
        TEST(pieces_without_end_are_too_much),
        TEST(memory_that_could_shrink_is_refused),
        TEST(one_sleeps_until_the_other_has_something),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
