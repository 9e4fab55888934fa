#include "jobs/watchdog.h"

#include <stdlib.h>
#include <unistd.h>

#include "os/clock.h"
#include "tests/unit/bz_test.h"

enum { ENTRIES = 200 };

struct kennel {
    struct bz_pool *pool;
    struct bz_watchdog dog;
    struct thing {
        struct bz_watchdog_entry entry;
        int64_t due;
        int again; /* so many times */
    } things[ENTRIES];
    atomic_uint n;
    struct thing *seen[2 * ENTRIES]; /* as they were looked at */
    atomic_bool early;
};

static int64_t look(void *ctx, struct bz_watchdog_entry *e, int64_t now)
{
    struct kennel *k = ctx;
    struct thing *t = BZ_CONTAINER(e, struct thing, entry);
    unsigned n = atomic_load(&k->n);

    if (now < t->due)
        atomic_store(&k->early, true);
    k->seen[n] = t;
    atomic_store(&k->n, n + 1);
    return t->again-- > 0 ? now + 1 : 0;
}

static int setup(void **state)
{
    struct kennel *k = calloc(1, sizeof(*k));
    struct bz_err err;

    if (bz_pool_new(&(struct bz_pool_opts){.compute = 1, .io = 1}, &k->pool, &err) < 0)
        return -1;
    bz_watchdog_init(&k->dog, k->pool, look, k);
    *state = k;
    return 0;
}

static int teardown(void **state)
{
    struct kennel *k = *state;

    bz_watchdog_release(&k->dog);
    bz_pool_free(k->pool);
    free(k);
    return 0;
}

static void wait_for(struct kennel *k, unsigned n)
{
    int64_t end = bz_clock_in(20 * BZ_CLOCK_S);

    while (atomic_load(&k->n) < n && bz_clock_now() < end)
        usleep(200);
    assert_int_equal(k->n, n);
}

static void things_are_looked_at_in_the_order_of_time(void **state)
{
    struct kennel *k = *state;
    int64_t now = bz_clock_now();

    /* The first is far off; it must not keep the others waiting. */
    for (size_t i = 0; i < ENTRIES; i++) {
        struct thing *t = &k->things[i];

        t->due = i == 0 ? now + 3600 * BZ_CLOCK_S
                        : now + 50 * BZ_CLOCK_MS + (int64_t)(i * 73 % ENTRIES);
        bz_watchdog_add(&k->dog, &t->entry, t->due);
    }
    wait_for(k, ENTRIES - 1);
    assert_false(k->early);
    assert_true(bz_watchdog_remove(&k->dog, &k->things[0].entry));
    assert_false(bz_watchdog_remove(&k->dog, &k->things[1].entry));
}

static void what_was_removed_is_not_looked_at(void **state)
{
    struct kennel *k = *state;
    int64_t now = bz_clock_now();

    for (size_t i = 0; i < ENTRIES; i++) {
        struct thing *t = &k->things[i];

        t->due = now + 3600 * BZ_CLOCK_S + (int64_t)(i * 73 % ENTRIES);
        bz_watchdog_add(&k->dog, &t->entry, t->due);
    }
    for (size_t i = 0; i < ENTRIES; i++) {
        const struct bz_watchdog_heap *h = &k->dog.heap;

        assert_true(bz_watchdog_remove(&k->dog, &k->things[i * 7 % ENTRIES].entry));
        for (size_t j = 1; j < h->len; j++) /* nobody is before who is above */
            assert_true(h->at[j].entry->due >= h->at[(j - 1) / 2].entry->due);
    }
    assert_int_equal(k->dog.heap.len, 0);
    assert_int_equal(k->n, 0);
}

static void what_is_to_be_looked_at_again_is(void **state)
{
    struct kennel *k = *state;
    struct thing *t = &k->things[0];

    t->again = 2;
    bz_watchdog_add(&k->dog, &t->entry, bz_clock_now());
    wait_for(k, 3);
    assert_ptr_equal(k->seen[2], t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(things_are_looked_at_in_the_order_of_time),
        TEST(what_was_removed_is_not_looked_at),
        TEST(what_is_to_be_looked_at_again_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
