#include "base/vec.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"

#define VEC_FIRST 8

/* Runs up to this length are sorted by insertion before merging starts. */
#define VEC_RUN 8

void bz_vec_release(void *v)
{
    struct BZ_VEC(void) any;

    /* Copied, because the vector's own type is another one. */
    memcpy(&any, v, sizeof(any));
    free(any.at);
    memset(v, 0, sizeof(any));
}

void *bz_vec_reserve(void *at, size_t n, size_t *cap, size_t size)
{
    if (n <= *cap)
        return at;
    at = bz_mem_resize(at, n, size);
    *cap = n;
    return at;
}

void *bz_vec_grow(void *at, size_t *cap, size_t size)
{
    size_t n = *cap > SIZE_MAX / 2 ? SIZE_MAX : *cap * 2;

    return bz_vec_reserve(at, n < VEC_FIRST ? VEC_FIRST : n, cap, size);
}

/* Sorts a few elements in place; `spare` holds one. */
static void sort_run(char *at, size_t len, size_t size, bz_vec_cmp_fn cmp, char *spare)
{
    size_t i, j;

    for (i = 1; i < len; i++) {
        for (j = i; j > 0 && cmp(at + (j - 1) * size, at + i * size) > 0; j--)
            continue;
        if (j == i)
            continue;
        memcpy(spare, at + i * size, size);
        memmove(at + (j + 1) * size, at + j * size, (i - j) * size);
        memcpy(at + j * size, spare, size);
    }
}

/* Merges from[0..mid) and from[mid..len) into `to`. Of equals the left goes first. */
static void merge(char *to, const char *from, size_t mid, size_t len, size_t size,
                  bz_vec_cmp_fn cmp)
{
    const char *left = from, *left_end = from + mid * size;
    const char *right = left_end, *right_end = from + len * size;

    while (left < left_end && right < right_end) {
        if (cmp(left, right) <= 0) {
            memcpy(to, left, size);
            left += size;
        } else {
            memcpy(to, right, size);
            right += size;
        }
        to += size;
    }
    memcpy(to, left, (size_t)(left_end - left));
    memcpy(to + (left_end - left), right, (size_t)(right_end - right));
}

/* qsort(3) is not stable, and not even the same in all versions of glibc; what is
 * sorted here ends up in signatures and reports. */
void bz_vec_sort(void *at, size_t len, size_t size, bz_vec_cmp_fn cmp)
{
    BZ_CLEANUP(bz_mem_freep) char *spare = NULL;
    char *from = at, *to;
    size_t i, width;

    if (len < 2)
        return;
    spare = bz_mem_resize(NULL, len, size);
    for (i = 0; i < len; i += VEC_RUN)
        sort_run(from + i * size, len - i < VEC_RUN ? len - i : VEC_RUN, size, cmp,
                 spare);
    to = spare;
    for (width = VEC_RUN; width < len; width *= 2) {
        char *swap = from;

        for (i = 0; i < len; i += 2 * width) {
            size_t n = len - i < 2 * width ? len - i : 2 * width;

            merge(to + i * size, from + i * size, n < width ? n : width, n, size, cmp);
        }
        from = to;
        to = swap;
    }
    if (from != (char *)at)
        memcpy(at, from, len * size);
}
