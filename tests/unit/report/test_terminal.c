#include "report/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tests/unit/bz_test.h"

#define BEGIN "\033[?2026h"
#define CUT "\033[?7l"
#define END "\033[J\r\033[?7h\033[?2026l"
#define END_OF_2 "\033[J\r\033[1A\033[?7h\033[?2026l"
#define CLEAR "\r \033[J\r\033[K"

struct desk {
    int ours, theirs;
    struct bz_terminal t;
    struct bz_err err;
    char seen[1000];
};

static int setup(void **state)
{
    struct desk *d = calloc(1, sizeof(*d));
    struct termios modes;

    d->ours = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (d->ours < 0 || grantpt(d->ours) < 0 || unlockpt(d->ours) < 0)
        return -1;
    d->theirs = open(ptsname(d->ours), O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (ioctl(d->theirs, TIOCSWINSZ, &(struct winsize){.ws_row = 10, .ws_col = 50}) < 0)
        return -1;
    if (tcgetattr(d->theirs, &modes) < 0)
        return -1;
    modes.c_oflag &= ~(tcflag_t)OPOST; /* to see what was written */
    if (tcsetattr(d->theirs, TCSANOW, &modes) < 0)
        return -1;
    *state = d;
    return bz_terminal_open(&d->t, d->theirs, d->theirs, &d->err);
}

static int teardown(void **state)
{
    struct desk *d = *state;

    bz_terminal_close(&d->t);
    close(d->theirs);
    close(d->ours);
    free(d);
    return 0;
}

/* What is written is this, and then nothing; a terminal hands it on in its own time. */
static void expect_written(struct desk *d, const char *want)
{
    struct pollfd p = {.fd = d->ours, .events = POLLIN};
    size_t n = 0, more = strlen(want);

    while (n < sizeof(d->seen) - 1 && poll(&p, 1, n < more ? 5000 : 20) == 1) {
        ssize_t got = read(d->ours, d->seen + n, sizeof(d->seen) - 1 - n);

        if (got <= 0)
            break;
        n += (size_t)got;
    }
    d->seen[n] = '\0';
    assert_string_equal(d->seen, want);
}

#define FIRST "\033[?25l" BEGIN CUT /* the beginning of a first frame */

static bool is_raw(const struct desk *d)
{
    struct termios now;

    assert_int_equal(tcgetattr(d->theirs, &now), 0);
    return !(now.c_lflag & (ICANON | ECHO));
}

static void a_frame_is_written_over_the_last_one(void **state)
{
    struct desk *d = *state;

    assert_int_equal(d->t.width, 50);
    assert_int_equal(d->t.height, 10);
    bz_terminal_draw(&d->t, BZ_STR(""), BZ_STR("one\ntwo"));
    expect_written(d, "\033[?25l" BEGIN CUT "one\033[K\r\ntwo\033[K" END_OF_2);
    assert_true(is_raw(d));
    bz_terminal_draw(&d->t, BZ_STR(""), BZ_STR("one\ntwo"));
    expect_written(d, "");
    bz_terminal_draw(&d->t, BZ_STR("above\n"), BZ_STR("three"));
    expect_written(d, BEGIN CLEAR "above\n" CUT "three\033[K" END);
    bz_terminal_draw(&d->t, BZ_STR(""), BZ_STR("four"));
    expect_written(d, BEGIN CUT "four\033[K" END);
    bz_terminal_clear(&d->t);
    expect_written(d, CLEAR "\033[?25h");
    assert_false(is_raw(d));
    bz_terminal_clear(&d->t);
    expect_written(d, "");
}

static void a_terminal_on_which_nothing_was_drawn_is_left_alone(void **state)
{
    struct desk *d = *state;

    assert_int_equal(bz_terminal_poll(&d->t), '\0');
    bz_terminal_close(&d->t);
    expect_written(d, "");
    assert_false(is_raw(d));
}

static void keys_come_one_by_one(void **state)
{
    struct desk *d = *state;

    bz_terminal_draw(&d->t, BZ_STR(""), BZ_STR("x"));
    assert_int_equal(write(d->ours, "l+", 2), 2);
    assert_int_equal(bz_terminal_poll(&d->t), 'l');
    assert_int_equal(bz_terminal_poll(&d->t), '+');
    assert_int_equal(bz_terminal_poll(&d->t), '\0');
}

static void keys_are_not_waited_for_if_another_program_wants_lines(void **state)
{
    struct desk *d = *state;
    struct termios before;

    assert_int_equal(tcgetattr(d->theirs, &before), 0);
    bz_terminal_draw(&d->t, BZ_STR(""), BZ_STR("x"));
    assert_int_equal(tcsetattr(d->theirs, TCSANOW, &before), 0);
    assert_int_equal(bz_terminal_poll(&d->t), '\0');
    assert_int_equal(write(d->ours, "l", 1), 1); /* a line that has no end yet */
    assert_int_equal(bz_terminal_poll(&d->t), '\0');
}

static void a_new_size_is_noticed_and_drawn_for(void **state)
{
    struct desk *d = *state;

    bz_terminal_draw(&d->t, BZ_STR(""), BZ_STR("x"));
    expect_written(d, FIRST "x\033[K" END);
    assert_int_equal(ioctl(d->theirs, TIOCSWINSZ, &(struct winsize){.ws_col = 70}), 0);
    raise(SIGWINCH);
    assert_int_equal(bz_terminal_poll(&d->t), '\0');
    assert_int_equal(d->t.width, 70);
    assert_true(d->t.height > 0);
    bz_terminal_draw(&d->t, BZ_STR(""), BZ_STR("x"));
    expect_written(d, BEGIN CUT "x\033[K" END);
}

static void after_a_stop_it_begins_below(void **state)
{
    struct desk *d = *state;

    bz_terminal_draw(&d->t, BZ_STR(""), BZ_STR("x\ny"));
    expect_written(d, FIRST "x\033[K\r\ny\033[K" END_OF_2);
    raise(SIGCONT);
    assert_int_equal(bz_terminal_poll(&d->t), '\0');
    bz_terminal_draw(&d->t, BZ_STR(""), BZ_STR("x\ny"));
    expect_written(d,
                   "\033[J\033[?25h\033[?25l" BEGIN CUT "x\033[K\r\ny\033[K" END_OF_2);
}

static void a_terminal_that_stands_still_is_not_waited_for(void **state)
{
    struct desk *d = *state;
    BZ_CLEANUP(bz_buf_release) struct bz_buf seen = {0};
    struct pollfd p = {.fd = d->ours, .events = POLLIN};
    char part[4096];

    for (int i = 0; i < 20000; i++) { /* more than it holds */
        char line[16], frame[16];

        snprintf(line, sizeof(line), "line %d\n", i);
        snprintf(frame, sizeof(frame), "frame %d", i);
        bz_terminal_draw(&d->t, bz_str_from(line), bz_str_from(frame));
    }
    while (!bz_str_ends(bz_buf_str(&seen), BZ_STR("the last\033[K" END))) {
        ssize_t n = poll(&p, 1, 5000) == 1 ? read(d->ours, part, sizeof(part)) : -1;

        assert_true(n > 0);
        bz_buf_add(&seen, part, (size_t)n);
        bz_terminal_draw(&d->t, BZ_STR(""), BZ_STR("the last"));
    }
    for (int i = 0, at = 0; i < 20000; i++) {
        struct bz_str left = bz_str_drop(bz_buf_str(&seen), (size_t)at);
        char line[16];
        size_t found;

        snprintf(line, sizeof(line), "line %d\n", i);
        found = bz_str_find(left, bz_str_from(line));
        assert_true(found != BZ_STR_NONE);
        at += (int)found;
    }
}

static volatile sig_atomic_t heard;

static void hear(int number)
{
    heard = number;
}

static void what_ends_the_process_puts_it_back_and_goes_on_as_before(void **state)
{
    static const int signals[] = {
        SIGHUP,  SIGQUIT,   SIGILL,  SIGTRAP, SIGABRT, SIGBUS,    SIGFPE,
        SIGUSR1, SIGSEGV,   SIGUSR2, SIGALRM, SIGXCPU, SIGVTALRM, SIGXFSZ,
        SIGPROF, SIGSTKFLT, SIGPOLL, SIGPWR,  SIGSYS,
    };
    struct desk *d = *state;

    for (size_t i = 0; i < BZ_COUNTOF(signals); i++) {
        heard = 0;
        (void)signal(signals[i], hear); /* instead of an end */
        bz_terminal_draw(&d->t, BZ_STR(""), BZ_STR("x"));
        expect_written(d, FIRST "x\033[K" END);
        assert_true(is_raw(d));
        raise(signals[i]);
        assert_int_equal(heard, signals[i]);
        assert_false(is_raw(d));
        expect_written(d, "\033[?7h\033[?2026l\r\033[J\033[?25h");
        bz_terminal_clear(&d->t);
        expect_written(d, CLEAR "\033[?25h");
        (void)signal(signals[i], SIG_DFL);
    }
}

static void what_is_ignored_stays_so(void **state)
{
    struct desk *d = *state;

    (void)signal(SIGHUP, SIG_IGN);
    bz_terminal_draw(&d->t, BZ_STR(""), BZ_STR("x"));
    raise(SIGHUP);
    assert_true(is_raw(d));
    bz_terminal_clear(&d->t);
    (void)signal(SIGHUP, SIG_DFL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(a_frame_is_written_over_the_last_one),
        TEST(a_terminal_on_which_nothing_was_drawn_is_left_alone),
        TEST(keys_come_one_by_one),
        TEST(keys_are_not_waited_for_if_another_program_wants_lines),
        TEST(a_new_size_is_noticed_and_drawn_for),
        TEST(after_a_stop_it_begins_below),
        TEST(a_terminal_that_stands_still_is_not_waited_for),
        TEST(what_ends_the_process_puts_it_back_and_goes_on_as_before),
        TEST(what_is_ignored_stays_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
