#include "report/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/fs.h"

#define WIDTH_DEFAULT 80
#define HEIGHT_DEFAULT 24
#define SIZE_MAX_CELLS 1000 /* in a direction: more is nonsense */
#define HELD_MAX (1 << 20)  /* bytes to keep for a terminal that stands still */

#define HIDE_CURSOR "\033[?25l"
#define SHOW_CURSOR "\033[?25h"
/* Terminals that know these draw the frame at once; others ignore them. */
#define BEGIN_FRAME "\033[?2026h"
/* A line that is too long, since the terminal has just become narrower, is cut. */
#define CUT_LINES "\033[?7l"
#define END_FRAME "\033[?7h\033[?2026l"
#define CLEAR_BELOW "\033[J"
#define CLEAR_REST "\033[K"
/* From the beginning of a line on. A multiplexer that is told to clear all of a screen
 * keeps what was there as history: the blank makes it less than all. */
#define CLEAR_ALL "\r " CLEAR_BELOW "\r" CLEAR_REST
/* To leave it in a hurry, wherever the cursor is. */
#define LEAVE END_FRAME "\r" CLEAR_BELOW SHOW_CURSOR

/* All that end a process, but for those that are taken otherwise (SIGINT, SIGTERM) or
 * not at all (SIGPIPE). */
static const int crashes[] = {
    SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,  SIGABRT,   SIGQUIT, SIGHUP,
    SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU, SIGXFSZ,   SIGPROF, SIGVTALRM,
    SIGTRAP, SIGSYS,  SIGPOLL, SIGPWR,  SIGSTKFLT,
};

/* What the handler has to know, which gets no argument. */
static struct {
    volatile sig_atomic_t armed; /* the rest is valid */
    int fd, in;
    bool keys;
    struct termios before;
    struct sigaction old[BZ_COUNTOF(crashes)];
} crash;

static void restore_handlers(void)
{
    for (size_t i = 0; i < BZ_COUNTOF(crashes); i++)
        sigaction(crashes[i], &crash.old[i], NULL);
}

/* Comes again when its handler returns, at the instruction that is at fault. */
static bool is_fault(int signal, const siginfo_t *info)
{
    return info->si_code > 0 && (signal == SIGSEGV || signal == SIGBUS ||
                                 signal == SIGFPE || signal == SIGILL);
}

/* Puts the terminal back, and lets happen what would have without us. */
static void on_crash(int signal, siginfo_t *info, void *context)
{
    int saved = errno;

    (void)context;
    if (crash.armed) {
        crash.armed = 0;
        (void)!write(crash.fd, LEAVE, sizeof(LEAVE) - 1);
        if (crash.keys)
            tcsetattr(crash.in, TCSANOW, &crash.before);
    }
    restore_handlers();
    errno = saved;
    if (!is_fault(signal, info))
        raise(signal);
}

static void arm(const struct bz_terminal *t)
{
    struct sigaction act = {.sa_sigaction = on_crash,
                            .sa_flags = SA_NODEFER | SA_SIGINFO};

    crash.fd = t->screen;
    crash.in = t->in;
    crash.keys = t->keys;
    crash.before = t->before;
    sigemptyset(&act.sa_mask);
    for (size_t i = 0; i < BZ_COUNTOF(crashes); i++) {
        sigaction(crashes[i], NULL, &crash.old[i]);
        /* Whoever ignores hangups is meant to survive them. */
        if (crash.old[i].sa_handler != SIG_IGN)
            sigaction(crashes[i], &act, NULL);
    }
    crash.armed = 1;
}

static void disarm(void)
{
    crash.armed = 0;
    restore_handlers();
}

static unsigned size_of(const char *variable, unsigned real, unsigned otherwise)
{
    const char *set = getenv(variable);
    unsigned long n = real ? real : (set ? strtoul(set, NULL, 10) : 0);

    if (n == 0 || n > SIZE_MAX_CELLS)
        n = n ? SIZE_MAX_CELLS : otherwise;
    return (unsigned)n;
}

static void measure(struct bz_terminal *t)
{
    struct winsize ws = {0};

    if (ioctl(t->fd, TIOCGWINSZ, &ws) < 0)
        ws = (struct winsize){0};
    t->width = size_of("COLUMNS", ws.ws_col, WIDTH_DEFAULT);
    t->height = size_of("LINES", ws.ws_row, HEIGHT_DEFAULT);
}

bool bz_terminal_is_ours(int fd)
{
    pid_t group = tcgetpgrp(fd);

    return group < 0 || group == getpgrp();
}

/* The same terminal, opened for us alone: that it never blocks is nobody else's matter.
 * The first name can be opened by those, too, whom the second does not belong to. */
static int open_again(int fd)
{
    char path[32];

    if (tcgetpgrp(fd) >= 0)
        return open("/dev/tty", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return open(path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
}

/* Keys one by one and unseen; signals of keys and the ends of lines stay. */
static void take_keys(struct bz_terminal *t)
{
    struct termios raw;

    if (t->in < 0 || tcgetattr(t->in, &t->before) < 0)
        return;
    raw = t->before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = raw.c_cc[VTIME] = 0;
    t->keys = tcsetattr(t->in, TCSANOW, &raw) == 0;
}

/* As much as the terminal takes now, or all. */
static void write_out(struct bz_terminal *t, bool all)
{
    size_t done = 0;

    while (done < t->frame.len) {
        ssize_t n = write(t->screen, t->frame.data + done, t->frame.len - done);
        struct pollfd p = {.fd = t->screen, .events = POLLOUT};

        if (n >= 0)
            done += (size_t)n;
        else if (errno == EAGAIN && !all)
            break;
        else if (errno == EAGAIN)
            (void)poll(&p, 1, -1);
        else if (errno != EINTR)
            done = t->frame.len; /* nobody is there to be told */
    }
    if (done > 0)
        memmove(t->frame.data, t->frame.data + done, t->frame.len - done);
    bz_buf_truncate(&t->frame, t->frame.len - done);
}

static void add_above(struct bz_terminal *t)
{
    bz_buf_add_str(&t->frame, bz_buf_str(&t->above));
    bz_buf_truncate(&t->above, 0);
}

static void show(struct bz_terminal *t)
{
    if (t->shown)
        return;
    take_keys(t);
    arm(t);
    t->shown = true;
    bz_buf_add_str(&t->frame, BZ_STR(HIDE_CURSOR));
}

static void leave(struct bz_terminal *t, struct bz_str clear)
{
    if (t->shown)
        bz_buf_add_str(&t->frame, clear);
    add_above(t);
    if (t->shown)
        bz_buf_add_str(&t->frame, BZ_STR(SHOW_CURSOR));
    write_out(t, true);
    if (t->shown) {
        /* In the background it would suspend us, and whoever has it sets it anyway. */
        if (t->keys && bz_terminal_is_ours(t->in))
            tcsetattr(t->in, TCSANOW, &t->before);
        t->keys = t->shown = false;
        disarm();
    }
    bz_buf_truncate(&t->last, 0);
}

void bz_terminal_clear(struct bz_terminal *t)
{
    leave(t, BZ_STR(CLEAR_ALL));
}

int bz_terminal_open(struct bz_terminal *t, int fd, int in, struct bz_err *err)
{
    static const int signals[] = {SIGWINCH, SIGTSTP, SIGCONT};

    *t = (struct bz_terminal){.fd = fd, .in = in, .keyboard = -1};
    t->screen = isatty(fd) ? open_again(fd) : -1;
    if (t->screen < 0)
        t->screen = fd;
    if (in >= 0)
        t->keyboard = open_again(in);
    if (t->keyboard < 0)
        t->in = -1;
    t->background = !bz_terminal_is_ours(fd);
    measure(t);
    return bz_signal_open(&t->sig, signals, BZ_COUNTOF(signals), err);
}

void bz_terminal_close(struct bz_terminal *t)
{
    bz_terminal_clear(t);
    bz_signal_close(&t->sig);
    bz_fs_closep(&t->keyboard);
    t->keyboard = -1;
    if (t->screen != t->fd)
        bz_fs_closep(&t->screen);
    t->screen = t->fd;
    bz_buf_release(&t->above);
    bz_buf_release(&t->last);
    bz_buf_release(&t->frame);
}

static void take_signal(struct bz_terminal *t, int signal)
{
    if (signal == SIGTSTP) {
        bz_terminal_clear(t);
        raise(SIGSTOP);
    }
    /* Perhaps after a stop that could not be seen coming: what is before the cursor
     * need not be ours. */
    if (signal == SIGCONT)
        leave(t, BZ_STR(CLEAR_BELOW));
    t->background = !bz_terminal_is_ours(t->fd);
    measure(t);
    bz_buf_truncate(&t->last, 0); /* draw anew in any case */
}

char bz_terminal_poll(struct bz_terminal *t)
{
    struct bz_err ignored;
    char key;
    int signal;

    while (t->sig.open &&
           bz_signal_next(&t->sig, bz_clock_in(0), &signal, &ignored) == 0)
        take_signal(t, signal);
    /* Another program may have set it back to whole lines, for which a read waits. */
    if (t->keys && !t->background && read(t->keyboard, &key, 1) == 1)
        return key;
    return '\0';
}

void bz_terminal_draw(struct bz_terminal *t, struct bz_str above, struct bz_str lines)
{
    struct bz_str line, rest = lines;
    unsigned rows = 0;
    bool fresh;

    bz_buf_add_str(&t->above, above);
    if (t->background)
        add_above(t);
    write_out(t, t->above.len + t->frame.len > HELD_MAX);
    if (t->background || t->frame.len > 0 ||
        (t->above.len == 0 && bz_str_eq(lines, bz_buf_str(&t->last))))
        return;
    fresh = !t->shown;
    show(t);
    bz_buf_add_str(&t->frame, BZ_STR(BEGIN_FRAME));
    if (t->above.len > 0 && !fresh)
        bz_buf_add_str(&t->frame, BZ_STR(CLEAR_ALL));
    add_above(t);
    bz_buf_add_str(&t->frame, BZ_STR(CUT_LINES));
    while (bz_str_next_part(&rest, '\n', &line)) {
        bz_buf_add_str(&t->frame, rows++ > 0 ? BZ_STR("\r\n") : BZ_STR(""));
        bz_buf_add_str(&t->frame, line);
        bz_buf_add_str(&t->frame, BZ_STR(CLEAR_REST));
    }
    bz_buf_add_str(&t->frame, BZ_STR(CLEAR_BELOW "\r"));
    if (rows > 1)
        bz_buf_addf(&t->frame, "\033[%uA", rows - 1);
    bz_buf_add_str(&t->frame, BZ_STR(END_FRAME));
    write_out(t, false);
    bz_buf_truncate(&t->last, 0);
    bz_buf_add_str(&t->last, lines);
}
