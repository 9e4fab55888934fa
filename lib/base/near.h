/* near.h - the names a mistyped word may have meant.
 *
 * A struct bz_near collects the candidates offered to it that are close to the word:
 * a few letters wrong, missing, doubled or swapped, or the word is their beginning.
 * It borrows the strings. Ten thousand candidates take some milliseconds: what differs
 * too much in length is not looked at, and no word is long.
 */
#ifndef BZ_BASE_NEAR_H
#define BZ_BASE_NEAR_H

#include "base/str.h"

#define BZ_NEAR_KEPT 3

struct bz_near {
    struct bz_str word;
    size_t n;
    struct bz_str name[BZ_NEAR_KEPT]; /* nearest first; equals in the order offered */
    unsigned distance[BZ_NEAR_KEPT];
};

void bz_near_init(struct bz_near *near, struct bz_str word) BZ_NONNULL;

/* A name that is offered twice is kept once. */
void bz_near_offer(struct bz_near *near, struct bz_str candidate) BZ_NONNULL;

/* Writes "; did you mean 'a', 'b' or 'c'?" with `dashes` before each name, or an
 * empty string if nothing was near. Returns text. */
const char *bz_near_text(const struct bz_near *near, const char *dashes, char *text,
                         size_t size) BZ_NONNULL;

#endif
