/* terminal.h - lines that stay at the bottom of a terminal while others scroll above.
 *
 * A frame is one write over the last one. If nothing changed there is none. It leaves
 * the cursor where it begins: of a terminal that changes its size, whether or not it
 * breaks lines anew, that is the one place which is known afterwards. The cursor is
 * hidden, and keys come without being shown, from the first frame until the terminal is
 * closed, the process is suspended, or it crashes: then a handler puts all back, which
 * is why this file has a global.
 *
 * One terminal at a time, one thread.
 */
#ifndef BZ_REPORT_TERMINAL_H
#define BZ_REPORT_TERMINAL_H

#include <termios.h>

#include "base/buf.h"
#include "os/signal.h"

struct bz_terminal {
    int fd; /* to draw on */
    int in; /* for keys; -1: none */
    unsigned width, height;
    /* From here on this file's own. */
    struct bz_signal sig; /* of a size that changed, of suspending and continuing */
    int screen;           /* `fd`, to be written to without waiting, if it can be */
    int keyboard;         /* `in`, to be read without waiting; -1: none */
    struct termios before;
    bool keys;       /* `before` is to be put back */
    bool shown;      /* the cursor is hidden, and handlers are in place */
    bool background; /* another program has the terminal: nothing but text is written */
    struct bz_buf above; /* lines to stay, for the next frame */
    struct bz_buf last;  /* lines of the last frame */
    struct bz_buf frame; /* what is still to be written of it */
};

/* Call it before there are other threads, and bz_terminal_close() in any case. Nothing
 * is written yet. */
int bz_terminal_open(struct bz_terminal *t, int fd, int in,
                     struct bz_err *err) BZ_MUST_CHECK;
void bz_terminal_close(struct bz_terminal *t);

/* Looks at the signals that came, the size, and the next key; '\0' if there is none.
 * Suspends the process if that was asked for. */
char bz_terminal_poll(struct bz_terminal *t);

/* Whether a terminal is there for us: not that of a program in the background. */
bool bz_terminal_is_ours(int fd);

/* Writes `above`, whole lines to stay, and below it `lines`, without an end of the last
 * one, in place of those of the last frame. A terminal that is stopped (Ctrl-S) is not
 * waited for, but when more than a MiB is held back: frames are left out, lines to stay
 * come later. */
void bz_terminal_draw(struct bz_terminal *t, struct bz_str above, struct bz_str lines);

/* Takes the lines away; the next frame brings them back. */
void bz_terminal_clear(struct bz_terminal *t);

#endif
