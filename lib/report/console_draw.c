#include "report/console_draw.h"

#include <inttypes.h>
#include <stdio.h>

#include "exec/admission.h"
#include "os/clock.h"
#include "report/columns.h"
#include "report/pen.h"

#define MEMORY_HIGH 90 /* percent */
#define LOG_KEYS "  (l: next, q: back)"
#define TIME_LEFT 13 /* columns of ", 59m59s left" */

static const char *const help[] = {
    "?  this, and back",
    "l  the log of a task; again: of the next",
    "p  start no task; again: go on",
    "+  more lines for tasks",
    "-  fewer",
    "q  back from help or a log",
    "Ctrl-C  end the tasks that run; again: kill them",
};

/* A line more. */
static struct bz_pen begin(const struct bz_console *c, unsigned width,
                           struct bz_buf *out, size_t from)
{
    if (out->len > from)
        bz_buf_add_char(out, '\n');
    return (struct bz_pen){out, width > 1 ? width - 1 : 1, c->color, c->utf8};
}

static void draw_download(const struct bz_console_task *t, struct bz_pen *pen)
{
    char bytes[BZ_PEN_SHORT], rate[BZ_PEN_SHORT];
    const char *file = strrchr(t->what, '/');

    file = file && file[1] ? file + 1 : t->what;
    if (t->total > 0)
        bz_pen_print(pen, BZ_PEN_PLAIN, " %3u%% of %s",
                     (unsigned)((double)t->bytes * 100 / (double)t->total),
                     bz_pen_bytes(bytes, t->total));
    else
        bz_pen_print(pen, BZ_PEN_PLAIN, " %s", bz_pen_bytes(bytes, t->bytes));
    if (t->rate > 0)
        bz_pen_print(pen, BZ_PEN_PLAIN, ", %s/s", bz_pen_bytes(rate, t->rate));
    bz_pen_print(pen, BZ_PEN_PLAIN, " %s", file);
}

static void draw_task(const struct bz_console *c, const struct bz_console_task *t,
                      struct bz_pen *pen)
{
    char since[BZ_PEN_SHORT];
    unsigned room;

    bz_pen_print(pen, BZ_PEN_PLAIN, "%7s ", bz_pen_duration(since, c->now - t->began));
    /* A download leaves half of the line to its numbers. */
    room = t->what[0] ? pen->left / 2 : pen->left;
    bz_pen_put_name(pen, BZ_PEN_PLAIN, c->names[t->task], room);
    if (t->what[0])
        draw_download(t, pen);
}

static void draw_tasks(const struct bz_console *c, unsigned width, unsigned room,
                       struct bz_buf *out, size_t from)
{
    size_t n = c->running.len;

    if (n > room)
        n = room > 0 ? room - 1 : 0;
    for (size_t i = 0; i < n; i++) {
        struct bz_pen pen = begin(c, width, out, from);

        draw_task(c, &c->running.at[i], &pen);
    }
    if (n < c->running.len && room > 0) {
        struct bz_pen pen = begin(c, width, out, from);

        bz_pen_print(&pen, BZ_PEN_PLAIN, "        and %zu more", c->running.len - n);
    }
}

static void draw_log(const struct bz_console *c, unsigned width, unsigned room,
                     struct bz_buf *out, size_t from)
{
    struct bz_str rest = c->tail, line;
    struct bz_pen pen;
    unsigned lines = 0;

    if (room == 0)
        return;
    pen = begin(c, width, out, from);
    bz_pen_put(&pen, BZ_PEN_BOLD, BZ_STR("log of "));
    bz_pen_put_name(&pen, BZ_PEN_BOLD, c->names[c->followed], pen.left);
    if (pen.left >= strlen(LOG_KEYS))
        bz_pen_put(&pen, BZ_PEN_PLAIN, BZ_STR(LOG_KEYS));
    if (rest.n == 0 && lines + 1 < room) {
        pen = begin(c, width, out, from);
        bz_pen_put(&pen, BZ_PEN_PLAIN, BZ_STR("| (it has printed nothing yet)"));
    }
    while (++lines < room && rest.n > 0 && bz_str_next_part(&rest, '\n', &line)) {
        pen = begin(c, width, out, from);
        bz_pen_put(&pen, BZ_PEN_PLAIN, BZ_STR("| "));
        bz_pen_put_ends(&pen, BZ_PEN_PLAIN, line);
    }
}

static void draw_help(const struct bz_console *c, unsigned width, unsigned room,
                      struct bz_buf *out, size_t from)
{
    for (size_t i = 0; i < BZ_COUNTOF(help) && i < room; i++) {
        struct bz_pen pen = begin(c, width, out, from);

        bz_pen_put(&pen, BZ_PEN_PLAIN, bz_str_from(help[i]));
    }
}

/* Adds a part of the line of numbers, unless there is no room for all of it. */
static void add_part(struct bz_pen *pen, bool *first, enum bz_pen_ink ink,
                     const char *fmt, ...) BZ_PRINTF(4, 5);

static void add_part(struct bz_pen *pen, bool *first, enum bz_pen_ink ink,
                     const char *fmt, ...)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    struct bz_str separator = *first ? BZ_STR(" ") : BZ_STR(", ");
    va_list ap;

    va_start(ap, fmt);
    bz_buf_addv(&text, fmt, ap);
    va_end(ap);
    if (separator.n + text.len > pen->left)
        return;
    bz_pen_put(pen, BZ_PEN_PLAIN, separator);
    bz_pen_put(pen, ink, bz_buf_str(&text));
    *first = false;
}

/* How many there are, after those that are done. It leaves room for how long it takes,
 * which tells more. */
static void add_of(struct bz_pen *pen, uint32_t all, bool timed)
{
    char text[32];
    int n = snprintf(text, sizeof(text), " of %u", all);

    if ((unsigned)n + (timed ? TIME_LEFT : 0) <= pen->left)
        bz_pen_put(pen, BZ_PEN_PLAIN, bz_str_of(text, (size_t)n));
}

static uint64_t count_done(const struct bz_event_counts *n)
{
    return (uint64_t)n->cached + n->executed + n->failed + n->noexec + n->blocked;
}

static unsigned percent(const struct bz_event_counts *n)
{
    uint64_t all = n->tasks - n->unneeded;
    uint64_t done = count_done(n);

    if (all == 0 || done >= all)
        return 100;
    return (unsigned)(done * 100 / all);
}

static void draw_numbers(const struct bz_console *c, struct bz_pen *pen)
{
    const struct bz_event_counts *n = &c->counts;
    int64_t left = bz_console_left(c);
    char time[BZ_PEN_SHORT];
    bool first = true;

    bz_pen_print(pen, BZ_PEN_BOLD, "[%3u%%]", percent(n));
    if (c->hold)
        add_part(pen, &first, BZ_PEN_YELLOW, "held: p goes on");
    if (n->failed > 0)
        add_part(pen, &first, BZ_PEN_RED, "%u failed", n->failed);
    add_part(pen, &first, BZ_PEN_PLAIN, "%u executed", n->executed);
    add_part(pen, &first, BZ_PEN_PLAIN, "%u cached", n->cached);
    add_of(pen, n->tasks - n->unneeded, left >= 0);
    if (left >= 0)
        add_part(pen, &first, BZ_PEN_PLAIN, "%s left", bz_pen_duration(time, left));
    add_part(pen, &first, BZ_PEN_PLAIN, "%s", bz_pen_duration(time, c->now));
    if (c->slots > 0)
        add_part(pen, &first, BZ_PEN_PLAIN, "jobs %u/%u", c->slots_used, c->slots);
    if (c->memory >= 0)
        add_part(pen, &first, c->memory >= MEMORY_HIGH ? BZ_PEN_YELLOW : BZ_PEN_PLAIN,
                 "memory %d%%", c->memory);
    if (c->pressure > 0)
        add_part(pen, &first,
                 c->pressure >= BZ_ADMISSION_PRESSURE ? BZ_PEN_RED : BZ_PEN_YELLOW,
                 "stalls %u%%", c->pressure);
    if (c->keys)
        add_part(pen, &first, BZ_PEN_PLAIN, "? help");
}

void bz_console_draw(const struct bz_console *c, unsigned width, unsigned height,
                     struct bz_buf *out)
{
    unsigned room = bz_console_room(c, height);
    size_t from = out->len;
    struct bz_pen pen;

    if (c->pane == BZ_CONSOLE_HELP)
        draw_help(c, width, height > 2 ? height - 2 : 0, out, from);
    else if (c->pane == BZ_CONSOLE_LOG)
        draw_log(c, width, room, out, from);
    else
        draw_tasks(c, width, room, out, from);
    pen = begin(c, width, out, from);
    draw_numbers(c, &pen);
}

void bz_console_draw_once(const struct bz_console *c, struct bz_buf *out)
{
    enum { SHOWN = 3 };
    char time[BZ_PEN_SHORT];
    size_t n = c->running.len;
    int64_t left = bz_console_left(c);

    bz_buf_addf(out, "Still %s after %s, %" PRIu64 " of %u",
                n > 0        ? "running"
                : c->planned ? "waiting to run tasks"
                             : "looking for stored results",
                bz_pen_duration(time, c->now), count_done(&c->counts),
                c->counts.tasks - c->counts.unneeded);
    if (c->planned && left >= 0)
        bz_buf_addf(out, ", %s left", bz_pen_duration(time, left));
    if (n > 0)
        bz_buf_addf(out, ":");
    for (size_t i = 0; i < n && i < SHOWN; i++) {
        const struct bz_console_task *t = &c->running.at[i];

        bz_buf_add_str(out, i ? BZ_STR(", ") : BZ_STR(" "));
        bz_columns_add(out, c->names[t->task], UINT16_MAX, c->utf8);
        bz_buf_addf(out, " (%s)", bz_pen_duration(time, c->now - t->began));
    }
    if (n > SHOWN)
        bz_buf_addf(out, " and %zu more", n - SHOWN);
}
