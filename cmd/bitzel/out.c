#include "out.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "report/columns.h"

#define WIDTH_DEFAULT 80
#define WIDTH_LEAST 20
#define WIDTH_MOST 100 /* longer lines are hard to read */
#define MUCH 65536     /* bytes to buffer before writing them */
#define ROOM_LEAST 24  /* a narrower right column goes below the left one, */
#define BELOW 8        /* indented by this */
#define GAP 2          /* blanks between the columns, at least */

static const char *const escapes[] = {
    [BZ_OUT_PLAIN] = "",        [BZ_OUT_BOLD] = "\033[1m",
    [BZ_OUT_RED] = "\033[31m",  [BZ_OUT_GREEN] = "\033[32m",
    [BZ_OUT_FAINT] = "\033[2m", [BZ_OUT_YELLOW] = "\033[33m",
};

static bool wants_color(int fd, enum bz_out_color color)
{
    const char *no = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    const char *force = getenv("CLICOLOR_FORCE");

    if (color != BZ_OUT_COLOR_AUTO)
        return color == BZ_OUT_COLOR_ALWAYS;
    if (no && no[0] != '\0')
        return false;
    if (force && force[0] != '\0' && strcmp(force, "0") != 0)
        return true;
    return term && strcmp(term, "dumb") != 0 && isatty(fd);
}

static unsigned width_of(int fd)
{
    const char *columns = getenv("COLUMNS");
    unsigned long width = columns ? strtoul(columns, NULL, 10) : 0;
    struct winsize ws;

    if (width == 0 && ioctl(fd, TIOCGWINSZ, &ws) == 0)
        width = ws.ws_col;
    if (width == 0)
        return WIDTH_DEFAULT;
    if (width < WIDTH_LEAST)
        return WIDTH_LEAST;
    return width > WIDTH_MOST ? WIDTH_MOST : (unsigned)width;
}

void bz_out_init(struct bz_out *out, int fd, enum bz_out_color color)
{
    *out = (struct bz_out){
        .fd = fd, .color = wants_color(fd, color), .width = width_of(fd)};
}

/* Somebody else may have made the pipe or terminal we share non-blocking. */
static void wait_for_room(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};

    (void)poll(&p, 1, -1);
}

void bz_out_flush(struct bz_out *out)
{
    size_t done = 0;

    while (done < out->buf.len && !out->failed) {
        ssize_t n = write(out->fd, out->buf.data + done, out->buf.len - done);

        if (n >= 0)
            done += (size_t)n;
        else if (errno == EAGAIN)
            wait_for_room(out->fd);
        else if (errno != EINTR)
            out->failed = errno;
    }
    bz_buf_truncate(&out->buf, 0);
}

static void flush_if_much(struct bz_out *out)
{
    if (out->buf.len >= MUCH && !out->kept)
        bz_out_flush(out);
}

void bz_out_put(struct bz_out *out, const void *p, size_t n)
{
    bz_buf_add(&out->buf, p, n);
    flush_if_much(out);
}

void bz_out_print(struct bz_out *out, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    bz_buf_addv(&out->buf, fmt, ap);
    va_end(ap);
    flush_if_much(out);
}

void bz_out_paint(struct bz_out *out, enum bz_out_style style, const char *text)
{
    if (out->color && style != BZ_OUT_PLAIN)
        bz_out_print(out, "%s%s\033[0m", escapes[style], text);
    else
        bz_out_print(out, "%s", text);
}

void bz_out_cell(struct bz_out *out, struct bz_str text, size_t width)
{
    size_t taken = bz_columns_of(text, true);

    bz_out_plain(out, text.p ? text.p : "", text.n);
    bz_out_print(out, "%*s", (int)(taken < width ? width - taken : 0) + 2, "");
}

void bz_out_heading(struct bz_out *out, const char *title)
{
    bz_out_print(out, "\n");
    bz_out_paint(out, BZ_OUT_BOLD, title);
    bz_out_print(out, "\n");
}

void bz_out_plain(struct bz_out *out, const char *p, size_t n)
{
    bz_columns_add(&out->buf, bz_str_of(p, n), UINT_MAX, true);
    flush_if_much(out);
}

void bz_out_wrap(struct bz_out *out, unsigned column, unsigned indent, const char *text)
{
    bool fresh = true; /* nothing but indentation on this line yet */

    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        size_t n = strcspn(text, " ");
        unsigned width = bz_columns_of(bz_str_of(text, n), true);

        if (!fresh && column + 1 + width > out->width) {
            bz_out_print(out, "\n%*s", (int)indent, "");
            column = indent;
            fresh = true;
        }
        if (!fresh)
            bz_out_put(out, " ", 1);
        bz_out_plain(out, text, n);
        column += width + !fresh;
        fresh = false;
        text += n;
    }
    bz_out_put(out, "\n", 1);
}

void bz_out_row(struct bz_out *out, unsigned used, unsigned split, const char *text)
{
    bool below = split + ROOM_LEAST > out->width;
    unsigned indent = below ? BELOW : split;

    if (used > 0 && (below || used + GAP > split)) {
        bz_out_print(out, "\n");
        used = 0;
    }
    bz_out_print(out, "%*s", (int)(indent - used), "");
    bz_out_wrap(out, indent, indent, text);
}

int bz_out_close(struct bz_out *out, const char *name, struct bz_err *err)
{
    bz_out_flush(out);
    bz_buf_release(&out->buf);
    /* A network filesystem may report a full disk only here. */
    if (close(out->fd) != 0 && !out->failed && errno != EINTR)
        out->failed = errno;
    out->fd = -1;
    if (!out->failed)
        return 0;
    errno = out->failed;
    return bz_fail_sys(err, "write to %s", name);
}
