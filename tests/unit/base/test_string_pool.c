#include "base/string_pool.h"

#include <stdio.h>

#include "tests/unit/bz_test.h"

static struct bz_str at(struct bz_str block, uint32_t ref)
{
    struct bz_str s;

    assert_true(bz_string_pool_get(block, ref, &s));
    return s;
}

static void equal_strings_are_stored_once(void **state)
{
    BZ_CLEANUP(bz_string_pool_release) struct bz_string_pool pool = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf block = {0};
    char text[] = "one";
    uint32_t one = bz_string_pool_add(&pool, bz_str_from(text));
    uint32_t empty = bz_string_pool_add(&pool, BZ_STR(""));
    uint32_t zero = bz_string_pool_add(&pool, BZ_STR("a\0b"));
    struct bz_err err;

    (void)state;
    text[0] = 'x'; /* it was copied */
    assert_int_equal(bz_string_pool_add(&pool, BZ_STR("one")), one);
    assert_int_equal(bz_string_pool_add(&pool, (struct bz_str){0}), 0);
    assert_ok(bz_string_pool_write(&pool, &block, &err), &err);
    assert_ok(bz_string_pool_check(bz_buf_str(&block), &err), &err);
    assert_string_equal(at(bz_buf_str(&block), one).p, "one");
    assert_string_equal(at(bz_buf_str(&block), empty).p, "");
    assert_true(bz_str_eq(at(bz_buf_str(&block), zero), BZ_STR("a\0b")));
    assert_null(at(bz_buf_str(&block), 0).p);
    assert_int_equal(block.len, 8 + (1 + 1) + (1 + 3 + 1) * 2);
}

static void rare_strings_are_stored_once_for_a_while(void **state)
{
    enum { MANY = 3 * BZ_STRING_POOL_RARE };
    BZ_CLEANUP(bz_string_pool_release) struct bz_string_pool pool = {0};
    uint32_t first = bz_string_pool_add_refs(&pool, BZ_STR("node"), true), again, last;
    char text[32];

    (void)state;
    assert_int_equal(bz_string_pool_add_refs(&pool, BZ_STR("node"), true), first);
    assert_int_equal(bz_string_pool_add_refs(&pool, BZ_STR("node"), false), first);
    assert_int_equal(bz_string_pool_add_refs(&pool, (struct bz_str){0}, true), 0);
    for (uint32_t i = 0; i < MANY; i++) {
        uint32_t ref;

        snprintf(text, sizeof(text), "node %u", i);
        ref = bz_string_pool_add_refs(&pool, bz_str_from(text), true);
        assert_string_equal(at(bz_string_pool_block(&pool), ref).p, text);
        assert_int_equal(bz_string_pool_add_refs(&pool, bz_str_from(text), false), ref);
    }
    again = bz_string_pool_add_refs(&pool, BZ_STR("node"), false);
    last = bz_string_pool_add_refs(&pool, BZ_STR("node"), false);
    assert_int_equal(again, last); /* no more than twice */
    assert_string_equal(at(bz_string_pool_block(&pool), again).p, "node");
}

static void strings_of_any_length_come_back(void **state)
{
    static const size_t lengths[] = {0, 1, 127, 128, 16383, 16384, 100000};
    BZ_CLEANUP(bz_string_pool_release) struct bz_string_pool pool = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf block = {0}, text = {0};
    uint32_t refs[BZ_COUNTOF(lengths)];
    struct bz_err err;

    (void)state;
    memset(bz_buf_reserve(&text, 100000), 'x', 100000);
    bz_buf_commit(&text, 100000);
    for (size_t i = 0; i < BZ_COUNTOF(lengths); i++)
        refs[i] = bz_string_pool_add(&pool, bz_str_of(text.data, lengths[i]));
    assert_ok(bz_string_pool_write(&pool, &block, &err), &err);
    for (size_t i = 0; i < BZ_COUNTOF(lengths); i++)
        assert_true(bz_str_eq(at(bz_buf_str(&block), refs[i]),
                              bz_str_of(text.data, lengths[i])));
}

static void many_short_strings_stay_apart(void **state)
{
    enum { MANY = 5000 };
    BZ_CLEANUP(bz_string_pool_release) struct bz_string_pool pool = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf block = {0};
    static uint32_t refs[MANY];
    char text[32];
    struct bz_err err;

    (void)state;
    for (int round = 0; round < 2; round++)
        for (unsigned i = 0; i < MANY; i++) {
            uint32_t ref;

            snprintf(text, sizeof(text), "%.*x", (int)(i % 18), i);
            ref = bz_string_pool_add(&pool, bz_str_from(text));
            assert_true(round == 0 || ref == refs[i]);
            refs[i] = ref;
        }
    assert_ok(bz_string_pool_write(&pool, &block, &err), &err);
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(text, sizeof(text), "%.*x", (int)(i % 18), i);
        assert_string_equal(at(bz_buf_str(&block), refs[i]).p, text);
    }
}

static void a_reference_out_of_the_block_is_refused(void **state)
{
    BZ_CLEANUP(bz_string_pool_release) struct bz_string_pool pool = {0};
    BZ_CLEANUP(bz_buf_release) struct bz_buf block = {0};
    uint32_t ref = bz_string_pool_add(&pool, BZ_STR("string"));
    struct bz_str s;
    struct bz_err err;

    (void)state;
    assert_ok(bz_string_pool_write(&pool, &block, &err), &err);
    for (size_t n = 0; n < block.len; n++)
        assert_false(bz_string_pool_get(bz_str_of(block.data, n), ref, &s));
    assert_false(bz_string_pool_get(bz_buf_str(&block), block.len, &s));
    assert_false(bz_string_pool_get(bz_buf_str(&block), UINT64_MAX, &s));
    block.data[block.len - 1] = 'x'; /* not terminated */
    assert_false(bz_string_pool_get(bz_buf_str(&block), ref, &s));
    block.data[0] ^= 1;
    assert_int_equal(bz_string_pool_check(bz_buf_str(&block), &err), BZ_E_CORRUPT);
    assert_int_equal(bz_string_pool_check((struct bz_str){0}, &err), BZ_E_CORRUPT);
}

static void numbers_come_back(void **state)
{
    static const uint64_t numbers[] = {0, 1, 127, 128, 300, UINT32_MAX, UINT64_MAX};
    BZ_CLEANUP(bz_buf_release) struct bz_buf out = {0};
    struct bz_string_pool_cursor c;

    (void)state;
    for (size_t i = 0; i < BZ_COUNTOF(numbers); i++)
        bz_string_pool_put(&out, numbers[i]);
    c = bz_string_pool_cursor(bz_buf_str(&out));
    for (size_t i = 0; i < BZ_COUNTOF(numbers); i++)
        assert_int_equal(bz_string_pool_take(&c), numbers[i]);
    assert_false(c.bad);
    assert_int_equal(bz_string_pool_take(&c), 0);
    assert_true(c.bad);
    c = bz_string_pool_cursor(BZ_STR("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"));
    assert_int_equal(bz_string_pool_take(&c), 0); /* 65 bits */
    assert_true(c.bad);
    c = bz_string_pool_cursor(BZ_STR("\x01\x02\x03\x84\x05"));
    assert_int_equal(bz_string_pool_take32(&c), 0x84030201);
    assert_int_equal(bz_string_pool_take32(&c), 0);
    assert_true(c.bad);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_strings_are_stored_once),
        cmocka_unit_test(rare_strings_are_stored_once_for_a_while),
        cmocka_unit_test(strings_of_any_length_come_back),
        cmocka_unit_test(many_short_strings_stay_apart),
        cmocka_unit_test(a_reference_out_of_the_block_is_refused),
        cmocka_unit_test(numbers_come_back),
    };

    return cmocka_run_group_tests_name("base/string_pool", tests, NULL, NULL);
}
