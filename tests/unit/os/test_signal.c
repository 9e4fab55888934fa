#include "os/signal.h"

#include <pthread.h>
#include <unistd.h>

#include "os/clock.h"
#include "tests/unit/os/scratch.h"

static const int used[] = {SIGUSR1, SIGUSR2};

static bool is_blocked(int sig)
{
    sigset_t now;

    assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &now), 0);
    return sigismember(&now, sig);
}

static void signals_arrive_one_by_one(void **state)
{
    struct bz_signal s;
    struct bz_err err;
    int first, second;

    (void)state;
    assert_ok(bz_signal_open(&s, used, BZ_COUNTOF(used), &err), &err);
    kill(getpid(), SIGUSR2);
    kill(getpid(), SIGUSR1);
    assert_ok(bz_signal_next(&s, bz_clock_in(60 * BZ_CLOCK_S), &first, &err), &err);
    assert_ok(bz_signal_next(&s, BZ_CLOCK_NEVER, &second, &err), &err);
    assert_int_equal(first + second, SIGUSR1 + SIGUSR2);
    assert_int_not_equal(first, second);
    bz_signal_close(&s);
}

static void the_deadline_ends_the_wait(void **state)
{
    int64_t deadline = bz_clock_in(20 * BZ_CLOCK_MS);
    struct bz_signal s;
    struct bz_err err;
    int sig;

    (void)state;
    assert_ok(bz_signal_open(&s, used, BZ_COUNTOF(used), &err), &err);
    assert_int_equal(bz_signal_next(&s, deadline, &sig, &err), BZ_E_TIMEOUT);
    assert_true(bz_clock_now() >= deadline);
    assert_int_equal(bz_signal_next(&s, 1, &sig, &err), BZ_E_TIMEOUT);
    bz_signal_close(&s);
}

static void *send_one(void *arg)
{
    (void)arg;
    kill(getpid(), SIGUSR1); /* this thread inherited the block */
    return NULL;
}

static void a_signal_wakes_the_one_who_waits(void **state)
{
    struct bz_signal s;
    struct bz_err err;
    pthread_t thread;
    int sig = 0;

    (void)state;
    assert_ok(bz_signal_open(&s, used, BZ_COUNTOF(used), &err), &err);
    assert_int_equal(pthread_create(&thread, NULL, send_one, NULL), 0);
    assert_ok(bz_signal_next(&s, bz_clock_in(60 * BZ_CLOCK_S), &sig, &err), &err);
    pthread_join(thread, NULL);
    assert_int_equal(sig, SIGUSR1);
    bz_signal_close(&s);
}

static void closing_restores_the_mask(void **state)
{
    size_t fds = count_fds();
    struct bz_signal s;
    struct bz_err err;
    sigset_t usr2;

    (void)state;
    sigemptyset(&usr2);
    sigaddset(&usr2, SIGUSR2);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &usr2, NULL), 0);
    assert_ok(bz_signal_open(&s, used, BZ_COUNTOF(used), &err), &err);
    assert_true(is_blocked(SIGUSR1));
    bz_signal_close(&s);
    assert_false(is_blocked(SIGUSR1));
    assert_true(is_blocked(SIGUSR2)); /* it was before */
    bz_signal_close(&s);              /* harmless */
    assert_int_equal(pthread_sigmask(SIG_UNBLOCK, &usr2, NULL), 0);
    assert_int_equal(count_fds(), fds);
}

static void what_was_ignored_stays_ignored(void **state)
{
    struct bz_signal s;
    struct bz_err err;
    int sig;

    (void)state;
    signal(SIGUSR1, SIG_IGN);
    assert_ok(bz_signal_open(&s, used, BZ_COUNTOF(used), &err), &err);
    kill(getpid(), SIGUSR1);
    kill(getpid(), SIGUSR2);
    assert_ok(bz_signal_next(&s, BZ_CLOCK_NEVER, &sig, &err), &err);
    assert_int_equal(sig, SIGUSR2);
    assert_int_equal(bz_signal_next(&s, 1, &sig, &err), BZ_E_TIMEOUT);
    bz_signal_close(&s);
    signal(SIGUSR1, SIG_DFL);
}

static void a_number_that_is_no_signal_is_an_error(void **state)
{
    const int bad[] = {SIGUSR1, 9999};
    struct bz_signal s;
    struct bz_err err;

    (void)state;
    assert_int_equal(bz_signal_open(&s, bad, BZ_COUNTOF(bad), &err), BZ_E_IO);
    assert_non_null(strstr(err.msg, "9999"));
    assert_false(is_blocked(SIGUSR1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signals_arrive_one_by_one),
        cmocka_unit_test(the_deadline_ends_the_wait),
        cmocka_unit_test(a_signal_wakes_the_one_who_waits),
        cmocka_unit_test(closing_restores_the_mask),
        cmocka_unit_test(what_was_ignored_stays_ignored),
        cmocka_unit_test(a_number_that_is_no_signal_is_an_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
