/* lcs.h - the longest common subsequence of two sequences of numbers: what stayed when
 * one became the other. */
#ifndef BZ_SIG_LCS_H
#define BZ_SIG_LCS_H

#include "base/bitset.h"

/* As many steps, at most, as a comparison may take. */
#define BZ_LCS_MOST ((size_t)1 << 22)

/* Sets the places in a that stayed, and where these are in b. What differs and is too
 * long to be compared counts as changed all over. */
void bz_lcs_find(const uint32_t *a, size_t n, const uint32_t *b, size_t m,
                 struct bz_bitset *in_a, struct bz_bitset *in_b);

#endif
