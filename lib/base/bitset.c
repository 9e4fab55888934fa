#include "base/bitset.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static uint64_t bit(size_t i)
{
    return UINT64_C(1) << i % 64;
}

static void grow(struct bz_bitset *s, size_t nwords)
{
    if (nwords <= s->nwords)
        return;
    s->words = bz_mem_resize(s->words, nwords, sizeof(*s->words));
    memset(s->words + s->nwords, 0, (nwords - s->nwords) * sizeof(*s->words));
    s->nwords = nwords;
}

void bz_bitset_set(struct bz_bitset *s, size_t i)
{
    size_t word = i / 64;

    /* Doubles, so that counting up stays linear. */
    if (word >= s->nwords)
        grow(s, word < 2 * s->nwords ? 2 * s->nwords : word + 1);
    s->words[word] |= bit(i);
}

void bz_bitset_clear(struct bz_bitset *s, size_t i)
{
    if (i / 64 < s->nwords)
        s->words[i / 64] &= ~bit(i);
}

/* Word i of the set, which is 0 where it has no memory. */
static uint64_t word_at(const struct bz_bitset *s, size_t i)
{
    return i < s->nwords ? s->words[i] : 0;
}

void bz_bitset_union(struct bz_bitset *s, const struct bz_bitset *other)
{
    size_t i;

    grow(s, other->nwords);
    for (i = 0; i < other->nwords; i++)
        s->words[i] |= other->words[i];
}

void bz_bitset_intersect(struct bz_bitset *s, const struct bz_bitset *other)
{
    size_t i;

    for (i = 0; i < s->nwords; i++)
        s->words[i] &= word_at(other, i);
}

void bz_bitset_subtract(struct bz_bitset *s, const struct bz_bitset *other)
{
    size_t i;

    for (i = 0; i < s->nwords; i++)
        s->words[i] &= ~word_at(other, i);
}

size_t bz_bitset_count(const struct bz_bitset *s)
{
    size_t i, n = 0;

    for (i = 0; i < s->nwords; i++)
        n += (size_t)__builtin_popcountll(s->words[i]);
    return n;
}

bool bz_bitset_subset(const struct bz_bitset *a, const struct bz_bitset *b)
{
    size_t i;

    for (i = 0; i < a->nwords; i++) {
        if (a->words[i] & ~word_at(b, i))
            return false;
    }
    return true;
}

size_t bz_bitset_next(const struct bz_bitset *s, size_t from)
{
    size_t i = from / 64;
    uint64_t word = word_at(s, i) & ~(bit(from) - 1);

    while (!word) {
        if (++i >= s->nwords)
            return BZ_BITSET_END;
        word = s->words[i];
    }
    return i * 64 + (size_t)__builtin_ctzll(word);
}

void bz_bitset_reserve(struct bz_bitset *s, size_t n)
{
    grow(s, n / 64 + (n % 64 != 0));
}

void bz_bitset_zero(struct bz_bitset *s)
{
    if (s->nwords)
        memset(s->words, 0, s->nwords * sizeof(*s->words));
}

void bz_bitset_release(struct bz_bitset *s)
{
    free(s->words);
    *s = (struct bz_bitset){0};
}
