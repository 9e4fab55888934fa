#include "report/console.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "os/clock.h"

#define RATE_PERIOD BZ_CLOCK_S /* that a rate is the mean of, at least */
#define EXTRA_MAX 200

static struct bz_console_task *find(const struct bz_console *c, uint32_t task)
{
    for (size_t i = 0; i < c->running.len; i++)
        if (c->running.at[i].task == task)
            return &c->running.at[i];
    return NULL;
}

static void start(struct bz_console *c, const struct bz_event *e)
{
    struct bz_console_task t = {.task = e->task,
                                .began = e->at,
                                .expect = e->expect,
                                .ahead = e->ahead,
                                .log =
                                    e->log ? bz_mem_dup(e->log, strlen(e->log)) : NULL};

    BZ_VEC_PUSH(&c->running, t);
}

/* The order of the others stays. */
static void end(struct bz_console *c, uint32_t task)
{
    struct bz_console_task *t = find(c, task);

    if (!t)
        return;
    free(t->log);
    c->running.len--;
    memmove(t, t + 1, (size_t)(&c->running.at[c->running.len] - t) * sizeof(*t));
    if (c->pane == BZ_CONSOLE_LOG && c->followed == task) {
        if (c->running.len > 0)
            c->followed = c->running.at[0].task;
        else
            c->pane = BZ_CONSOLE_TASKS;
    }
}

static void progress(struct bz_console *c, const struct bz_event *e)
{
    struct bz_console_task *t = find(c, e->task);
    bool fresh;

    if (!t)
        return;
    fresh = t->what[0] == '\0' || e->bytes < t->mark ||
            strncmp(t->what, e->what, sizeof(t->what) - 1) != 0;
    snprintf(t->what, sizeof(t->what), "%s", e->what);
    t->bytes = e->bytes;
    t->total = e->total;
    if (fresh) {
        t->mark = e->bytes;
        t->mark_at = e->at;
        t->rate = 0;
    } else if (e->at - t->mark_at >= RATE_PERIOD) {
        t->rate = (uint64_t)((double)(e->bytes - t->mark) * (double)BZ_CLOCK_S /
                             (double)(e->at - t->mark_at));
        t->mark = e->bytes;
        t->mark_at = e->at;
    }
}

void bz_console_hear(struct bz_console *c, const struct bz_event *e)
{
    c->now = e->at;
    c->counts = e->counts;
    c->work = e->work;
    switch (e->kind) {
    case BZ_EVENT_STARTED:
        start(c, e);
        break;
    case BZ_EVENT_CACHED:
        c->heard = e->at;
        break;
    case BZ_EVENT_DONE:
    case BZ_EVENT_FAILED:
        c->heard = e->at;
        end(c, e->task);
        break;
    case BZ_EVENT_PROGRESS:
        progress(c, e);
        break;
    case BZ_EVENT_TICK:
        c->slots_used = e->slots_used;
        c->slots = e->slots;
        break;
    case BZ_EVENT_PLANNED: /* perhaps anew, and then nothing runs */
        c->planned = true;
        while (c->running.len > 0)
            end(c, c->running.at[0].task);
        break;
    default:
        break;
    }
}

static void follow(struct bz_console *c)
{
    size_t next = 0;

    if (c->running.len == 0)
        return;
    for (size_t i = 0; c->pane == BZ_CONSOLE_LOG && i < c->running.len; i++)
        if (c->running.at[i].task == c->followed)
            next = (i + 1) % c->running.len;
    c->pane = BZ_CONSOLE_LOG;
    c->followed = c->running.at[next].task;
}

void bz_console_key(struct bz_console *c, char key)
{
    switch (key) {
    case '+':
        c->extra += c->extra < EXTRA_MAX;
        break;
    case '-':
        c->extra -= c->extra > 1 - BZ_CONSOLE_LINES;
        break;
    case '?':
        c->pane = c->pane == BZ_CONSOLE_HELP ? BZ_CONSOLE_TASKS : BZ_CONSOLE_HELP;
        break;
    case 'l':
        follow(c);
        break;
    case 'p':
        c->hold = !c->hold && !c->far;
        break;
    case 'q':
        c->pane = BZ_CONSOLE_TASKS;
        break;
    default:
        break;
    }
}

void bz_console_release(struct bz_console *c)
{
    for (size_t i = 0; i < c->running.len; i++)
        free(c->running.at[i].log);
    bz_vec_release(&c->running);
}

const char *bz_console_log(const struct bz_console *c)
{
    const struct bz_console_task *t =
        c->pane == BZ_CONSOLE_LOG ? find(c, c->followed) : NULL;

    return t ? t->log : NULL;
}

int64_t bz_console_left(const struct bz_console *c)
{
    int64_t work = c->work, path = 0;

    if (work < 0)
        return -1;
    for (size_t i = 0; i < c->running.len; i++) {
        const struct bz_console_task *t = &c->running.at[i];
        int64_t ran = c->now - t->began < t->expect ? c->now - t->began : t->expect;

        work -= ran;
        if (t->ahead - ran > path)
            path = t->ahead - ran;
    }
    if (c->jobs > 0)
        work /= c->jobs;
    return work > path ? work : path;
}

bool bz_console_beat(struct bz_console *c)
{
    if (c->beat <= 0 || c->now - c->heard < c->beat)
        return false;
    c->heard = c->now;
    return true;
}

unsigned bz_console_room(const struct bz_console *c, unsigned height)
{
    unsigned lines = (unsigned)(BZ_CONSOLE_LINES + c->extra);

    if (height < 3) /* a line of numbers, and one that is free */
        return 0;
    return lines < height - 2 ? lines : height - 2;
}
