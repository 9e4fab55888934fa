/* build_screen.h - where what `build` tells goes: on a terminal, above a few lines that
 * show what runs; elsewhere, line by line, and a line now and then while nothing ends.
 *
 * Lines are collected and written together, at most ten times in a second.
 */
#ifndef BZ_CMD_BUILD_SCREEN_H
#define BZ_CMD_BUILD_SCREEN_H

#include "base/log.h"
#include "base/sync.h"
#include "out.h"
#include "report/console.h"
#include "report/terminal.h"

/* How often time has to be told of, for struct bz_exec_opts. */
#define BZ_BUILD_SCREEN_TICK (100 * INT64_C(1000000))

/* The values of --console, in the order of its choices. */
enum bz_build_screen_how {
    BZ_BUILD_SCREEN_AUTO, /* live on a terminal, unless CI or TERM=dumb is set */
    BZ_BUILD_SCREEN_LIVE,
    BZ_BUILD_SCREEN_PLAIN,
};

struct bz_build_screen {
    struct bz_out *log; /* to be set before; what is to be told is printed to it */
    int64_t beat;       /* likewise: ns of silence after which a line tells what is
                           done; 0: none does */
    bool brief;         /* likewise: no lines for what is stored */
    bool live;          /* to be read only, as the console is */
    struct bz_console console;
    /* From here on this file's own. */
    struct bz_terminal terminal;
    struct bz_buf lines, tail;
    int64_t shown;    /* when something was written last */
    int64_t measured; /* when memory was looked at */
    bool begun;
    struct bz_log_sink sink;
    const struct bz_log_sink *sink_before;
    struct bz_sync_mutex mutex;
    /* Under the mutex: */
    struct bz_buf logged; /* by any thread */
    bool open;
};

/* Before there are other threads. Close it in any case. */
int bz_build_screen_open(struct bz_build_screen *s, enum bz_build_screen_how how,
                         struct bz_err *err) BZ_MUST_CHECK;
/* The lines are taken away, and all that was to be told is told. */
void bz_build_screen_close(struct bz_build_screen *s);

/* From here on events come. */
void bz_build_screen_begin(struct bz_build_screen *s, const struct bz_str *names,
                           unsigned jobs);

/* Shows what happened, and what was printed to the log, if it is time to. */
void bz_build_screen_hear(struct bz_build_screen *s, const struct bz_event *e);

/* Shows it now. */
void bz_build_screen_show(struct bz_build_screen *s);

#endif
