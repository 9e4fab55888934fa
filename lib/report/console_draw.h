/* console_draw.h - a build as a few lines at the bottom of a terminal.
 *
 * Tasks that run are shown longest first, with how far a download is; below them, one
 * line of numbers, of which those that matter least are left out where there is no
 * room.
 */
#ifndef BZ_REPORT_CONSOLE_DRAW_H
#define BZ_REPORT_CONSOLE_DRAW_H

#include "report/console.h"

/* Adds the lines, with '\n' between them: at most height - 1, each less than `width`
 * columns, since a terminal may break a line that is full. */
void bz_console_draw(const struct bz_console *c, unsigned width, unsigned height,
                     struct bz_buf *out);

/* One line, without its end, for a reader that is no terminal: what runs, and since
 * when. */
void bz_console_draw_once(const struct bz_console *c, struct bz_buf *out);

#endif
