#include "base/sync.h"

#include <time.h>

#include "tests/unit/bz_test.h"

enum { THREADS = 4, ROUNDS = 20000 };

struct counter {
    struct bz_sync_mutex mu;
    long value; /* mu */
};

static void *count_up(void *arg)
{
    struct counter *c = arg;
    int i;

    for (i = 0; i < ROUNDS; i++) {
        bz_sync_lock(&c->mu);
        c->value++;
        bz_sync_unlock(&c->mu);
    }
    return NULL;
}

static void mutex_lets_one_thread_in_at_a_time(void **state)
{
    struct counter c = {0};
    pthread_t threads[THREADS];
    int i;

    (void)state;
    for (i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_up, &c), 0);
    for (i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(c.value, (long)THREADS * ROUNDS);
}

/* Several threads wait for `open`; each then counts itself in `through`. */
struct gate {
    struct bz_sync_mutex mu;
    struct bz_sync_cond changed;
    int waiting, through; /* mu */
    bool open;            /* mu */
};

static void *pass_gate(void *arg)
{
    struct gate *g = arg;

    bz_sync_lock(&g->mu);
    g->waiting++;
    bz_sync_broadcast(&g->changed);
    while (!g->open)
        bz_sync_wait(&g->changed, &g->mu, 0);
    g->through++;
    bz_sync_unlock(&g->mu);
    return NULL;
}

static void broadcast_wakes_all_and_the_mutex_is_held_again(void **state)
{
    struct gate g = {0};
    pthread_t threads[THREADS];
    int i;

    (void)state;
    for (i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, pass_gate, &g), 0);
    bz_sync_lock(&g.mu);
    while (g.waiting < THREADS)
        bz_sync_wait(&g.changed, &g.mu, 0);
    i = g.through;
    g.open = true;
    bz_sync_unlock(&g.mu);
    bz_sync_broadcast(&g.changed);
    assert_int_equal(i, 0);
    for (i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(g.through, THREADS);
}

/* Two threads take turns; each step is one signal. */
struct turns {
    struct bz_sync_mutex mu;
    struct bz_sync_cond changed[2];
    int step; /* mu: even is the first thread's, odd the second's */
};

static void take_turns(struct turns *t, int me)
{
    int i;

    bz_sync_lock(&t->mu);
    for (i = 0; i < 1000; i++) {
        while (t->step % 2 != me)
            bz_sync_wait(&t->changed[me], &t->mu, 0);
        t->step++;
        bz_sync_broadcast(&t->changed[!me]);
    }
    bz_sync_unlock(&t->mu);
}

static void *second_player(void *arg)
{
    take_turns(arg, 1);
    return NULL;
}

static void signal_wakes_the_waiter(void **state)
{
    struct turns t = {0};
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, second_player, &t), 0);
    take_turns(&t, 0);
    pthread_join(thread, NULL);
    assert_int_equal(t.step, 2000);
}

static int64_t now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void waiting_ends_at_the_deadline_and_not_before(void **state)
{
    struct bz_sync_mutex mu = {0};
    struct bz_sync_cond never = {0};
    int64_t deadline = now() + 20000000;
    bool woken = true;

    (void)state;
    bz_sync_lock(&mu);
    while (woken && now() < deadline + INT64_C(60000000000))
        woken = bz_sync_wait(&never, &mu, deadline);
    bz_sync_unlock(&mu);
    assert_false(woken);
    assert_true(now() >= deadline);
}

static void deadline_in_the_past_returns_at_once(void **state)
{
    static const int64_t past[] = {1, -1, -5000000000, INT64_MIN};
    struct bz_sync_mutex mu = {0};
    struct bz_sync_cond never = {0};
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(past); i++) {
        bool woken;

        bz_sync_lock(&mu);
        woken = bz_sync_wait(&never, &mu, past[i]);
        bz_sync_unlock(&mu);
        assert_false(woken);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mutex_lets_one_thread_in_at_a_time),
        cmocka_unit_test(broadcast_wakes_all_and_the_mutex_is_held_again),
        cmocka_unit_test(signal_wakes_the_waiter),
        cmocka_unit_test(waiting_ends_at_the_deadline_and_not_before),
        cmocka_unit_test(deadline_in_the_past_returns_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
