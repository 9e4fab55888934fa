#include "pool/latch.h"

#include <pthread.h>

#include "os/clock.h"
#include "tests/unit/bz_test.h"

static void the_waiters_steps_follow_the_state_machine(void **state)
{
    struct bz_latch l;

    (void)state;
    bz_latch_init(&l, NULL, 0);
    assert_false(bz_latch_fall_asleep(&l)); /* not sleepy yet */
    assert_true(bz_latch_get_sleepy(&l));
    assert_false(bz_latch_get_sleepy(&l));
    assert_true(bz_latch_fall_asleep(&l));
    bz_latch_wake_up(&l);
    assert_int_equal(atomic_load(&l.state), BZ_LATCH_UNSET);
    assert_false(bz_latch_probe(&l));
}

static void a_setter_wins_against_every_step_of_the_waiter(void **state)
{
    (void)state;
    for (int steps = 0; steps < 3; steps++) {
        struct bz_latch l;

        bz_latch_init(&l, NULL, 0);
        if (steps > 0)
            assert_true(bz_latch_get_sleepy(&l));
        if (steps > 1)
            assert_true(bz_latch_fall_asleep(&l));
        bz_latch_set(&l);
        assert_false(bz_latch_get_sleepy(&l));
        assert_false(bz_latch_fall_asleep(&l));
        bz_latch_wake_up(&l);
        assert_true(bz_latch_probe(&l));
    }
}

static void waiting_ends_at_the_deadline_and_may_be_resumed(void **state)
{
    struct bz_latch l;
    int64_t start = bz_clock_now();

    (void)state;
    bz_latch_init(&l, NULL, 0);
    assert_false(bz_latch_wait(&l, bz_clock_in(5 * BZ_CLOCK_MS)));
    assert_true(bz_clock_now() - start >= 5 * BZ_CLOCK_MS);
    assert_false(bz_latch_wait(&l, start));
    bz_latch_set(&l);
    assert_true(bz_latch_wait(&l, start));
}

struct pass {
    struct bz_latch *latch;
    int *value;
};

static void *setter(void *arg)
{
    struct pass *p = arg;

    *p->value = 42;
    bz_latch_set(p->latch);
    return NULL;
}

/* The latch lives on the waiter's stack and is gone when it returns. */
static int wait_once(void)
{
    struct bz_latch latch;
    int value = 0;
    struct pass p = {&latch, &value};
    pthread_t thread;

    bz_latch_init(&latch, NULL, 0);
    if (pthread_create(&thread, NULL, setter, &p) != 0)
        return -1;
    bz_latch_wait(&latch, BZ_CLOCK_NEVER);
    pthread_join(thread, NULL);
    return value;
}

static void what_the_setter_did_is_visible_to_the_waiter(void **state)
{
    (void)state;
    for (int i = 0; i < 500; i++)
        assert_int_equal(wait_once(), 42);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_waiters_steps_follow_the_state_machine),
        cmocka_unit_test(a_setter_wins_against_every_step_of_the_waiter),
        cmocka_unit_test(waiting_ends_at_the_deadline_and_may_be_resumed),
        cmocka_unit_test(what_the_setter_did_is_visible_to_the_waiter),
    };

    return cmocka_run_group_tests_name("pool/latch", tests, NULL, NULL);
}
