/* table_view.h - rows of cells, aligned for a terminal or as Markdown.
 *
 * Cells are added one after the other, row by row. What comes from outside may be in
 * there: it is made harmless when it is printed.
 */
#ifndef BZ_CMD_TABLE_VIEW_H
#define BZ_CMD_TABLE_VIEW_H

#include "base/arena.h"
#include "base/vec.h"
#include "out.h"

enum bz_table_view_form { BZ_TABLE_VIEW_TEXT, BZ_TABLE_VIEW_MARKDOWN };

#define BZ_TABLE_VIEW_COLUMNS 16 /* at most */

struct bz_table_view_column {
    const char *head;
    bool right; /* aligned to the right, as numbers are */
};

struct bz_table_view {
    const struct bz_table_view_column *columns;
    size_t ncolumns;
    struct bz_arena arena;
    struct bz_table_view_cells BZ_VEC(struct bz_str) cells;
};

void bz_table_view_release(struct bz_table_view *t);

/* Add the next cell; the text is copied. A time of 0 or less and an empty size are "-".
 */
void bz_table_view_text(struct bz_table_view *t, struct bz_str text);
void bz_table_view_number(struct bz_table_view *t, uint64_t n);
void bz_table_view_span(struct bz_table_view *t, int64_t ns);
void bz_table_view_size(struct bz_table_view *t, uint64_t bytes);

void bz_table_view_print(const struct bz_table_view *t, struct bz_out *out,
                         enum bz_table_view_form form);

/* A text from outside, so that Markdown takes it as it is. */
void bz_table_view_escape(struct bz_out *out, struct bz_str text);

#endif
