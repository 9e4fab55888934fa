#include "sig/lcs.h"

#include <stdlib.h>

#include "tests/unit/bz_test.h"

#include "base/mem.h"

/* By trying all: how much of a and b may stay. */
static size_t longest(const uint32_t *a, size_t n, const uint32_t *b, size_t m)
{
    size_t best = 0;

    for (uint32_t pick = 0; pick < 1u << n; pick++) {
        size_t k = 0, taken = 0;
        bool fits = true;

        for (size_t i = 0; i < n && fits; i++) {
            if (!(pick >> i & 1))
                continue;
            while (k < m && b[k] != a[i])
                k++;
            fits = k++ < m;
            taken++;
        }
        if (fits && taken > best)
            best = taken;
    }
    return best;
}

static void check(const uint32_t *a, size_t n, const uint32_t *b, size_t m, size_t most)
{
    struct bz_bitset in_a = {0}, in_b = {0};
    size_t i, k;

    bz_lcs_find(a, n, b, m, &in_a, &in_b);
    assert_int_equal(bz_bitset_count(&in_a), most);
    assert_int_equal(bz_bitset_count(&in_b), most);
    k = bz_bitset_next(&in_b, 0);
    for (i = bz_bitset_next(&in_a, 0); i < BZ_BITSET_END;
         i = bz_bitset_next(&in_a, i + 1)) {
        assert_int_equal(a[i], b[k]);
        k = bz_bitset_next(&in_b, k + 1);
    }
    bz_bitset_release(&in_a);
    bz_bitset_release(&in_b);
}

static void as_much_as_possible_stays_in_order(void **state)
{
    uint32_t a[8], b[8], seed = 7;

    (void)state;
    for (int round = 0; round < 500; round++) {
        size_t n = seed % 9, m = (seed >> 8) % 9;

        for (size_t i = 0; i < 8; i++) {
            seed = seed * 1103515245u + 12345u;
            a[i] = (seed >> 16) % 3;
            b[i] = (seed >> 20) % 3;
        }
        check(a, n, b, m, longest(a, n, b, m));
    }
}

static void what_is_too_long_changed_all_over(void **state)
{
    enum { N = 5000 };
    uint32_t *a = bz_mem_array(N, sizeof(*a)), *b = bz_mem_array(N, sizeof(*b));

    (void)state;
    for (uint32_t i = 0; i < N; i++) {
        a[i] = i;
        b[i] = i ^ 1;
    }
    a[0] = b[0] = N; /* but for what is the same at the ends */
    check(a, N, b, N, 1);
    free(a);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_much_as_possible_stays_in_order),
        cmocka_unit_test(what_is_too_long_changed_all_over),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
