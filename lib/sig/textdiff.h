/* textdiff.h - what changed in a text, line by line, short enough to be read.
 *
 * Long lines are cut to the part that differs, long differences to their beginning.
 */
#ifndef BZ_SIG_TEXTDIFF_H
#define BZ_SIG_TEXTDIFF_H

#include "base/arena.h"
#include "base/vec.h"

struct bz_textdiff_opts {
    size_t context; /* lines that stayed to show around each change */
    size_t lines;   /* to show at most */
    size_t width;   /* bytes of a line to show at most, about */
};

struct bz_textdiff_line {
    char sign; /* '-' was there, '+' is there, ' ' both, '~' something is left out */
    struct bz_str text;
};

struct bz_textdiff {
    struct bz_textdiff_lines BZ_VEC(struct bz_textdiff_line) lines;
    struct bz_arena arena;
};

/* Fills *d, which is empty; the texts must outlive it. One with p == NULL has no lines.
 */
void bz_textdiff_run(struct bz_textdiff *d, struct bz_str was, struct bz_str is,
                     const struct bz_textdiff_opts *opts);
void bz_textdiff_release(struct bz_textdiff *d);

#endif
