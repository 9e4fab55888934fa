#include "os/clock.h"

#include <limits.h>
#include <poll.h>

#include "tests/unit/bz_test.h"

static void monotonic_time_never_goes_back(void **state)
{
    int64_t before = bz_clock_now();

    (void)state;
    assert_true(before > 0);
    for (int i = 0; i < 1000; i++) {
        int64_t now = bz_clock_now();

        assert_true(now >= before);
        before = now;
    }
}

static void coarse_time_is_a_little_late_at_most(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
        int64_t before = bz_clock_now(), coarse = bz_clock_coarse();

        assert_true(coarse <= bz_clock_now());
        assert_true(coarse > before - 50 * BZ_CLOCK_MS);
    }
}

static void wall_time_counts_from_1970(void **state)
{
    (void)state;
    /* Between 2020 and 2200: a clock in other units would be far outside. */
    assert_true(bz_clock_wall() > INT64_C(1577836800) * BZ_CLOCK_S);
    assert_true(bz_clock_wall() < INT64_C(7258118400) * BZ_CLOCK_S);
}

static void cpu_time_grows_with_work(void **state)
{
    int64_t start = bz_clock_cpu(), limit = bz_clock_in(60 * BZ_CLOCK_S);

    (void)state;
    while (bz_clock_cpu() - start < BZ_CLOCK_MS)
        assert_true(bz_clock_now() < limit);
}

static void an_instant_in_the_future_saturates(void **state)
{
    int64_t now = bz_clock_now();

    (void)state;
    assert_true(bz_clock_in(BZ_CLOCK_S) >= now + BZ_CLOCK_S);
    assert_true(bz_clock_in(BZ_CLOCK_S) < now + 60 * BZ_CLOCK_S);
    assert_true(bz_clock_in(INT64_MAX) == INT64_MAX);
    assert_true(bz_clock_in(-1) >= now);
    assert_true(bz_clock_in(INT64_MIN) >= now);
}

static void a_poll_timeout_is_rounded_up(void **state)
{
    int64_t deadline = bz_clock_in(BZ_CLOCK_MS + BZ_CLOCK_MS / 2);

    (void)state;
    assert_int_equal(bz_clock_poll_ms(BZ_CLOCK_NEVER), -1);
    assert_int_equal(bz_clock_poll_ms(1), 0);
    assert_int_equal(bz_clock_poll_ms(bz_clock_now()), 0);
    assert_int_equal(bz_clock_poll_ms(INT64_MAX), INT_MAX);
    poll(NULL, 0, bz_clock_poll_ms(deadline));
    assert_true(bz_clock_now() >= deadline);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(monotonic_time_never_goes_back),
        cmocka_unit_test(coarse_time_is_a_little_late_at_most),
        cmocka_unit_test(wall_time_counts_from_1970),
        cmocka_unit_test(cpu_time_grows_with_work),
        cmocka_unit_test(an_instant_in_the_future_saturates),
        cmocka_unit_test(a_poll_timeout_is_rounded_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
