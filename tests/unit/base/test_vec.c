#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/unit/base/dies.h"
#include "tests/unit/bz_test.h"

struct pair {
    uint32_t key, seq;
};

struct ints BZ_VEC(int);
struct pairs BZ_VEC(struct pair);

static void pushed_elements_are_there_in_order(void **state)
{
    BZ_CLEANUP(bz_vec_release) struct ints v = {0};
    int i;

    (void)state;
    for (i = 0; i < 100000; i++)
        BZ_VEC_PUSH(&v, i * 3);
    assert_int_equal(v.len, 100000);
    for (i = 0; i < 100000; i++)
        assert_int_equal(v.at[i], i * 3);
    assert_int_equal(BZ_VEC_AT(&v, 7), 21);
    assert_int_equal(BZ_VEC_LAST(&v), 99999 * 3);
}

static void braced_literals_and_own_elements_may_be_pushed(void **state)
{
    BZ_CLEANUP(bz_vec_release) struct pairs v = {0};
    int i;

    (void)state;
    BZ_VEC_PUSH(&v, (struct pair){1, 2});
    for (i = 0; i < 100; i++) /* across several moves of the elements */
        BZ_VEC_PUSH(&v, v.at[0]);
    for (i = 0; i <= 100; i++) {
        assert_int_equal(v.at[i].key, 1);
        assert_int_equal(v.at[i].seq, 2);
    }
}

static void elements_can_be_written_in_place(void **state)
{
    BZ_CLEANUP(bz_vec_release) struct ints v = {0};

    (void)state;
    BZ_VEC_PUSH(&v, 1);
    BZ_VEC_AT(&v, 0) = 5;
    BZ_VEC_LAST(&v) += 1;
    assert_int_equal(v.at[0], 6);
}

static void popping_gives_back_the_last(void **state)
{
    BZ_CLEANUP(bz_vec_release) struct ints v = {0};

    (void)state;
    BZ_VEC_PUSH(&v, 1);
    BZ_VEC_PUSH(&v, 2);
    assert_int_equal(BZ_VEC_POP(&v), 2);
    BZ_VEC_PUSH(&v, 3);
    assert_int_equal(BZ_VEC_POP(&v), 3);
    assert_int_equal(BZ_VEC_POP(&v), 1);
    assert_int_equal(v.len, 0);
}

static void growth_takes_few_steps_and_reserve_saves_them(void **state)
{
    BZ_CLEANUP(bz_vec_release) struct ints v = {0}, w = {0};
    size_t cap = 0, steps = 0;
    const int *at;
    int i;

    (void)state;
    for (i = 0; i < 1000000; i++) {
        BZ_VEC_PUSH(&v, i);
        steps += v.cap != cap;
        cap = v.cap;
    }
    assert_true(steps < 20);

    BZ_VEC_RESERVE(&w, 1000);
    at = w.at;
    assert_int_equal(w.len, 0);
    for (i = 0; i < 1000; i++)
        BZ_VEC_PUSH(&w, i);
    assert_ptr_equal(w.at, at);
    BZ_VEC_RESERVE(&w, 10); /* never shrinks */
    assert_true(w.cap >= 1000);
    assert_int_equal(w.at[999], 999);
}

static void clearing_keeps_the_memory_and_releasing_does_not(void **state)
{
    struct ints v = {0};
    const int *at;

    (void)state;
    BZ_VEC_PUSH(&v, 1);
    at = v.at;
    BZ_VEC_CLEAR(&v);
    assert_int_equal(v.len, 0);
    BZ_VEC_PUSH(&v, 2);
    assert_ptr_equal(v.at, at);
    bz_vec_release(&v);
    assert_null(v.at);
    assert_int_equal(v.len, 0);
    assert_int_equal(v.cap, 0);
    BZ_VEC_PUSH(&v, 3);
    assert_int_equal(v.at[0], 3);
    bz_vec_release(&v);
    bz_vec_release(&v); /* of an empty one: nothing */
}

static int by_key(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;

    return (x->key > y->key) - (x->key < y->key);
}

/* n pairs, keys from a fixed sequence with about `kinds` different values. */
static void fill(struct pairs *v, size_t n, uint32_t kinds)
{
    uint32_t x = 12345, i;

    BZ_VEC_CLEAR(v);
    for (i = 0; i < n; i++) {
        x = x * 1664525 + 1013904223;
        BZ_VEC_PUSH(v, (struct pair){(x >> 8) % kinds, i});
    }
}

static void expect_sorted(const struct pairs *v)
{
    size_t i;

    for (i = 1; i < v->len; i++) {
        struct pair a = v->at[i - 1], b = v->at[i];

        if (a.key > b.key || (a.key == b.key && a.seq >= b.seq))
            fail_msg("wrong at %zu of %zu", i, v->len);
    }
}

static void sorting_orders_and_keeps_equals_in_sequence(void **state)
{
    static const uint32_t kinds[] = {1, 2, 7, 100, 1u << 24};
    BZ_CLEANUP(bz_vec_release) struct pairs v = {0};
    size_t n, k;

    (void)state;
    for (k = 0; k < BZ_COUNTOF(kinds); k++) {
        for (n = 0; n < 200; n++) {
            fill(&v, n, kinds[k]);
            BZ_VEC_SORT(&v, by_key);
            assert_int_equal(v.len, n);
            expect_sorted(&v);
        }
    }
}

static void sorting_is_a_permutation(void **state)
{
    enum { N = 10000 };
    BZ_CLEANUP(bz_vec_release) struct pairs v = {0};
    BZ_CLEANUP(bz_mem_freep) char *seen = bz_mem_zalloc(N);
    size_t i;

    (void)state;
    fill(&v, N, 50);
    BZ_VEC_SORT(&v, by_key);
    for (i = 0; i < N; i++) {
        assert_false(seen[v.at[i].seq]);
        seen[v.at[i].seq] = 1;
    }
}

static int by_first_byte(const void *a, const void *b)
{
    return *(const char *)a - *(const char *)b;
}

static void sorting_moves_elements_of_any_size(void **state)
{
    struct odd {
        char bytes[5];
    };
    BZ_CLEANUP(bz_vec_release) struct BZ_VEC(struct odd) v = {0};
    int i;

    (void)state;
    for (i = 0; i < 100; i++)
        BZ_VEC_PUSH(&v, (struct odd){
                            {(char)(99 - i), 'a', 'b', 'c', (char)i}
        });
    BZ_VEC_SORT(&v, by_first_byte);
    for (i = 0; i < 100; i++) {
        assert_int_equal(v.at[i].bytes[0], i);
        assert_int_equal(v.at[i].bytes[4], 99 - i);
    }
}

static void pop_empty(void)
{
    struct ints v = {0};

    (void)BZ_VEC_POP(&v);
}

static void last_of_empty(void)
{
    struct ints v = {0};

    (void)BZ_VEC_LAST(&v);
}

static void at_the_end(void)
{
    struct ints v = {0};

    BZ_VEC_PUSH(&v, 1);
    (void)BZ_VEC_AT(&v, 1);
}

static void reserve_overflow(void)
{
    struct ints v = {0};

    BZ_VEC_RESERVE(&v, SIZE_MAX / 2);
}

static void misuse_stops_the_program(void **state)
{
    (void)state;
    assert_true(dies(pop_empty, "internal error"));
    assert_true(dies(last_of_empty, "internal error"));
    assert_true(dies(at_the_end, "internal error"));
    assert_true(dies(reserve_overflow, "out of memory"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushed_elements_are_there_in_order),
        cmocka_unit_test(braced_literals_and_own_elements_may_be_pushed),
        cmocka_unit_test(elements_can_be_written_in_place),
        cmocka_unit_test(popping_gives_back_the_last),
        cmocka_unit_test(growth_takes_few_steps_and_reserve_saves_them),
        cmocka_unit_test(clearing_keeps_the_memory_and_releasing_does_not),
        cmocka_unit_test(sorting_orders_and_keeps_equals_in_sequence),
        cmocka_unit_test(sorting_is_a_permutation),
        cmocka_unit_test(sorting_moves_elements_of_any_size),
        cmocka_unit_test(misuse_stops_the_program),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
