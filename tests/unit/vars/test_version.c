#include "vars/version.h"

#include "tests/unit/bz_test.h"

static int64_t order(const char *a, const char *b)
{
    struct bz_version x, y;
    struct bz_err err;

    assert_ok(bz_version_split(bz_str_from(a), &x, &err), &err);
    assert_ok(bz_version_split(bz_str_from(b), &y, &err), &err);
    return bz_version_compare(&x, &y);
}

static void versions_are_ordered_both_ways(void **state)
{
    static const struct {
        const char *less, *more;
    } rows[] = {
        {"1.9",     "1.10"    },
        {"2.0",     "1:1.0"   },
        {"1.0-r1",  "1.0-r2"  },
        {"1.0",     "1.0-r0"  },
        {"1.0~rc1", "1.0"     },
        {"1.0",     "1.0a"    },
        {"1.0a",    "1.0b"    },
        {"1.0",     "1.0+git" },
        {"1.0",     "1.0.0"   },
        {"1.1",     "1.a"     },
        {"",        "0"       },
        {"-1:1",    "0:1"     },
        {"1.1",     "1_p2"    },
        {"1a",      "1a1"     },
        {"1.0",     "1.0+1-b1"},
    };

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        assert_int_equal(order(rows[i].less, rows[i].more), -1);
        assert_int_equal(order(rows[i].more, rows[i].less), 1);
        assert_int_equal(order(rows[i].more, rows[i].more), 0);
    }
}

static void epochs_give_their_difference(void **state)
{
    (void)state;
    assert_int_equal(order("5:1", "2:9"), 3);
    assert_int_equal(order("+1:1", " 1:1"), 0);
    assert_true(order("9223372036854775807:1", "-9223372036854775807:1") == INT64_MAX);
    assert_true(order("-9223372036854775807:1", "9223372036854775807:1") == -INT64_MAX);
}

static void operators_around_a_version_do_not_count(void **state)
{
    (void)state;
    assert_int_equal(order(">= 1.0", "1.0 "), 0);
    assert_int_equal(order("=<1", "<1>"), 0);
    assert_int_equal(order("001:02", "1:2:3"), 0);
}

static void recipe_variables_make_a_version(void **state)
{
    struct bz_version a, b;
    struct bz_err err;

    (void)state;
    assert_ok(bz_version_from(BZ_STR(""), BZ_STR("1.0-2"), BZ_STR("r0"), &a, &err),
              &err);
    assert_ok(bz_version_from(BZ_STR("1"), BZ_STR("0.1"), BZ_STR("r0"), &b, &err),
              &err);
    assert_true(bz_version_compare(&a, &b) < 0);
    assert_int_equal(a.epoch, 0);
    assert_true(bz_str_eq(a.version, BZ_STR("1.0-2")));
}

static void an_epoch_that_is_no_number_is_an_error(void **state)
{
    struct bz_version v;
    struct bz_err err;

    (void)state;
    assert_int_equal(bz_version_split(BZ_STR("x:1"), &v, &err), BZ_E_INVAL);
    assert_string_equal(err.msg, "the epoch 'x' is not a number");
    assert_int_equal(bz_version_split(BZ_STR(":1"), &v, &err), BZ_E_INVAL);
    assert_int_equal(
        bz_version_from(BZ_STR("99999999999999999999"), v.version, v.version, &v, &err),
        BZ_E_INVAL);
}

static void operators_hold_as_they_read(void **state)
{
    static const struct {
        const char *op;
        bool less, equal, more;
    } rows[] = {
        {"=",  false, true,  false},
        {"==", false, true,  false},
        {"!=", true,  false, true },
        {"<",  true,  false, false},
        {"<<", true,  false, false},
        {"<=", true,  true,  false},
        {">",  false, false, true },
        {">>", false, false, true },
        {">=", false, true,  true },
    };
    bool known;

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(rows); i++) {
        struct bz_str op = bz_str_from(rows[i].op);

        assert_int_equal(bz_version_holds(-3, op, &known), rows[i].less);
        assert_int_equal(bz_version_holds(0, op, &known), rows[i].equal);
        assert_int_equal(bz_version_holds(3, op, &known), rows[i].more);
        assert_true(known);
    }
    assert_false(bz_version_holds(0, BZ_STR("=>"), &known));
    assert_false(known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_are_ordered_both_ways),
        cmocka_unit_test(epochs_give_their_difference),
        cmocka_unit_test(operators_around_a_version_do_not_count),
        cmocka_unit_test(recipe_variables_make_a_version),
        cmocka_unit_test(an_epoch_that_is_no_number_is_an_error),
        cmocka_unit_test(operators_hold_as_they_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
