/* bitset.h - sets of small integers.
 *
 * A set has no size: it holds any numbers, and asking for one beyond its memory says
 * no. Memory grows to the largest member, one bit each, so members are ids that the
 * program counts up, never numbers that input chose. How much memory two sets have
 * does not matter when they are compared. {0} is the empty set. A set belongs to one
 * thread at a time; several may read one that none changes.
 */
#ifndef BZ_BASE_BITSET_H
#define BZ_BASE_BITSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bz_bitset {
    uint64_t *words; /* member i is bit i % 64 of word i / 64 */
    size_t nwords;
};

#define BZ_BITSET_END SIZE_MAX

void bz_bitset_set(struct bz_bitset *s, size_t i);
void bz_bitset_clear(struct bz_bitset *s, size_t i);

static inline bool bz_bitset_test(const struct bz_bitset *s, size_t i)
{
    return i / 64 < s->nwords && (s->words[i / 64] >> i % 64 & 1);
}

/* Change s. Its operands may be the same set. */
void bz_bitset_union(struct bz_bitset *s, const struct bz_bitset *other);
void bz_bitset_intersect(struct bz_bitset *s, const struct bz_bitset *other);
void bz_bitset_subtract(struct bz_bitset *s, const struct bz_bitset *other);

size_t bz_bitset_count(const struct bz_bitset *s);

/* Whether every member of a is in b. */
bool bz_bitset_subset(const struct bz_bitset *a, const struct bz_bitset *b);

/* The smallest member that is not below `from`, or BZ_BITSET_END.
 * `for (i = bz_bitset_next(&s, 0); i < BZ_BITSET_END; i = bz_bitset_next(&s, i + 1))`
 */
size_t bz_bitset_next(const struct bz_bitset *s, size_t from);

/* Makes room for the members below n, so that setting them allocates nothing. */
void bz_bitset_reserve(struct bz_bitset *s, size_t n);

void bz_bitset_zero(struct bz_bitset *s);    /* removes all, keeps the memory */
void bz_bitset_release(struct bz_bitset *s); /* frees all; the set is {0} */

#endif
