#include "report/tally.h"

#include "os/clock.h"
#include "tests/unit/report/example.h"

static void recipes_are_summed_the_longest_first(void **state)
{
    struct bz_account a = {0};
    struct bz_shape s = {0};
    struct bz_tally t = {0};

    (void)state;
    example_read(EXAMPLE, &a, &s);
    bz_tally_recipes(&t, &a);
    assert_int_equal(t.len, 3);
    assert_true(bz_str_eq(t.at[0].name, BZ_STR("app")));
    assert_int_equal(t.at[0].ran, 5 * BZ_CLOCK_S);
    assert_int_equal(t.at[0].n[BZ_ACCOUNT_EXECUTED], 2);
    assert_int_equal(t.at[0].n[BZ_ACCOUNT_FAILED], 1);
    assert_int_equal(t.at[0].n[BZ_ACCOUNT_PASSED], 1);
    assert_int_equal(t.at[0].memory, 2048);
    assert_true(bz_str_eq(t.at[1].name, BZ_STR("tool")));
    assert_true(bz_str_eq(t.at[2].name, BZ_STR("lib")));
    assert_int_equal(t.at[2].saved, 5 * BZ_CLOCK_S);
    assert_int_equal(t.at[2].n[BZ_ACCOUNT_UNNEEDED], 1);
    bz_vec_release(&t);
    bz_shape_release(&s);
    bz_account_release(&a);
}

static void waves_are_summed_in_their_order(void **state)
{
    struct bz_account a = {0};
    struct bz_shape s = {0};
    struct bz_tally t = {0};

    (void)state;
    example_read(EXAMPLE, &a, &s);
    bz_tally_waves(&t, &a, &s);
    assert_int_equal(t.len, 5);
    assert_int_equal(t.at[0].n[BZ_ACCOUNT_EXECUTED], 1);
    assert_int_equal(t.at[0].n[BZ_ACCOUNT_UNNEEDED], 1);
    assert_int_equal(t.at[1].n[BZ_ACCOUNT_CACHED], 1);
    assert_int_equal(t.at[4].n[BZ_ACCOUNT_FAILED], 1);
    bz_vec_release(&t);
    bz_shape_release(&s);
    bz_account_release(&a);
}

static void the_slowest_come_first_and_are_few(void **state)
{
    struct bz_account a = {0};
    struct bz_shape s = {0};
    struct bz_dag_ids ids = {0};

    (void)state;
    example_read(EXAMPLE, &a, &s);
    bz_tally_slowest(&ids, &a, &s, 2);
    assert_int_equal(ids.len, 2);
    assert_int_equal(ids.at[0], example_id(&a, "tool:do_x"));
    assert_int_equal(ids.at[1], example_id(&a, "app:do_x"));
    bz_vec_release(&ids);
    bz_shape_release(&s);
    bz_account_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recipes_are_summed_the_longest_first),
        cmocka_unit_test(waves_are_summed_in_their_order),
        cmocka_unit_test(the_slowest_come_first_and_are_few),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
