#include "jobs/dispatch.h"

#include "tests/unit/bz_test.h"

static int nothing(struct bz_call *call, void *ctx)
{
    (void)call;
    (void)ctx;
    return 0;
}

static void handlers_are_found_by_name_and_number(void **state)
{
    static const struct bz_handler h = {.name = "read", .run = nothing};
    struct bz_dispatch *d = bz_dispatch_new();
    struct bz_err err;

    (void)state;
    assert_ok(bz_dispatch_offer(d, &h, &err), &err);
    assert_int_equal(bz_dispatch_offer(d, &h, &err), BZ_E_EXISTS);
    assert_null(bz_dispatch_find(d, &(struct bz_request){.opcode = 4}));
    assert_ok(bz_dispatch_bind(d, 4, BZ_STR("read"), &err), &err);
    assert_ptr_equal(bz_dispatch_find(d, &(struct bz_request){.opcode = 4}), &h);
    assert_ptr_equal(
        bz_dispatch_find(d, &(struct bz_request){.opname = BZ_STR("read")}), &h);
    assert_null(bz_dispatch_find(d, &(struct bz_request){.opname = BZ_STR("write")}));
    assert_int_equal(bz_dispatch_bind(d, 4, BZ_STR("read"), &err), BZ_E_EXISTS);
    assert_string_equal(err.msg, "opcode 4 is read already");
    assert_int_equal(bz_dispatch_bind(d, 5, BZ_STR("write"), &err), BZ_E_NOENT);
    assert_int_equal(bz_dispatch_bind(d, BZ_REQUEST_OPCODES, BZ_STR("read"), &err),
                     BZ_E_INVAL);
    bz_dispatch_free(d);
}

static void a_name_may_have_the_prefix_of_a_function(void **state)
{
    static const struct bz_handler plain = {.name = "read", .run = nothing};
    static const struct bz_handler own = {.name = "handler_own", .run = nothing};
    struct bz_dispatch *d = bz_dispatch_new();
    struct bz_err err;

    (void)state;
    assert_ok(bz_dispatch_offer(d, &plain, &err), &err);
    assert_ok(bz_dispatch_offer(d, &own, &err), &err);
    assert_ok(bz_dispatch_bind(d, 1, BZ_STR("handler_read"), &err), &err);
    assert_ok(bz_dispatch_bind(d, 2, BZ_STR("handler_own"), &err), &err);
    assert_ptr_equal(bz_dispatch_find(d, &(struct bz_request){.opcode = 1}), &plain);
    assert_ptr_equal(bz_dispatch_find(d, &(struct bz_request){.opcode = 2}), &own);
    assert_ptr_equal(
        bz_dispatch_find(d, &(struct bz_request){.opname = BZ_STR("handler_read")}),
        &plain);
    assert_int_equal(bz_dispatch_bind(d, 3, BZ_STR("handler_write"), &err), BZ_E_NOENT);
    assert_string_equal(err.msg, "there is no handler handler_write");
    assert_int_equal(bz_dispatch_bind(d, 3, BZ_STR("handler_"), &err), BZ_E_NOENT);
    bz_dispatch_free(d);
}

static void one_of_two_rows_is_chosen_without_a_branch(void **state)
{
    (void)state;
    for (unsigned b = 0; b < 3; b++)
        for (unsigned c = 0; c < 3; c++) {
            assert_int_equal(bz_dispatch_select(1, b, c), b);
            assert_int_equal(bz_dispatch_select(0, b, c), c);
        }
}

static void where_a_handler_runs_belongs_to_the_number(void **state)
{
    static const struct bz_handler h = {.name = "read", .run = nothing, .blocks = true};
    struct bz_dispatch *d = bz_dispatch_new();
    const struct bz_handler *alone;
    struct bz_err err;

    (void)state;
    assert_ok(bz_dispatch_offer(d, &h, &err), &err);
    for (uint32_t i = 1; i <= 3; i++)
        assert_ok(bz_dispatch_bind(d, i, BZ_STR("read"), &err), &err);
    bz_dispatch_isolate(d, 1, false);
    bz_dispatch_isolate(d, 2, true);
    assert_ptr_equal(bz_dispatch_find(d, &(struct bz_request){.opcode = 1}), &h);
    assert_ptr_equal(bz_dispatch_find(d, &(struct bz_request){.opcode = 3}), &h);
    assert_ptr_equal(
        bz_dispatch_find(d, &(struct bz_request){.opname = BZ_STR("read")}), &h);
    alone = bz_dispatch_find(d, &(struct bz_request){.opcode = 2});
    assert_true(alone->isolate && alone->blocks);
    assert_ptr_equal(alone->run, nothing);
    bz_dispatch_free(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_a_handler_runs_belongs_to_the_number),
        cmocka_unit_test(handlers_are_found_by_name_and_number),
        cmocka_unit_test(a_name_may_have_the_prefix_of_a_function),
        cmocka_unit_test(one_of_two_rows_is_chosen_without_a_branch),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
