#include "base/near.h"

#include <stdio.h>

/* Nobody mistypes a longer word by a letter or two. It also bounds the rows below. */
#define LONGEST 48

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Edits from a to b, where an edit inserts, drops or replaces a letter or swaps two
 * neighbours. Row i % 3 is about the first i letters of a. What they have in common at
 * either end needs none: most names of variables begin like many others. */
static unsigned edits(struct bz_str a, struct bz_str b)
{
    unsigned row[3][LONGEST + 1];

    while (a.n > 0 && b.n > 0 && a.p[0] == b.p[0]) {
        a = bz_str_sub(a, 1, a.n);
        b = bz_str_sub(b, 1, b.n);
    }
    while (a.n > 0 && b.n > 0 && a.p[a.n - 1] == b.p[b.n - 1]) {
        a.n--;
        b.n--;
    }

    for (size_t j = 0; j <= b.n; j++)
        row[0][j] = (unsigned)j;
    for (size_t i = 1; i <= a.n; i++) {
        unsigned *now = row[i % 3];
        const unsigned *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];

        now[0] = (unsigned)i;
        for (size_t j = 1; j <= b.n; j++) {
            unsigned best = last[j - 1] + (a.p[i - 1] != b.p[j - 1]);

            best = least(best, least(last[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1])
                best = least(best, before[j - 2] + 1);
            now[j] = best;
        }
    }
    return row[a.n % 3][b.n];
}

void bz_near_init(struct bz_near *near, struct bz_str word)
{
    *near = (struct bz_near){.word = word};
}

/* False if it is too far. */
static bool measure(struct bz_str word, struct bz_str candidate, unsigned *distance)
{
    size_t most = word.n / 3 + (word.n < 3);

    if (word.n == 0 || word.n > LONGEST || candidate.n > LONGEST)
        return false;
    if (word.n > 1 && candidate.n > word.n && bz_str_starts(candidate, word)) {
        *distance = 1;
        return true;
    }
    if (candidate.n > word.n + most || word.n > candidate.n + most)
        return false;
    *distance = edits(word, candidate);
    return *distance <= most && *distance < candidate.n;
}

void bz_near_offer(struct bz_near *near, struct bz_str candidate)
{
    size_t at = near->n;
    unsigned distance;

    if (!measure(near->word, candidate, &distance))
        return;
    for (size_t i = 0; i < near->n; i++)
        if (bz_str_eq(near->name[i], candidate))
            return;
    while (at > 0 && near->distance[at - 1] > distance)
        at--;
    if (at == BZ_NEAR_KEPT)
        return;
    if (near->n < BZ_NEAR_KEPT)
        near->n++;
    for (size_t i = near->n - 1; i > at; i--) {
        near->name[i] = near->name[i - 1];
        near->distance[i] = near->distance[i - 1];
    }
    near->name[at] = candidate;
    near->distance[at] = distance;
}

const char *bz_near_text(const struct bz_near *near, const char *dashes, char *text,
                         size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < near->n && used < size; i++) {
        const char *before = i == 0            ? "; did you mean "
                             : i + 1 < near->n ? ", "
                                               : " or ";
        const char *after = i + 1 < near->n ? "" : "?";

        used += (size_t)snprintf(text + used, size - used, "%s'%s%.*s'%s", before,
                                 dashes, BZ_STR_ARG(near->name[i]), after);
    }
    return text;
}
