/* out.h - the one way to standard output and standard error.
 *
 * Text is buffered and a failing write is remembered, not reported at once: callers
 * print without checking and bz_out_close() tells whether every byte arrived. So a
 * full disk ends in an error instead of a result cut short.
 */
#ifndef BZ_CMD_OUT_H
#define BZ_CMD_OUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/defs.h"
#include "base/err.h"

/* The values of --color, in the order of its choices. */
enum bz_out_color {
    BZ_OUT_COLOR_AUTO, /* as NO_COLOR or CLICOLOR_FORCE says; else on a terminal but
                          for TERM=dumb */
    BZ_OUT_COLOR_ALWAYS,
    BZ_OUT_COLOR_NEVER,
};

enum bz_out_style {
    BZ_OUT_PLAIN,
    BZ_OUT_BOLD,
    BZ_OUT_FAINT,
    BZ_OUT_RED,
    BZ_OUT_GREEN,
    BZ_OUT_YELLOW,
};

struct bz_out {
    int fd;
    int failed; /* errno of the first write that failed, or 0 */
    bool color;
    bool kept;      /* nothing is written before bz_out_flush() */
    unsigned width; /* columns to wrap at: COLUMNS, else the terminal's, else 80 */
    struct bz_buf buf;
};

void bz_out_init(struct bz_out *out, int fd, enum bz_out_color color) BZ_NONNULL;
void bz_out_put(struct bz_out *out, const void *p, size_t n) BZ_NONNULL;
void bz_out_print(struct bz_out *out, const char *fmt, ...) BZ_NONNULL BZ_PRINTF(2, 3);
void bz_out_paint(struct bz_out *out, enum bz_out_style style,
                  const char *text) BZ_NONNULL;

/* Text that came from outside, whole characters of it, with '?' for what must not reach
 * a terminal (columns.h) and a blank for a tab. bz_out_wrap() and bz_out_row() do the
 * same. */
void bz_out_plain(struct bz_out *out, const char *p, size_t n) BZ_NONNULL;

/* The same as a cell of a table: two blanks after it, and more if it takes less than
 * `width` columns (columns.h). */
void bz_out_cell(struct bz_out *out, struct bz_str text, size_t width) BZ_NONNULL;

/* An empty line, and the title in bold on its own line. */
void bz_out_heading(struct bz_out *out, const char *title) BZ_NONNULL;

/* Prints text and a line's end, breaking between words. The cursor stands in column
 * `column`; further lines begin in column `indent`. */
void bz_out_wrap(struct bz_out *out, unsigned column, unsigned indent,
                 const char *text) BZ_NONNULL;

/* The right column of a row: text wrapped from column `split` on, or below where that
 * leaves too little room. The left column is printed already and took `used` columns.
 */
void bz_out_row(struct bz_out *out, unsigned used, unsigned split,
                const char *text) BZ_NONNULL;

/* Writes what is buffered. */
void bz_out_flush(struct bz_out *out) BZ_NONNULL;

/* Flushes, closes the descriptor and reports the first failure. */
int bz_out_close(struct bz_out *out, const char *name,
                 struct bz_err *err) BZ_NONNULL BZ_MUST_CHECK;

#endif
