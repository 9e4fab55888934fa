/* columns.h - how much room text takes on a terminal, and text that takes no more.
 *
 * What is shown of names and logs is not ours: control characters, and bytes that are
 * no UTF-8, are shown as '?', so that they can neither drive the terminal nor take more
 * columns than they are counted for. Pure functions, callable from any thread.
 */
#ifndef BZ_REPORT_COLUMNS_H
#define BZ_REPORT_COLUMNS_H

#include "base/buf.h"

/* Columns that a character takes: 2 if it is wide, as in Chinese; 0 if it is drawn over
 * the one before. */
unsigned bz_columns_of_char(uint32_t c);

/* Columns that the text takes when it is added. Without `utf8` the terminal knows ASCII
 * only. */
unsigned bz_columns_of(struct bz_str text, bool utf8);

/* Adds the text, or as much as there is room for, with a mark where the rest is
 * missing. Returns the columns taken, at most `room`. */
unsigned bz_columns_add(struct bz_buf *out, struct bz_str text, unsigned room,
                        bool utf8);

#endif
