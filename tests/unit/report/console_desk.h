/* console_desk.h - a console that is told of tasks. */
#ifndef BZ_TEST_REPORT_CONSOLE_DESK_H
#define BZ_TEST_REPORT_CONSOLE_DESK_H

#include "os/clock.h"
#include "report/console.h"
#include "tests/unit/bz_test.h"

enum { DESK_TASKS = 12 };

static const struct bz_str desk_names[DESK_TASKS] = {
    {"linux:do_fetch",            14},
    {"busybox:do_compile",        18},
    {"b:do_c",                    6 },
    {"d:do_e",                    6 },
    {"very-long-name:do_package", 25},
    {"f:do_f",                    6 },
    {"g:do_f",                    6 },
    {"h:do_f",                    6 },
    {"i:do_f",                    6 },
    {"j:do_f",                    6 },
    {"k:do_f",                    6 },
    {"l:do_f",                    6 },
};

static inline struct bz_console desk(void)
{
    return (struct bz_console){.names = desk_names, .jobs = 2, .memory = -1};
}

/* At that second; there are 20 tasks. */
static inline void desk_tell(struct bz_console *c, int second, struct bz_event e)
{
    e.at = second * BZ_CLOCK_S;
    if (e.counts.tasks == 0)
        e.counts.tasks = 20;
    bz_console_hear(c, &e);
}

static inline void desk_start(struct bz_console *c, int second, uint32_t task)
{
    desk_tell(c, second, (struct bz_event){.kind = BZ_EVENT_STARTED, .task = task});
}

#endif
