#include "report/pen.h"

#include <stdio.h>

#include "os/clock.h"
#include "report/columns.h"

static const char *const inks[] = {
    [BZ_PEN_PLAIN] = "",          [BZ_PEN_BOLD] = "\033[1m",
    [BZ_PEN_RED] = "\033[31m",    [BZ_PEN_GREEN] = "\033[32m",
    [BZ_PEN_YELLOW] = "\033[33m",
};

void bz_pen_put(struct bz_pen *pen, enum bz_pen_ink ink, struct bz_str text)
{
    bool inked = pen->color && ink != BZ_PEN_PLAIN && pen->left > 0;

    if (inked)
        bz_buf_add_str(pen->out, bz_str_from(inks[ink]));
    pen->left -= bz_columns_add(pen->out, text, pen->left, pen->utf8);
    if (inked)
        bz_buf_add_str(pen->out, BZ_STR("\033[0m"));
}

void bz_pen_print(struct bz_pen *pen, enum bz_pen_ink ink, const char *fmt, ...)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    va_list ap;

    va_start(ap, fmt);
    bz_buf_addv(&text, fmt, ap);
    va_end(ap);
    bz_pen_put(pen, ink, bz_buf_str(&text));
}

void bz_pen_put_name(struct bz_pen *pen, enum bz_pen_ink ink, struct bz_str name,
                     unsigned room)
{
    size_t at = bz_str_rfind_byte(name, ':');
    struct bz_str task = bz_str_drop(name, at == BZ_STR_NONE ? name.n : at);
    unsigned columns = bz_columns_of(task, pen->utf8), after;

    if (room > pen->left)
        room = pen->left;
    if (columns >= room) { /* not even the task has room */
        task = (struct bz_str){0};
        columns = 0;
    }
    after = pen->left - room;
    pen->left = room - columns;
    bz_pen_put(pen, ink, bz_str_of(name.p, name.n - task.n));
    pen->left += columns;
    bz_pen_put(pen, ink, task);
    pen->left += after;
}

void bz_pen_put_ends(struct bz_pen *pen, enum bz_pen_ink ink, struct bz_str text)
{
    unsigned room = pen->left, head = room / 3;
    size_t tail = room - head; /* no byte takes more than a column */

    if (head < 2 || text.n <= tail || bz_columns_of(text, pen->utf8) <= room) {
        bz_pen_put(pen, ink, text);
        return;
    }
    pen->left = head;
    bz_pen_put(pen, ink, text);
    pen->left += room - head;
    text = bz_str_drop(text, text.n - tail);
    while (pen->utf8 && text.n > 0 && ((unsigned char)text.p[0] & 0xC0) == 0x80)
        text = bz_str_drop(text, 1); /* the rest of a character */
    bz_pen_put(pen, ink, text);
}

const char *bz_pen_duration(char text[BZ_PEN_SHORT], int64_t ns)
{
    int64_t s = ns > 0 ? ns / BZ_CLOCK_S : 0;

    if (s < 60)
        snprintf(text, BZ_PEN_SHORT, "%ds", (int)s);
    else if (s < 3600)
        snprintf(text, BZ_PEN_SHORT, "%dm%02ds", (int)(s / 60), (int)(s % 60));
    else
        snprintf(text, BZ_PEN_SHORT, "%lldh%02dm", (long long)(s / 3600),
                 (int)(s / 60 % 60));
    return text;
}

const char *bz_pen_bytes(char text[BZ_PEN_SHORT], uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double n = (double)bytes;
    size_t unit = 0;

    for (; n >= 1023.95 && unit + 1 < BZ_COUNTOF(units); unit++)
        n /= 1024;
    snprintf(text, BZ_PEN_SHORT, unit ? "%.1f %s" : "%.0f %s", n, units[unit]);
    return text;
}
