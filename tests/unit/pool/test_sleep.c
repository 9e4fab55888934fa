#include "pool/sleep.h"

#include <pthread.h>
#include <sched.h>

#include "os/membarrier.h"
#include "tests/unit/bz_test.h"

static uint64_t counters(struct bz_sleep *s)
{
    return atomic_load(&s->counters);
}

/* Fruitless rounds until the next one would block. */
static void become_sleepy(struct bz_sleep *s, unsigned self, struct bz_sleep_idle *idle,
                          struct bz_latch *latch)
{
    for (int i = 0; i < 33; i++)
        bz_sleep_no_work(s, self, idle, latch);
}

static void looking_and_stopping_is_counted(void **state)
{
    struct bz_sleep s;

    (void)state;
    bz_sleep_init(&s, 2, true);
    bz_sleep_start_looking(&s);
    bz_sleep_start_looking(&s);
    assert_int_equal(bz_sleep_inactive(counters(&s)), 2);
    assert_false(bz_sleep_stop_looking(&s));
    assert_int_equal(bz_sleep_inactive(counters(&s)), 1);
    assert_int_equal(bz_sleep_sleeping(counters(&s)), 0);
    bz_sleep_release(&s);
}

static void announcing_makes_the_event_counter_even_and_work_makes_it_odd(void **state)
{
    struct bz_sleep_idle idle = {0};
    struct bz_latch latch;
    struct bz_sleep s;

    (void)state;
    bz_sleep_init(&s, 1, true);
    bz_latch_init(&latch, &s, 0);
    assert_int_equal(bz_sleep_new_work(&s, 1, true), 0);
    assert_int_equal(bz_sleep_events(counters(&s)), 1);
    assert_true(bz_sleep_all_busy(&s));
    for (int i = 0; i < 32; i++)
        bz_sleep_no_work(&s, 0, &idle, &latch);
    assert_int_equal(bz_sleep_events(counters(&s)), 1); /* not yet */
    bz_sleep_no_work(&s, 0, &idle, &latch);
    assert_int_equal(bz_sleep_events(counters(&s)), 2);
    assert_int_equal(idle.events, 2);
    assert_false(bz_sleep_all_busy(&s));
    bz_sleep_new_work(&s, 1, true);
    bz_sleep_new_work(&s, 1, true); /* a second poster need not change it again */
    assert_int_equal(bz_sleep_events(counters(&s)), 3);
    bz_sleep_release(&s);
}

static void work_that_came_after_the_announcement_keeps_a_worker_awake(void **state)
{
    struct bz_sleep_idle idle = {0};
    struct bz_latch latch;
    struct bz_sleep s;

    (void)state;
    bz_sleep_init(&s, 1, true);
    bz_latch_init(&latch, &s, 0);
    bz_sleep_start_looking(&s);
    become_sleepy(&s, 0, &idle, &latch);
    bz_sleep_new_work(&s, 1, true);
    bz_sleep_no_work(&s, 0, &idle, &latch); /* would block for ever if it slept */
    assert_int_equal(idle.slept, 0);
    assert_int_equal(bz_sleep_sleeping(counters(&s)), 0);
    assert_int_equal(atomic_load(&latch.state), BZ_LATCH_UNSET);
    bz_sleep_no_work(&s, 0, &idle, &latch); /* announces once more */
    assert_int_equal(idle.events, bz_sleep_events(counters(&s)));
    bz_sleep_release(&s);
}

static void a_set_latch_keeps_a_worker_awake(void **state)
{
    struct bz_sleep_idle idle = {0};
    struct bz_latch latch;
    struct bz_sleep s;

    (void)state;
    bz_sleep_init(&s, 1, true);
    bz_latch_init(&latch, &s, 0);
    become_sleepy(&s, 0, &idle, &latch);
    bz_latch_set(&latch);
    bz_sleep_no_work(&s, 0, &idle, &latch);
    assert_int_equal(idle.slept, 0);
    assert_int_equal(bz_sleep_sleeping(counters(&s)), 0);
    bz_sleep_release(&s);
}

struct sleeper {
    struct bz_sleep *s;
    unsigned self;
    struct bz_latch latch;
    struct bz_sleep_idle idle;
};

/* Goes to sleep once and returns when woken. */
static void *sleep_once(void *arg)
{
    struct sleeper *me = arg;

    bz_sleep_start_looking(me->s);
    while (me->idle.slept == 0 && !bz_latch_probe(&me->latch))
        bz_sleep_no_work(me->s, me->self, &me->idle, &me->latch);
    bz_sleep_stop_looking(me->s);
    return NULL;
}

static void start_sleepers(struct bz_sleep *s, struct sleeper *sleeper,
                           pthread_t *thread, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        sleeper[i] = (struct sleeper){.s = s, .self = i};
        bz_latch_init(&sleeper[i].latch, s, i);
        assert_int_equal(pthread_create(&thread[i], NULL, sleep_once, &sleeper[i]), 0);
    }
    while (bz_sleep_sleeping(counters(s)) < n)
        sched_yield();
}

static void posters_wake_as_many_as_there_is_work_for(void **state)
{
    struct sleeper sleeper[3];
    pthread_t thread[3];
    struct bz_sleep s;
    unsigned woken = 0;

    (void)state;
    bz_sleep_init(&s, 3, !bz_membarrier_register());
    start_sleepers(&s, sleeper, thread, 3);
    assert_int_equal(bz_sleep_inactive(counters(&s)), 3);
    woken = bz_sleep_new_work(&s, 2, true);
    assert_int_equal(woken, 2);
    assert_true(bz_sleep_sleeping(counters(&s)) <= 1); /* the waker has counted */
    while (woken < 3)
        woken += bz_sleep_wake_any(&s, 3);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    assert_int_equal(counters(&s) & UINT32_MAX, 0);
    bz_sleep_release(&s);
}

static void idle_workers_that_are_awake_make_waking_unnecessary(void **state)
{
    struct sleeper sleeper[1];
    pthread_t thread[1];
    struct bz_sleep s;

    (void)state;
    bz_sleep_init(&s, 3, true);
    start_sleepers(&s, sleeper, thread, 1);
    bz_sleep_start_looking(&s); /* another worker, awake and searching */
    assert_int_equal(bz_sleep_new_work(&s, 1, true), 0);
    /* But two items are one too many for it, and a backlog always is. */
    assert_int_equal(bz_sleep_new_work(&s, 2, true), 1);
    pthread_join(thread[0], NULL);
    start_sleepers(&s, sleeper, thread, 1);
    assert_int_equal(bz_sleep_new_work(&s, 1, false), 1);
    pthread_join(thread[0], NULL);
    bz_sleep_release(&s);
}

static void setting_a_latch_wakes_its_owner_and_no_other(void **state)
{
    struct sleeper sleeper[2];
    pthread_t thread[2];
    struct bz_sleep s;

    (void)state;
    bz_sleep_init(&s, 2, true);
    start_sleepers(&s, sleeper, thread, 2);
    bz_latch_set(&sleeper[1].latch);
    pthread_join(thread[1], NULL);
    assert_int_equal(bz_sleep_sleeping(counters(&s)), 1);
    assert_int_equal(bz_sleep_wake(&s, 1), 0); /* awake already */
    assert_int_equal(bz_sleep_wake(&s, 0), 1);
    pthread_join(thread[0], NULL);
    bz_sleep_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(looking_and_stopping_is_counted),
        cmocka_unit_test(announcing_makes_the_event_counter_even_and_work_makes_it_odd),
        cmocka_unit_test(work_that_came_after_the_announcement_keeps_a_worker_awake),
        cmocka_unit_test(a_set_latch_keeps_a_worker_awake),
        cmocka_unit_test(posters_wake_as_many_as_there_is_work_for),
        cmocka_unit_test(idle_workers_that_are_awake_make_waking_unnecessary),
        cmocka_unit_test(setting_a_latch_wakes_its_owner_and_no_other),
    };

    return cmocka_run_group_tests_name("pool/sleep", tests, NULL, NULL);
}
