#include "report/memuse.h"

#include "tests/unit/bz_test.h"

static void what_is_not_available_is_in_use(void **state)
{
    (void)state;
    assert_int_equal(bz_memuse_parse(BZ_STR("MemTotal:  2000 kB\nMemFree:  10 kB\n"
                                            "MemAvailable:   500 kB\n")),
                     75);
    assert_int_equal(bz_memuse_parse_used(BZ_STR("MemTotal:  2000 kB\nMemFree:  10 kB\n"
                                                 "MemAvailable:   500 kB\n")),
                     1500 * 1024);
    assert_int_equal(bz_memuse_parse_used(BZ_STR("MemTotal:  2000 kB\n")), 0);
    assert_true(bz_memuse_used() > 0);
}

static void what_makes_no_sense_is_not_known(void **state)
{
    (void)state;
    assert_int_equal(bz_memuse_parse(BZ_STR("")), -1);
    assert_int_equal(bz_memuse_parse(BZ_STR("MemTotal:\nMemAvailable: 1")), -1);
    assert_int_equal(bz_memuse_parse(BZ_STR("MemTotal: 1\nMemAvailable: 2")), -1);
    assert_int_equal(
        bz_memuse_parse(BZ_STR("MemTotal: 99999999999999999999\nMemAvailable: 1")), -1);
}

static void this_machine_uses_some(void **state)
{
    int percent = bz_memuse_read();

    (void)state;
    assert_true(percent >= 0 && percent <= 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_available_is_in_use),
        cmocka_unit_test(what_makes_no_sense_is_not_known),
        cmocka_unit_test(this_machine_uses_some),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
