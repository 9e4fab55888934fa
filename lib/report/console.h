/* console.h - a build as it is to be shown: what runs, and what is left to do.
 *
 * The state is made from events and keys, and what is shown from the state
 * (console_draw.h): nothing here reads or writes anything.
 *
 * Keys: ? help, + and - more or fewer lines, l the end of a task's log and once more
 * that of the next, p start nothing (and go on), q back.
 */
#ifndef BZ_REPORT_CONSOLE_H
#define BZ_REPORT_CONSOLE_H

#include "base/buf.h"
#include "base/vec.h"
#include "exec/event.h"

#define BZ_CONSOLE_LINES 8 /* for tasks, unless changed */

struct bz_console_task {
    uint32_t task;
    int64_t began;
    int64_t expect, ahead; /* as its event says */
    char *log;             /* or NULL */
    /* Of a download, if `what` is not empty: */
    char what[128];
    uint64_t bytes, total;
    uint64_t mark; /* bytes at `mark_at`, to find the rate from */
    int64_t mark_at;
    uint64_t rate; /* bytes in a second */
};

enum bz_console_pane { BZ_CONSOLE_TASKS, BZ_CONSOLE_LOG, BZ_CONSOLE_HELP };

struct bz_console {
    /* To be set before: */
    const struct bz_str *names; /* [tasks] */
    unsigned jobs;
    bool color, utf8;
    bool far;           /* what runs does so elsewhere: it cannot be held */
    bool keys;          /* there are any: help on them is offered */
    int64_t beat;       /* ns of silence to be told of; 0: none */
    int memory;         /* percent in use; below 0: not known. To be kept up to date. */
    unsigned pressure;  /* percent of time in which memory was waited for; likewise */
    struct bz_str tail; /* of the log that is followed; likewise */
    /* From here on this file's own, to be read only. */
    struct BZ_VEC(struct bz_console_task) running; /* the longest first */
    struct bz_event_counts counts;
    int64_t now;  /* ns since the executor began */
    int64_t work; /* as events say */
    unsigned slots_used, slots;
    enum bz_console_pane pane;
    uint32_t followed; /* a task, if the pane is its log's */
    int extra;         /* lines for tasks, besides BZ_CONSOLE_LINES */
    bool hold;         /* no task is to start */
    int64_t heard;     /* when a task ended, or bz_console_beat() said so */
    bool planned;      /* it is known what is to run */
};

void bz_console_hear(struct bz_console *c, const struct bz_event *e);
void bz_console_key(struct bz_console *c, char key);
void bz_console_release(struct bz_console *c);

/* The log to be shown, or NULL. */
const char *bz_console_log(const struct bz_console *c);

/* How long the build will still take, by what tasks took before; below 0: not known. */
int64_t bz_console_left(const struct bz_console *c);

/* Whether nothing was said for `beat`; true once for each. */
bool bz_console_beat(struct bz_console *c);

/* Lines there are for tasks, or for a log, on a screen of that height. */
unsigned bz_console_room(const struct bz_console *c, unsigned height);

#endif
