/* diag.h - what is wrong with a file, where, and what would be right.
 *
 * A diagnostic is kept as facts and becomes text only when somebody shows it. A list
 * may collect from any number of files. It keeps the first BZ_DIAG_KEEP errors and as
 * many warnings, and counts the others, so that hostile input cannot fill the memory.
 *
 * The text of a diagnostic is copied, cut to a bound, into the list's arena. A list
 * belongs to one thread at a time.
 */
#ifndef BZ_RECIPE_DIAG_H
#define BZ_RECIPE_DIAG_H

#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

#define BZ_DIAG_KEEP 100 /* of each severity */

enum bz_diag_severity {
    BZ_DIAG_WARNING,
    BZ_DIAG_ERROR,
    BZ_DIAG_NOTE, /* says more about the one before it; counts as a warning */
};

struct bz_diag {
    enum bz_diag_severity severity;
    const char *path;
    uint32_t line, column; /* from 1; a column is a character, not a byte */
    const char *message;   /* one line, without the place */
    const char *expected;  /* what should stand at the column; NULL: nothing to say */
    struct bz_str source;  /* the line, or what surrounds the column in a long one */
    uint32_t caret;        /* how many characters of it are left of the column */
    struct bz_diag *next;
};

struct bz_diag_list {
    struct bz_arena *arena; /* set by the owner; nothing else must be */
    struct bz_diag *first, *last;
    size_t errors, warnings; /* found; those kept may be fewer */
};

/* A place in a file. `source` is the whole line; offset <= source.n is in bytes. */
struct bz_diag_place {
    const char *path; /* lives as long as the list */
    uint32_t line;
    struct bz_str source;
    size_t offset;
};

/* `expected` is static or lives as long as the list. */
void bz_diag_add(struct bz_diag_list *list, enum bz_diag_severity severity,
                 const struct bz_diag_place *place, const char *expected,
                 const char *fmt, ...) BZ_PRINTF(5, 6);

/* Adds "path:line:column: error: message", the source line, and a line with a caret
 * under the column and what was expected. Characters that could steer a terminal are
 * replaced. Ends in a newline. */
void bz_diag_format(const struct bz_diag *d, struct bz_buf *out);

#endif
