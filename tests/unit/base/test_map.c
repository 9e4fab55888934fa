#include "base/map.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "tests/unit/bz_test.h"

static void what_was_put_is_found_and_nothing_else(void **state)
{
    BZ_CLEANUP(bz_map_release) struct bz_map m = {0};

    (void)state;
    assert_null(bz_map_get(&m, BZ_STR("a")));
    assert_false(bz_map_remove(&m, BZ_STR("a")));
    bz_map_put(&m, BZ_STR("a"))->u = 1;
    bz_map_put(&m, BZ_STR("ab"))->p = &m;
    assert_int_equal(m.len, 2);
    assert_int_equal(bz_map_get(&m, BZ_STR("a"))->u, 1);
    assert_ptr_equal(bz_map_get(&m, bz_str_of("abc", 2))->p, &m);
    assert_null(bz_map_get(&m, BZ_STR("b")));
    assert_null(bz_map_get(&m, BZ_STR("")));
}

static void putting_again_finds_the_same_entry_and_first_key(void **state)
{
    BZ_CLEANUP(bz_map_release) struct bz_map m = {0};
    char first[] = "key", second[] = "key";
    struct bz_map_entry *e;

    (void)state;
    e = bz_map_put(&m, bz_str_from(first));
    assert_int_equal(e->u, 0);
    e->u = 9;
    e = bz_map_put(&m, bz_str_from(second));
    assert_int_equal(m.len, 1);
    assert_int_equal(e->u, 9);
    assert_ptr_equal(e->key.p, first);
}

static void empty_key_is_a_key_however_it_is_spelled(void **state)
{
    BZ_CLEANUP(bz_map_release) struct bz_map m = {0};

    (void)state;
    bz_map_put(&m, (struct bz_str){0})->u = 3;
    assert_int_equal(bz_map_get(&m, BZ_STR(""))->u, 3);
    assert_int_equal(bz_map_put(&m, BZ_STR(""))->u, 3);
    assert_non_null(bz_map_next(&m, NULL));
    assert_true(bz_map_remove(&m, BZ_STR("")));
    assert_null(bz_map_get(&m, (struct bz_str){0}));
}

static void numbers_of_any_size_are_keys(void **state)
{
    static const uint64_t keys[] = {0, 1, UINT64_MAX, UINT64_C(1) << 63, UINT32_MAX};
    BZ_CLEANUP(bz_map_release) struct bz_map m = {0};
    struct bz_map_entry *e;
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(keys); i++)
        bz_map_put_u64(&m, keys[i])->u = i;
    for (i = 0; i < BZ_COUNTOF(keys); i++)
        assert_int_equal(bz_map_get_u64(&m, keys[i])->u, i);
    assert_null(bz_map_get_u64(&m, 2));
    for (i = 0, e = bz_map_next(&m, NULL); e; e = bz_map_next(&m, e))
        assert_true(bz_map_number(e) == keys[i++]);
    assert_int_equal(i, BZ_COUNTOF(keys));
    assert_true(bz_map_remove_u64(&m, 0));
    assert_false(bz_map_remove_u64(&m, 0));
    assert_null(bz_map_get_u64(&m, 0));
}

/* How many of 65536 buckets get at least one of 65536 hashes. */
static int buckets_used(uint64_t (*key)(uint64_t i), int shift)
{
    static unsigned char used[65536];
    int i, n = 0;

    memset(used, 0, sizeof(used));
    for (i = 0; i < 65536; i++) {
        uint64_t h = bz_map_hash_u64(key((uint64_t)i)) >> shift & 0xffff;

        n += !used[h];
        used[h] = 1;
    }
    return n;
}

static uint64_t dense(uint64_t i)
{
    return i;
}

static uint64_t downwards(uint64_t i)
{
    return ~i;
}

static uint64_t cache_lines(uint64_t i)
{
    return UINT64_C(0x7f0012340000) + i * 64;
}

static uint64_t high_half(uint64_t i)
{
    return i << 32;
}

static uint64_t top_bits(uint64_t i)
{
    return i << 48;
}

static uint64_t equal_pairs(uint64_t i)
{
    return i << 32 | i;
}

static uint64_t grid(uint64_t i)
{
    return (i >> 8) << 32 | (i & 0xff);
}

static uint64_t squares(uint64_t i)
{
    return i * i;
}

/* A random function leaves 1/e of the buckets empty and fills 41427, give or take 100.
 * More than that is better still; much less is a table that crawls. */
static void numbers_in_patterns_spread_evenly(void **state)
{
    static uint64_t (*const patterns[])(uint64_t) = {
        dense, downwards, cache_lines, high_half, top_bits, equal_pairs, grid, squares,
    };
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(patterns); i++) {
        int low = buckets_used(patterns[i], 0), high = buckets_used(patterns[i], 48);

        if (low < 41000 || high < 41000)
            fail_msg("pattern %zu fills %d and %d buckets", i, low, high);
    }
}

static void iteration_follows_the_order_of_first_insertion(void **state)
{
    BZ_CLEANUP(bz_map_release) struct bz_map m = {0};
    struct bz_map_entry *e;
    uint64_t i;

    (void)state;
    for (i = 0; i < 10000; i++)
        bz_map_put_u64(&m, i * 7919 % 10007)->u = i;
    bz_map_put_u64(&m, 7919)->u = 1; /* seen before: stays where it is */
    for (i = 0, e = bz_map_next(&m, NULL); e; e = bz_map_next(&m, e), i++) {
        assert_int_equal(bz_map_number(e), i * 7919 % 10007);
        assert_int_equal(e->u, i);
    }
    assert_int_equal(i, 10000);
}

static void removed_and_put_again_goes_to_the_end(void **state)
{
    BZ_CLEANUP(bz_map_release) struct bz_map m = {0};
    static const char *const order[] = {"b", "c", "a"};
    struct bz_map_entry *e;
    size_t i;

    (void)state;
    bz_map_put(&m, BZ_STR("a"))->u = 5;
    bz_map_put(&m, BZ_STR("b"));
    bz_map_put(&m, BZ_STR("c"));
    assert_true(bz_map_remove(&m, BZ_STR("a")));
    assert_int_equal(bz_map_put(&m, BZ_STR("a"))->u, 0);
    e = NULL;
    for (i = 0; i < BZ_COUNTOF(order); i++) {
        e = bz_map_next(&m, e);
        assert_true(bz_str_eq(e->key, bz_str_from(order[i])));
    }
    assert_null(bz_map_next(&m, e));
}

static void entry_at_hand_may_be_removed_while_iterating(void **state)
{
    BZ_CLEANUP(bz_map_release) struct bz_map m = {0};
    struct bz_map_entry *e;
    uint64_t i, seen = 0;

    (void)state;
    for (i = 0; i < 1000; i++)
        bz_map_put_u64(&m, i);
    for (e = bz_map_next(&m, NULL); e; e = bz_map_next(&m, e)) {
        assert_int_equal(bz_map_number(e), seen++);
        if (bz_map_number(e) % 3 != 0)
            bz_map_remove_u64(&m, bz_map_number(e));
    }
    assert_int_equal(seen, 1000);
    assert_int_equal(m.len, 334);
    for (i = 0; i < 1000; i++)
        assert_int_equal(bz_map_get_u64(&m, i) != NULL, i % 3 == 0);
    for (e = bz_map_next(&m, NULL); e; e = bz_map_next(&m, e))
        bz_map_remove_u64(&m, bz_map_number(e));
    assert_int_equal(m.len, 0);
    assert_null(bz_map_next(&m, NULL));
}

/* A long random history, against an array that cannot be wrong. Few keys, so that
 * chains are removed from in every way. */
static void random_history_agrees_with_a_plain_array(void **state)
{
    enum { KEYS = 300, STEPS = 200000 };
    BZ_CLEANUP(bz_map_release) struct bz_map m = {0};
    uint64_t model[KEYS] = {0}; /* 0 if absent */
    uint32_t x = 1, present = 0;
    uint64_t i, k;

    (void)state;
    for (i = 1; i <= STEPS; i++) {
        x = x * 1664525 + 1013904223;
        k = (x >> 16) % KEYS;
        /* Phases of mostly adding and of mostly removing. */
        if ((x >> 8) % 10 < (i / 5000 % 2 ? 3u : 7u)) {
            present += !model[k];
            bz_map_put_u64(&m, k)->u = i;
            model[k] = i;
        } else {
            assert_int_equal(bz_map_remove_u64(&m, k), model[k] != 0);
            present -= model[k] != 0;
            model[k] = 0;
        }
        assert_int_equal(m.len, present);
        if (i % 1000)
            continue;
        for (k = 0; k < KEYS; k++) {
            const struct bz_map_entry *e = bz_map_get_u64(&m, k);

            assert_int_equal(e ? e->u : 0, model[k]);
        }
    }
    assert_true(m.nslots <= 1024); /* removals made room; the map did not creep up */
}

static void map_used_as_a_queue_or_stack_stays_small(void **state)
{
    BZ_CLEANUP(bz_map_release) struct bz_map queue = {0}, stack = {0};
    uint64_t i;

    (void)state;
    for (i = 0; i < 100000; i++) {
        bz_map_put_u64(&queue, i);
        if (i >= 10)
            assert_true(bz_map_remove_u64(&queue, i - 10));
        bz_map_put_u64(&stack, i);
        bz_map_remove_u64(&stack, i);
    }
    assert_int_equal(queue.len, 10);
    assert_true(queue.nslots <= 64);
    assert_int_equal(stack.nslots, 8);
}

static void many_slices_survive_growth(void **state)
{
    enum { N = 50000 };
    BZ_CLEANUP(bz_arena_release) struct bz_arena a = {0};
    BZ_CLEANUP(bz_map_release) struct bz_map m = {0};
    char text[32];
    uint64_t i;

    (void)state;
    for (i = 0; i < N; i++)
        bz_map_put(&m, bz_arena_printf(&a, "do_compile:%ju", (uintmax_t)i))->u = i;
    assert_int_equal(m.len, N);
    for (i = 0; i < N; i++) {
        snprintf(text, sizeof(text), "do_compile:%ju", (uintmax_t)i);
        assert_int_equal(bz_map_get(&m, bz_str_from(text))->u, i);
    }
    assert_null(bz_map_get(&m, BZ_STR("do_compile:50000")));
}

static void reserved_room_is_enough_whatever_was_removed(void **state)
{
    BZ_CLEANUP(bz_map_release) struct bz_map m = {0};
    uint32_t nslots;
    uint64_t i;

    (void)state;
    bz_map_put_u64(&m, 1000000);
    bz_map_put_u64(&m, 1000001);
    bz_map_remove_u64(&m, 1000000); /* leaves a hole, which must not cost room */
    bz_map_reserve(&m, 640);        /* exactly what 1024 slots hold */
    nslots = m.nslots;
    for (i = 0; i < 639; i++)
        bz_map_put_u64(&m, i);
    assert_int_equal(m.len, 640);
    assert_int_equal(m.nslots, nslots);
    bz_map_reserve(&m, 1); /* never shrinks */
    assert_int_equal(m.nslots, nslots);
    for (i = 0; i < 639; i++)
        assert_non_null(bz_map_get_u64(&m, i));
}

static void clearing_keeps_the_memory(void **state)
{
    BZ_CLEANUP(bz_map_release) struct bz_map m = {0};
    uint32_t nslots;
    uint64_t i;

    (void)state;
    bz_map_clear(&m);
    for (i = 0; i < 100; i++)
        bz_map_put_u64(&m, i);
    nslots = m.nslots;
    bz_map_clear(&m);
    assert_int_equal(m.len, 0);
    assert_int_equal(m.nslots, nslots);
    assert_null(bz_map_get_u64(&m, 5));
    assert_null(bz_map_next(&m, NULL));
    bz_map_put_u64(&m, 5);
    assert_int_equal(m.len, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_put_is_found_and_nothing_else),
        cmocka_unit_test(putting_again_finds_the_same_entry_and_first_key),
        cmocka_unit_test(empty_key_is_a_key_however_it_is_spelled),
        cmocka_unit_test(numbers_of_any_size_are_keys),
        cmocka_unit_test(numbers_in_patterns_spread_evenly),
        cmocka_unit_test(iteration_follows_the_order_of_first_insertion),
        cmocka_unit_test(removed_and_put_again_goes_to_the_end),
        cmocka_unit_test(entry_at_hand_may_be_removed_while_iterating),
        cmocka_unit_test(random_history_agrees_with_a_plain_array),
        cmocka_unit_test(map_used_as_a_queue_or_stack_stays_small),
        cmocka_unit_test(many_slices_survive_growth),
        cmocka_unit_test(reserved_room_is_enough_whatever_was_removed),
        cmocka_unit_test(clearing_keeps_the_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
