#include "jobs/gang.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/clock.h"
#include "tests/unit/bz_test.h"

struct site {
    struct bz_gang gang;
    atomic_uint bricks, laid, at_once, most;
    unsigned pause;   /* microseconds for each */
    atomic_uint hold; /* nobody ends before it is 0 */
};

static bool has_bricks(void *ctx)
{
    struct site *s = ctx;

    return atomic_load(&s->bricks) > 0;
}

static bool lay(void *ctx, unsigned number)
{
    struct site *s = ctx;
    unsigned n = atomic_load(&s->bricks), now, most;

    do
        if (n == 0)
            return false;
    while (!atomic_compare_exchange_weak(&s->bricks, &n, n - 1));
    bz_gang_busy(&s->gang, number);
    now = atomic_fetch_add(&s->at_once, 1) + 1;
    most = atomic_load(&s->most);
    while (most < now && !atomic_compare_exchange_weak(&s->most, &most, now))
        ;
    if (s->pause)
        usleep(s->pause);
    while (atomic_load(&s->hold))
        usleep(1000);
    atomic_fetch_sub(&s->at_once, 1);
    atomic_fetch_add(&s->laid, 1);
    bz_gang_back(&s->gang, number);
    return true;
}

static void open_site(struct site *s, struct bz_pool *pool, enum bz_lane_id lane,
                      unsigned size)
{
    bz_gang_init(&s->gang, pool,
                 &(struct bz_gang_opts){size, lane, lay, has_bricks, s});
}

static void build(unsigned size, unsigned bricks, unsigned pause, struct site *s)
{
    int64_t end = bz_clock_in(20 * BZ_CLOCK_S);
    struct bz_pool *pool;
    struct bz_err err;

    s->pause = pause;
    assert_ok(
        bz_pool_new(&(struct bz_pool_opts){.compute = 2, .io = size}, &pool, &err),
        &err);
    open_site(s, pool, BZ_LANE_IO, size);
    for (unsigned i = 0; i < bricks; i++) {
        atomic_fetch_add(&s->bricks, 1);
        bz_gang_more(&s->gang);
        if (pause == 0 && i % 64 == 0) /* so that they leave, and have to come back */
            while (atomic_load(&s->laid) <= i && bz_clock_now() < end)
                usleep(10);
    }
    while (atomic_load(&s->laid) < bricks && bz_clock_now() < end)
        usleep(100);
    assert_int_equal(s->laid, bricks);
    bz_gang_release(&s->gang);
    bz_pool_free(pool);
}

static void no_work_is_left_lying(void **state)
{
    struct site *s = bz_mem_padded(sizeof(*s));

    (void)state;
    *s = (struct site){0};
    build(3, 20000, 0, s);
    free(s);
}

static void another_comes_while_one_is_busy(void **state)
{
    struct site *s = bz_mem_padded(sizeof(*s));

    (void)state;
    *s = (struct site){0};
    build(4, 24, 20000, s);
    assert_true(s->most > 1);
    assert_true(s->most <= 4);
    free(s);
}

/* Waits until so many work at once. */
static void wait_for(struct site *s, unsigned n)
{
    for (int i = 0; i < 100000 && atomic_load(&s->at_once) != n; i++)
        usleep(100);
    assert_int_equal(s->at_once, n);
}

static void one_that_does_not_come_back_is_replaced(void **state)
{
    struct site *s = bz_mem_padded(sizeof(*s));
    struct bz_pool *pool;
    struct bz_err err;

    (void)state;
    *s = (struct site){.hold = 1};
    assert_ok(bz_pool_new(&(struct bz_pool_opts){.compute = 1, .io = 1 + BZ_GANG_SPARE},
                          &pool, &err),
              &err);
    open_site(s, pool, BZ_LANE_COMPUTE, 1);
    for (unsigned i = 0; i < 2 * BZ_GANG_SPARE; i++) {
        atomic_fetch_add(&s->bricks, 1);
        bz_gang_more(&s->gang);
    }
    wait_for(s, 1);
    for (unsigned i = 0; i < BZ_GANG_SPARE; i++) {
        assert_true(bz_gang_replace(&s->gang));
        wait_for(s, 2 + i);
    }
    assert_false(bz_gang_replace(&s->gang));
    for (unsigned i = 0; i < BZ_GANG_SPARE; i++)
        bz_gang_retire(&s->gang);
    atomic_store(&s->hold, 0);
    for (int i = 0; i < 20000 && atomic_load(&s->laid) < 2 * BZ_GANG_SPARE; i++)
        usleep(1000);
    assert_int_equal(s->laid, 2 * BZ_GANG_SPARE);
    /* They are spare again, but for one. */
    for (int i = 0; i < 20000 && atomic_load(&s->gang.there) > 0; i++)
        usleep(1000);
    assert_int_equal(bz_gang_spares(&s->gang), BZ_GANG_SPARE);
    assert_int_equal(s->gang.at_home, 1);
    bz_gang_release(&s->gang);
    bz_pool_free(pool);
    free(s);
}

static void *bring_a_brick(void *arg)
{
    struct site *s = arg;

    atomic_fetch_add(&s->bricks, 1);
    while (atomic_load(&s->hold) < 2) /* at the same time as the other thread */
        ;
    bz_gang_more(&s->gang);
    return NULL;
}

/* Whoever brings work finds nobody idle just when one becomes so. */
static void one_who_comes_when_work_does_sees_it(void **state)
{
    struct site *s = bz_mem_padded(sizeof(*s));
    struct bz_pool *pool;
    struct bz_err err;

    (void)state;
    assert_ok(bz_pool_new(&(struct bz_pool_opts){.compute = 1, .io = 1 + BZ_GANG_SPARE},
                          &pool, &err),
              &err);
    for (int i = 0; i < 500; i++) {
        pthread_t thread;

        *s = (struct site){.hold = 1, .bricks = 1};
        open_site(s, pool, BZ_LANE_COMPUTE, 1);
        bz_gang_more(&s->gang);
        while (atomic_load(&s->at_once) == 0)
            sched_yield();
        assert_int_equal(pthread_create(&thread, NULL, bring_a_brick, s), 0);
        while (atomic_load(&s->bricks) == 0)
            sched_yield();
        atomic_store(&s->hold, 2);
        for (volatile int k = 0; k < i % 64; k++)
            ;
        assert_true(bz_gang_replace(&s->gang));
        pthread_join(thread, NULL);
        wait_for(s, 2);
        atomic_store(&s->hold, 0);
        bz_gang_release(&s->gang);
    }
    bz_pool_free(pool);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_work_is_left_lying),
        cmocka_unit_test(another_comes_while_one_is_busy),
        cmocka_unit_test(one_that_does_not_come_back_is_replaced),
        cmocka_unit_test(one_who_comes_when_work_does_sees_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
