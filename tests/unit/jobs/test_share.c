#include "jobs/share.h"

#include "jobs/task.h"
#include "tests/unit/bz_test.h"

static void what_is_too_much_is_held_back_and_comes_in_order(void **state)
{
    struct bz_share s = {0};
    struct bz_task t[6] = {0};

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(t); i++)
        t[i].request.priority = i == 4 ? BZ_REQUEST_HIGH : BZ_REQUEST_NORMAL;
    assert_true(bz_share_enter(&s, 2, &t[0]));
    assert_true(bz_share_enter(&s, 2, &t[1]));
    for (int i = 2; i < 5; i++)
        assert_false(bz_share_enter(&s, 2, &t[i]));
    assert_ptr_equal(bz_share_leave(&s), &t[4]); /* the urgent one first */
    assert_ptr_equal(bz_share_leave(&s), &t[2]);
    assert_false(bz_share_enter(&s, 2, &t[5]));
    assert_ptr_equal(bz_share_leave(&s), &t[3]);
    assert_ptr_equal(bz_share_leave(&s), &t[5]);
    assert_null(bz_share_leave(&s));
    assert_null(bz_share_leave(&s));
    assert_true(bz_share_enter(&s, 2, &t[0]));
    assert_null(bz_share_leave(&s));
}

static void one_is_always_let_on(void **state)
{
    struct bz_share s = {0};
    struct bz_task t = {0};

    (void)state;
    assert_true(bz_share_enter(&s, 0, &t));
    assert_false(bz_share_enter(&s, 0, &t));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_too_much_is_held_back_and_comes_in_order),
        cmocka_unit_test(one_is_always_let_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
