/* roff.h - text for man(1), in the macros of man(7).
 *
 * Each function adds whole lines to a buffer and escapes what troff would take for its
 * own: text comes as a person would write it.
 */
#ifndef BZ_CMD_ROFF_H
#define BZ_CMD_ROFF_H

#include "base/buf.h"

/* The first line of a page. `date` as 2026-01-31; `source` is who made it. */
struct bz_roff_title {
    const char *name, *section, *date, *source, *manual;
};
void bz_roff_title(struct bz_buf *b, const struct bz_roff_title *title);

void bz_roff_section(struct bz_buf *b, const char *name);
void bz_roff_subsection(struct bz_buf *b, const char *name);
void bz_roff_paragraph(struct bz_buf *b); /* sections begin with one anyway */

/* Running text. What stands in quotes and what looks like an option is set in bold. A
 * sentence ends its line, since troff looks there for its end. */
void bz_roff_text(struct bz_buf *b, const char *text);

/* Lines as they are, and no others between them. */
void bz_roff_example(struct bz_buf *b, const char *line);

/* Begins an item: what is explained goes on one line, made of parts, and the
 * explanation follows as text. */
void bz_roff_item(struct bz_buf *b);

/* Parts of a line, which bz_roff_end ends. */
void bz_roff_plain(struct bz_buf *b, const char *text);
void bz_roff_bold(struct bz_buf *b, const char *text);
void bz_roff_italic(struct bz_buf *b, const char *text);
void bz_roff_end(struct bz_buf *b);

#endif
