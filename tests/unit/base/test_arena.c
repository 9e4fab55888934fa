#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/base/dies.h"
#include "tests/unit/bz_test.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TEST_ASAN 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define TEST_ASAN 1
#endif
#if defined(TEST_ASAN)
#include <sanitizer/asan_interface.h>
#endif

static void allocations_are_aligned_and_do_not_overlap(void **state)
{
    enum { COUNT = 2000 };
    static struct {
        unsigned char *p;
        size_t n;
    } made[COUNT];
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    size_t i, j;

    (void)state;
    for (i = 0; i < COUNT; i++) {
        size_t align = (size_t)1 << i % 13;

        /* Mostly small, every 97th as large as a block of its own. */
        made[i].n = i % 97 == 0 ? i * 50 : i % 41;
        made[i].p = bz_arena_alloc(&a, made[i].n, align);
        assert_non_null(made[i].p);
        assert_int_equal((uintptr_t)made[i].p % align, 0);
        memset(made[i].p, (int)(i % 251), made[i].n);
    }
    for (i = 0; i < COUNT; i++) {
        for (j = 0; j < made[i].n; j++) {
            if (made[i].p[j] != i % 251)
                fail_msg("allocation %zu was overwritten", i);
        }
    }
}

static void zeroed_allocations_are_zero_also_after_a_reset(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    int round;
    size_t i;

    (void)state;
    for (round = 0; round < 2; round++) {
        uint64_t *array = BZ_ARENA_ARRAY(&a, uint64_t, 100);
        struct bz_err *one = BZ_ARENA_NEW(&a, struct bz_err);

        for (i = 0; i < 100; i++)
            assert_true(array[i] == 0);
        assert_null(one->where);
        memset(array, 0xff, 100 * sizeof(*array));
        memset(one, 0xff, sizeof(*one));
        bz_arena_reset(&a);
    }
}

static void copies_are_terminated_and_independent(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    char text[] = "a\0b";
    struct bz_str s = bz_arena_dup(&a, bz_str_of(text, 3));
    struct bz_str empty = bz_arena_dup(&a, (struct bz_str){0});

    (void)state;
    text[0] = 'x';
    assert_true(bz_str_eq(s, BZ_STR("a\0b")));
    assert_int_equal(s.p[3], '\0');
    assert_int_equal(empty.n, 0);
    assert_string_equal(empty.p, "");
}

static void concatenations_are_terminated_and_may_have_empty_parts(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bz_str s = BZ_ARENA_CONCAT(&a, BZ_STR("a\0b"), BZ_STR(""), BZ_STR("c"));
    struct bz_str empty = BZ_ARENA_CONCAT(&a, (struct bz_str){0});

    (void)state;
    assert_true(bz_str_eq(s, BZ_STR("a\0bc")));
    assert_int_equal(s.p[4], '\0');
    assert_int_equal(empty.n, 0);
    assert_string_equal(empty.p, "");
}

static void printing_works_at_every_length(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    static const int lengths[] = {1, 254, 255, 256, 257, 5000};
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(lengths); i++) {
        struct bz_str s = bz_arena_printf(&a, "%0*d", lengths[i], 7);

        assert_int_equal(s.n, lengths[i]);
        assert_int_equal(strlen(s.p), lengths[i]);
        assert_int_equal(s.p[s.n - 1], '7');
    }
}

static void rewinding_frees_what_came_later_only(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    struct bz_arena_stats before;
    struct bz_arena_mark mark;
    struct bz_str kept;
    char *next;
    int i;

    (void)state;
    kept = bz_arena_dup(&a, BZ_STR("kept"));
    bz_arena_alloc(&a, 50000, 1);
    mark = bz_arena_mark(&a);
    before = bz_arena_stats(&a);
    next = bz_arena_alloc(&a, 1, 8);
    for (i = 0; i < 1000; i++) {
        bz_arena_alloc(&a, 100, 1);
        if (i % 100 == 0)
            bz_arena_alloc(&a, 1000000, 1);
    }
    assert_true(bz_arena_stats(&a).held > before.held + 10000000);
    bz_arena_rewind(&a, mark);
    assert_int_equal(bz_arena_stats(&a).used, before.used);
    assert_int_equal(bz_arena_stats(&a).held, before.held);
    assert_true(bz_str_eq(kept, BZ_STR("kept")));
    assert_ptr_equal(bz_arena_alloc(&a, 1, 8), next);
}

static void rewinding_to_before_the_first_allocation_frees_all(void **state)
{
    struct bz_arena a = {0};
    struct bz_arena_mark start = bz_arena_mark(&a);

    (void)state;
    bz_arena_alloc(&a, 10, 1);
    bz_arena_alloc(&a, 1000000, 1);
    bz_arena_rewind(&a, start);
    assert_null(a.top);
    assert_null(a.big);
    assert_non_null(bz_arena_alloc(&a, 10, 1));
    bz_arena_release(&a);
}

static void reset_keeps_the_first_block(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    size_t first_held;
    char *first;
    int i;

    (void)state;
    bz_arena_reset(&a); /* of an empty arena: nothing to do */
    first = bz_arena_alloc(&a, 1, 1);
    first_held = bz_arena_stats(&a).held;
    for (i = 0; i < 1000; i++)
        bz_arena_alloc(&a, 500, 1);
    bz_arena_alloc(&a, 1000000, 1);
    bz_arena_reset(&a);
    assert_int_equal(bz_arena_stats(&a).used, 0);
    assert_int_equal(bz_arena_stats(&a).held, first_held);
    assert_ptr_equal(bz_arena_alloc(&a, 1, 1), first);
}

static void reset_frees_big_blocks_when_there_are_no_others(void **state)
{
    struct bz_arena a = {0};

    (void)state;
    bz_arena_alloc(&a, 1000000, 1);
    bz_arena_reset(&a);
    assert_int_equal(bz_arena_stats(&a).held, 0);
}

static void statistics_count_bytes(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    size_t i, each;

    (void)state;
    assert_int_equal(bz_arena_stats(&a).used, 0);
    assert_int_equal(bz_arena_stats(&a).held, 0);
    bz_arena_alloc(&a, 40, 8);
    each = bz_arena_stats(&a).used;
    assert_in_range(each, 40, 48); /* the sanitizer's gap may count */
    for (i = 1; i < 5000; i++)
        bz_arena_alloc(&a, 40, 8);
    assert_int_equal(bz_arena_stats(&a).used, 5000 * each);
    assert_in_range(bz_arena_stats(&a).held, 5000 * each, 15000 * each);
    bz_arena_alloc(&a, 1000000, 8);
    assert_in_range(bz_arena_stats(&a).used, 1000000 + 5000 * each,
                    1000100 + 5000 * each);
}

static void small_allocations_take_few_blocks(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    const struct bz_arena_block *top = NULL;
    int i, blocks = 0;

    (void)state;
    for (i = 0; i < 100000; i++) {
        bz_arena_alloc(&a, 16, 8);
        blocks += a.top != top;
        top = a.top;
    }
    assert_true(blocks < 20);
    assert_null(a.big);
}

#if defined(TEST_ASAN) /* nobody else can tell */
static void overrun_and_use_after_reset_are_poisoned(void **state)
{
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    char *p = bz_arena_alloc(&a, 13, 1);
    char *q = bz_arena_alloc(&a, 1, 1);
    char *big = bz_arena_alloc(&a, 100001, 1);

    (void)state;
    assert_false(__asan_address_is_poisoned(p));
    assert_false(__asan_address_is_poisoned(p + 12));
    assert_true(__asan_address_is_poisoned(p + 13));
    assert_false(__asan_address_is_poisoned(q));
    assert_true(__asan_address_is_poisoned(q - 1));
    assert_true(__asan_address_is_poisoned(q + 1));
    assert_false(__asan_address_is_poisoned(big + 100000));
    assert_true(__asan_address_is_poisoned(big + 100001));
    bz_arena_reset(&a);
    assert_true(__asan_address_is_poisoned(p));
    assert_true(__asan_address_is_poisoned(q));
    assert_ptr_equal(bz_arena_alloc(&a, 1, 1), p);
    assert_false(__asan_address_is_poisoned(p));
    assert_true(__asan_address_is_poisoned(p + 1));
}
#endif

static void array_overflow(void)
{
    struct bz_arena a = {0};

    bz_arena_array(&a, SIZE_MAX / 2, 3, 1);
}

static void size_overflow(void)
{
    struct bz_arena a = {0};

    bz_arena_alloc(&a, 1, 1);
    bz_arena_alloc(&a, SIZE_MAX - 20, 1);
}

static void odd_alignment(void)
{
    struct bz_arena a = {0};

    bz_arena_alloc(&a, 1, 24);
}

static void foreign_mark(void)
{
    struct bz_arena a = {0}, b = {0};

    bz_arena_alloc(&a, 1, 1);
    bz_arena_alloc(&b, 1, 1);
    bz_arena_rewind(&a, bz_arena_mark(&b));
}

static void misuse_stops_the_program(void **state)
{
    (void)state;
    assert_true(dies(array_overflow, "out of memory"));
    assert_true(dies(size_overflow, "out of memory"));
    assert_true(dies(odd_alignment, "internal error"));
    assert_true(dies(foreign_mark, "internal error"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_aligned_and_do_not_overlap),
        cmocka_unit_test(zeroed_allocations_are_zero_also_after_a_reset),
        cmocka_unit_test(copies_are_terminated_and_independent),
        cmocka_unit_test(concatenations_are_terminated_and_may_have_empty_parts),
        cmocka_unit_test(printing_works_at_every_length),
        cmocka_unit_test(rewinding_frees_what_came_later_only),
        cmocka_unit_test(rewinding_to_before_the_first_allocation_frees_all),
        cmocka_unit_test(reset_keeps_the_first_block),
        cmocka_unit_test(reset_frees_big_blocks_when_there_are_no_others),
        cmocka_unit_test(statistics_count_bytes),
        cmocka_unit_test(small_allocations_take_few_blocks),
#if defined(TEST_ASAN)
        cmocka_unit_test(overrun_and_use_after_reset_are_poisoned),
#endif
        cmocka_unit_test(misuse_stops_the_program),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
