#include "sig/lcs.h"

#include "base/mem.h"

/* What is left to compare, and where it begins. */
struct middle {
    const uint32_t *a, *b;
    size_t n, m, from;
};

/* length[i][j]: of the longest in a[i..] and b[j..]. */
static void compare(const struct middle *x, struct bz_bitset *in_a,
                    struct bz_bitset *in_b)
{
    size_t wide = x->m + 1;
    BZ_CLEANUP(bz_mem_freep)
    uint32_t *length = bz_mem_array((x->n + 1) * wide, sizeof(*length));

    for (size_t i = x->n; i-- > 0;)
        for (size_t j = x->m; j-- > 0;) {
            uint32_t down = length[(i + 1) * wide + j];
            uint32_t right = length[i * wide + j + 1];

            if (x->a[i] == x->b[j])
                length[i * wide + j] = length[(i + 1) * wide + j + 1] + 1;
            else
                length[i * wide + j] = down > right ? down : right;
        }
    for (size_t i = 0, j = 0; i < x->n && j < x->m;) {
        if (x->a[i] == x->b[j]) {
            bz_bitset_set(in_a, x->from + i++);
            bz_bitset_set(in_b, x->from + j++);
        } else if (length[(i + 1) * wide + j] >= length[i * wide + j + 1]) {
            i++;
        } else {
            j++;
        }
    }
}

void bz_lcs_find(const uint32_t *a, size_t n, const uint32_t *b, size_t m,
                 struct bz_bitset *in_a, struct bz_bitset *in_b)
{
    size_t head = 0, tail = 0;
    struct middle x;

    while (head < n && head < m && a[head] == b[head]) {
        bz_bitset_set(in_a, head);
        bz_bitset_set(in_b, head);
        head++;
    }
    while (tail < n - head && tail < m - head && a[n - 1 - tail] == b[m - 1 - tail]) {
        tail++;
        bz_bitset_set(in_a, n - tail);
        bz_bitset_set(in_b, m - tail);
    }
    x = (struct middle){a + head, b + head, n - head - tail, m - head - tail, head};
    if (x.n > 0 && x.m > 0 && x.n <= BZ_LCS_MOST / x.m)
        compare(&x, in_a, in_b);
}
