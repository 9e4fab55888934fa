#include "codec/reapi.h"

#include "tests/unit/bz_test.h"

static void a_tree_is_a_root_and_its_children_one_after_another(void **state)
{
    struct bz_str dirs[] = {BZ_STR("root"), BZ_STR(""), BZ_STR("c")};
    struct bz_reapi_tree tree = {dirs, 3}, back;
    struct bz_arena a = {0};
    struct bz_buf out = {0};
    struct bz_err err;

    (void)state;
    bz_reapi_tree_encode(&tree, &out);
    assert_true(bz_str_eq(bz_buf_str(&out), BZ_STR("\x0a\x04root\x12\0\x12\1c")));
    assert_ok(bz_reapi_tree_decode(&a, bz_buf_str(&out), &back, &err), &err);
    assert_int_equal(back.ndirs, 3);
    for (size_t i = 0; i < 3; i++)
        assert_true(bz_str_eq(back.dirs[i], dirs[i]));
    bz_buf_release(&out);
    bz_arena_release(&a);
}

static void long_directories_have_long_lengths(void **state)
{
    static const size_t sizes[] = {127, 128, 16383, 16384, 3000000};
    struct bz_arena a = {0};
    struct bz_err err;

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(sizes); i++) {
        struct bz_str dir = bz_str_of(bz_arena_zalloc(&a, sizes[i], 1), sizes[i]);
        struct bz_reapi_tree tree = {&dir, 1}, back;
        struct bz_buf out = {0};

        bz_reapi_tree_encode(&tree, &out);
        assert_ok(bz_reapi_tree_decode(&a, bz_buf_str(&out), &back, &err), &err);
        assert_int_equal(back.ndirs, 1);
        assert_int_equal(back.dirs[0].n, sizes[i]);
        bz_buf_release(&out);
    }
    bz_arena_release(&a);
}

static void bytes_that_are_no_tree_are_refused(void **state)
{
    static const struct bz_str cases[] = {
        BZ_STR(""),
        BZ_STR("\x12\0"),       /* a child without a root */
        BZ_STR("\x0a\0\x0a\0"), /* two roots */
        BZ_STR("\x0a"),         /* no length */
        BZ_STR("\x0a\2x"),      /* beyond the end */
        BZ_STR("\x0a\x80"),     /* a length cut short */
        BZ_STR("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\1"),
        BZ_STR("\x0a\0\x1a\0"), /* another field */
    };
    struct bz_arena a = {0};
    struct bz_reapi_tree out;
    struct bz_err err;

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(cases); i++)
        assert_int_equal(bz_reapi_tree_decode(&a, cases[i], &out, &err), BZ_E_CORRUPT);
    assert_int_equal(
        bz_reapi_tree_decode(&a, bz_str_of("", BZ_REAPI_TREE_MAX + 1), &out, &err),
        BZ_E_LIMIT);
    bz_arena_release(&a);
}

static void a_tree_of_too_many_directories_is_refused(void **state)
{
    struct bz_arena a = {0};
    struct bz_buf in = {0};
    struct bz_reapi_tree out;
    struct bz_err err;

    (void)state;
    bz_buf_add(&in, "\x0a", 2);
    for (size_t i = 1; i < BZ_REAPI_TREE_DIRS; i++)
        bz_buf_add(&in, "\x12", 2);
    assert_ok(bz_reapi_tree_decode(&a, bz_buf_str(&in), &out, &err), &err);
    bz_buf_add(&in, "\x12", 2);
    assert_int_equal(bz_reapi_tree_decode(&a, bz_buf_str(&in), &out, &err), BZ_E_LIMIT);
    bz_buf_release(&in);
    bz_arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_is_a_root_and_its_children_one_after_another),
        cmocka_unit_test(long_directories_have_long_lengths),
        cmocka_unit_test(bytes_that_are_no_tree_are_refused),
        cmocka_unit_test(a_tree_of_too_many_directories_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
