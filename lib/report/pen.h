/* pen.h - draws one line of a display, up to the edge and no further. */
#ifndef BZ_REPORT_PEN_H
#define BZ_REPORT_PEN_H

#include "base/buf.h"

enum bz_pen_ink {
    BZ_PEN_PLAIN,
    BZ_PEN_BOLD,
    BZ_PEN_RED,
    BZ_PEN_GREEN,
    BZ_PEN_YELLOW,
};

struct bz_pen {
    struct bz_buf *out;
    unsigned left; /* columns there are */
    bool color;    /* inks other than plain may be used */
    bool utf8;
};

/* Text of any origin; see columns.h. */
void bz_pen_put(struct bz_pen *pen, enum bz_pen_ink ink, struct bz_str text);
void bz_pen_print(struct bz_pen *pen, enum bz_pen_ink ink, const char *fmt, ...)
    BZ_PRINTF(3, 4);

/* Both ends of "recipe:do_task", with what is between them left out if need be. */
void bz_pen_put_name(struct bz_pen *pen, enum bz_pen_ink ink, struct bz_str name,
                     unsigned room);

/* Text whose end matters more than its middle, as that of a command: if it does not
 * fit, a third of the room is for its beginning and the rest for its end. */
void bz_pen_put_ends(struct bz_pen *pen, enum bz_pen_ink ink, struct bz_str text);

/* "12s", "3m05s", "2h07m"; "1.5 MiB". Text is returned. */
#define BZ_PEN_SHORT 24
const char *bz_pen_duration(char text[BZ_PEN_SHORT], int64_t ns);
const char *bz_pen_bytes(char text[BZ_PEN_SHORT], uint64_t bytes);

#endif
