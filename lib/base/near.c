#include "base/near.h"

#include <stdio.h>
#include <string.h>

/* Nobody mistypes a longer word by a letter or two. It also bounds the table below. */
#define LONGEST 48

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Edits from a to b, where an edit inserts, drops or replaces a letter or swaps two
 * neighbours. Row i of the table is about the first i letters of a. */
static unsigned edits(const char *a, size_t na, const char *b, size_t nb)
{
    unsigned row[LONGEST + 1][LONGEST + 1];

    for (size_t j = 0; j <= nb; j++)
        row[0][j] = (unsigned)j;
    for (size_t i = 1; i <= na; i++) {
        row[i][0] = (unsigned)i;
        for (size_t j = 1; j <= nb; j++) {
            unsigned best = row[i - 1][j - 1] + (a[i - 1] != b[j - 1]);

            best = least(best, least(row[i - 1][j], row[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = least(best, row[i - 2][j - 2] + 1);
            row[i][j] = best;
        }
    }
    return row[na][nb];
}

void bz_near_init(struct bz_near *near, const char *word)
{
    *near = (struct bz_near){.word = word};
}

void bz_near_offer(struct bz_near *near, const char *candidate)
{
    size_t nw = strlen(near->word);
    size_t nc = strlen(candidate);
    size_t at = near->n;
    unsigned distance;

    if (nw == 0 || nw > LONGEST || nc > LONGEST)
        return;
    if (nw > 1 && nc > nw && strncmp(near->word, candidate, nw) == 0) {
        distance = 1;
    } else {
        distance = edits(near->word, nw, candidate, nc);
        if (distance > nw / 3 + (nw < 3) || distance >= nc)
            return;
    }
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

        used += (size_t)snprintf(text + used, size - used, "%s'%s%s'%s", before, dashes,
                                 near->name[i], after);
    }
    return text;
}
