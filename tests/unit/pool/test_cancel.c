#include "pool/cancel.h"

#include <time.h>
#include <unistd.h>

#include "os/clock.h"
#include "tests/unit/bz_test.h"

static void a_token_stays_canceled_and_null_never_is(void **state)
{
    struct bz_cancel c;

    (void)state;
    assert_int_equal(bz_cancel_check(NULL), 0);
    bz_cancel_init(&c, NULL, BZ_CLOCK_NEVER);
    assert_int_equal(bz_cancel_check(&c), 0);
    bz_cancel_now(&c);
    bz_cancel_now(&c);
    assert_int_equal(bz_cancel_check(&c), BZ_E_CANCELED);
}

static void cancelling_reaches_descendants_but_not_ancestors_or_siblings(void **state)
{
    struct bz_cancel top, left, right, leaf;

    (void)state;
    bz_cancel_init(&top, NULL, BZ_CLOCK_NEVER);
    bz_cancel_init(&left, &top, BZ_CLOCK_NEVER);
    bz_cancel_init(&right, &top, BZ_CLOCK_NEVER);
    bz_cancel_init(&leaf, &left, BZ_CLOCK_NEVER);
    bz_cancel_now(&left);
    assert_int_equal(bz_cancel_check(&leaf), BZ_E_CANCELED);
    assert_int_equal(bz_cancel_check(&right), 0);
    assert_int_equal(bz_cancel_check(&top), 0);
    bz_cancel_now(&top);
    assert_int_equal(bz_cancel_check(&right), BZ_E_CANCELED);
}

static void a_descriptor_that_can_be_read_cancels(void **state)
{
    const struct timespec pause = {0, 10 * BZ_CLOCK_MS};
    struct bz_cancel top, leaf;
    int ends[2];
    char c;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    bz_cancel_init(&top, NULL, BZ_CLOCK_NEVER);
    bz_cancel_watch(&top, ends[0]);
    bz_cancel_init(&leaf, &top, BZ_CLOCK_NEVER);
    assert_int_equal(bz_cancel_check(&leaf), 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    nanosleep(&pause, NULL); /* it is not asked all the time */
    assert_int_equal(bz_cancel_check(&leaf), BZ_E_CANCELED);
    assert_int_equal(read(ends[0], &c, 1), 1); /* that is left to others */
    assert_int_equal(bz_cancel_check(&top), BZ_E_CANCELED);
    close(ends[0]);
    close(ends[1]);
}

static void the_nearest_deadline_of_all_ancestors_counts(void **state)
{
    static const struct {
        int64_t parent, own, want;
    } t[] = {
        {0,   0,   0  },
        {0,   100, 100},
        {100, 0,   100},
        {100, 200, 100},
        {200, 100, 100},
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(t); i++) {
        struct bz_cancel parent, child, grandchild;

        bz_cancel_init(&parent, NULL, t[i].parent);
        bz_cancel_init(&child, &parent, t[i].own);
        bz_cancel_init(&grandchild, &child, BZ_CLOCK_NEVER);
        assert_int_equal(bz_cancel_deadline(&child), t[i].want);
        assert_int_equal(bz_cancel_deadline(&grandchild), t[i].want);
    }
    assert_int_equal(bz_cancel_deadline(NULL), BZ_CLOCK_NEVER);
}

static void a_deadline_that_passed_is_a_timeout_unless_canceled_first(void **state)
{
    struct bz_cancel past, future;

    (void)state;
    bz_cancel_init(&past, NULL, bz_clock_now());
    bz_cancel_init(&future, NULL, bz_clock_in(3600 * BZ_CLOCK_S));
    assert_int_equal(bz_cancel_check(&past), BZ_E_TIMEOUT);
    assert_int_equal(bz_cancel_check(&future), 0);
    bz_cancel_now(&past);
    assert_int_equal(bz_cancel_check(&past), BZ_E_CANCELED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_descriptor_that_can_be_read_cancels),
        cmocka_unit_test(a_token_stays_canceled_and_null_never_is),
        cmocka_unit_test(cancelling_reaches_descendants_but_not_ancestors_or_siblings),
        cmocka_unit_test(the_nearest_deadline_of_all_ancestors_counts),
        cmocka_unit_test(a_deadline_that_passed_is_a_timeout_unless_canceled_first),
    };

    return cmocka_run_group_tests_name("pool/cancel", tests, NULL, NULL);
}
