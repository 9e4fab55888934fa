#include "plan/output.h"

#include "tests/unit/bz_test.h"

static struct bz_output_layer layer(const char *task, uint8_t first)
{
    return (struct bz_output_layer){
        bz_str_from(task), {.hash = {{first}}, .size = first}
    };
}

static void what_is_written_is_read_in_the_same_order(void **state)
{
    BZ_CLEANUP(bz_output_release) struct bz_output out = {0}, back = {0};
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bz_reapi_result r = {0};
    struct bz_err err;

    (void)state;
    BZ_VEC_PUSH(&out.own, layer("z:do_b", 1));
    BZ_VEC_PUSH(&out.own, layer("a:do_a", 2));
    BZ_VEC_PUSH(&out.shared, layer("mc:x:m:do_c", 3));
    bz_output_write(&out, &a, &r);
    assert_int_equal(r.ndirs, 3);
    assert_ok(bz_output_read(&back, &r, &err), &err);
    assert_int_equal(back.own.len, 2);
    assert_true(bz_str_eq(back.own.at[0].task, BZ_STR("z:do_b")));
    assert_int_equal(back.own.at[1].tree.hash.b[0], 2);
    assert_true(bz_str_eq(back.shared.at[0].task, BZ_STR("mc:x:m:do_c")));
}

static void results_of_others_are_not_of_a_task(void **state)
{
    static const char *const bad[] = {"",         "x",         "own",
                                      "own/0000", "own/0000/", "other/0/a"};
    struct bz_err err;

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(bad); i++) {
        struct bz_reapi_outdir dir = {.path = bz_str_from(bad[i])};
        struct bz_reapi_result r = {.dirs = &dir, .ndirs = 1};
        struct bz_output out;

        assert_int_equal(bz_output_read(&out, &r, &err), BZ_E_CORRUPT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read_in_the_same_order),
        cmocka_unit_test(results_of_others_are_not_of_a_task),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
