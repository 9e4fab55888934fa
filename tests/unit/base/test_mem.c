#include "base/mem.h"

#include <stdint.h>
#include <string.h>

#include "tests/unit/base/dies.h"
#include "tests/unit/bz_test.h"

static int is_zero(const void *p, size_t n)
{
    const char *bytes = p;

    while (n > 0 && bytes[n - 1] == 0)
        n--;
    return n == 0;
}

static void zeroed_memory_is_zero(void **state)
{
    char *a = bz_mem_zalloc(4096);
    char *b = bz_mem_array(64, sizeof(uint64_t[8]));
    char *c = bz_mem_padded(1000);

    (void)state;
    assert_true(is_zero(a, 4096));
    assert_true(is_zero(b, sizeof(uint64_t[8][64])));
    assert_true(is_zero(c, 1000));
    free(a);
    free(b);
    free(c);
}

static void padded_memory_is_aligned_and_whole_lines(void **state)
{
    size_t n;

    (void)state;
    for (n = 1; n < 600; n += 37) {
        char *p = bz_mem_padded(n);

        assert_int_equal((uintptr_t)p % BZ_CACHELINE, 0);
        memset(p, 1, (n + BZ_CACHELINE - 1) / BZ_CACHELINE * BZ_CACHELINE);
        free(p);
    }
}

static void resizing_keeps_the_contents_even_at_nothing(void **state)
{
    uint32_t *p = bz_mem_resize(NULL, 2, sizeof(*p));

    (void)state;
    p[0] = 10;
    p[1] = 11;
    p = bz_mem_resize(p, 5000, sizeof(*p));
    assert_int_equal(p[0], 10);
    assert_int_equal(p[1], 11);
    p = bz_mem_resize(p, 0, sizeof(*p));
    assert_non_null(p); /* still owned: freeing it once is right */
    free(p);
}

static void copies_are_terminated_and_hold_any_byte(void **state)
{
    char *p = bz_mem_dup("a\0bcd", 4);
    char *empty = bz_mem_dup(NULL, 0);

    (void)state;
    assert_memory_equal(p, "a\0bc", 5);
    assert_string_equal(empty, "");
    free(p);
    free(empty);
}

static void cleanup_frees_and_ignores_null(void **state)
{
    (void)state;
    {
        /* The leak checker of the asan build judges this one. */
        BZ_CLEANUP(bz_mem_freep) char *p = bz_mem_alloc(10);
        BZ_CLEANUP(bz_mem_freep) int *none = NULL;

        memset(p, 0, 10);
        assert_null(none);
    }
}

static void alloc_overflow(void)
{
    free(bz_mem_alloc(SIZE_MAX));
}

static void zalloc_overflow(void)
{
    free(bz_mem_zalloc(SIZE_MAX / 2 + 1));
}

static void array_overflow(void)
{
    free(bz_mem_array(SIZE_MAX / 2, 3));
}

static void resize_overflow(void)
{
    free(bz_mem_resize(NULL, SIZE_MAX / 2, 3));
}

static void padded_overflow(void)
{
    free(bz_mem_padded(SIZE_MAX - 5));
}

static void dup_overflow(void)
{
    free(bz_mem_dup("", SIZE_MAX));
}

static void sizes_that_overflow_stop_the_program(void **state)
{
    static void (*const cases[])(void) = {alloc_overflow,  zalloc_overflow,
                                          array_overflow,  resize_overflow,
                                          padded_overflow, dup_overflow};
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(cases); i++)
        assert_true(dies(cases[i], "out of memory"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeroed_memory_is_zero),
        cmocka_unit_test(padded_memory_is_aligned_and_whole_lines),
        cmocka_unit_test(resizing_keeps_the_contents_even_at_nothing),
        cmocka_unit_test(copies_are_terminated_and_hold_any_byte),
        cmocka_unit_test(cleanup_frees_and_ignores_null),
        cmocka_unit_test(sizes_that_overflow_stop_the_program),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
