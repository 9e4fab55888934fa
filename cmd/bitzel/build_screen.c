#include "build_screen.h"

#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/memory.h"
#include "report/console_draw.h"
#include "report/logtail.h"
#include "report/memuse.h"

#define MEASURE_PERIOD BZ_CLOCK_S

static bool is_set(const char *variable)
{
    const char *text = getenv(variable);

    return text && text[0] != '\0' && strcmp(text, "0") != 0 &&
           strcasecmp(text, "false") != 0;
}

static bool can_be_live(int fd)
{
    const char *term = getenv("TERM");

    return isatty(fd) && term && term[0] != '\0' && strcmp(term, "dumb") != 0 &&
           !is_set("CI") && bz_terminal_is_ours(fd);
}

/* As the locale says that programs are to write. */
static bool is_utf8(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};

    for (size_t i = 0; i < BZ_COUNTOF(variables); i++) {
        const char *text = getenv(variables[i]);

        if (text && text[0] != '\0')
            return strcasestr(text, "utf-8") || strcasestr(text, "utf8");
    }
    return false;
}

/* Diagnostics must not land among the lines of the display. */
static void take_line(void *arg, enum bz_log_level level, const char *line, size_t n)
{
    struct bz_build_screen *s = arg;

    (void)level;
    bz_sync_lock(&s->mutex);
    if (s->open)
        bz_buf_add(&s->logged, line, n + 1);
    else
        (void)!write(STDERR_FILENO, line, n + 1);
    bz_sync_unlock(&s->mutex);
}

int bz_build_screen_open(struct bz_build_screen *s, enum bz_build_screen_how how,
                         struct bz_err *err)
{
    s->live = how == BZ_BUILD_SCREEN_LIVE ||
              (how == BZ_BUILD_SCREEN_AUTO && can_be_live(s->log->fd));
    if (!s->live)
        return 0;
    return bz_terminal_open(&s->terminal, s->log->fd,
                            isatty(STDIN_FILENO) ? STDIN_FILENO : -1, err);
}

static void measure(struct bz_console *c)
{
    struct bz_memory memory;

    c->memory = bz_memuse_read();
    bz_memory_read("", &memory);
    c->pressure = memory.pressure;
}

void bz_build_screen_begin(struct bz_build_screen *s, const struct bz_str *names,
                           unsigned jobs)
{
    s->console.names = names;
    s->console.jobs = jobs;
    s->console.beat = s->live ? 0 : s->beat;
    s->console.color = s->log->color;
    s->console.utf8 = is_utf8();
    s->console.keys = s->live && s->terminal.in >= 0;
    s->console.memory = -1;
    if (s->live)
        measure(&s->console);
    s->sink = (struct bz_log_sink){take_line, s};
    bz_sync_lock(&s->mutex);
    s->open = true;
    bz_sync_unlock(&s->mutex);
    bz_out_flush(s->log);
    s->log->kept = true;
    s->sink_before = bz_log_set_sink(&s->sink);
    s->begun = true;
}

static void take_logged(struct bz_build_screen *s)
{
    bz_sync_lock(&s->mutex);
    if (s->logged.len > 0)
        bz_out_put(s->log, s->logged.data, s->logged.len);
    bz_buf_truncate(&s->logged, 0);
    bz_sync_unlock(&s->mutex);
}

static void take_keys(struct bz_build_screen *s)
{
    enum { AT_ONCE = 32 };
    char key;

    for (int i = 0; i < AT_ONCE && (key = bz_terminal_poll(&s->terminal)) != '\0'; i++)
        bz_console_key(&s->console, key);
}

static void draw(struct bz_build_screen *s)
{
    struct bz_console *c = &s->console;
    const char *path;
    unsigned room;

    take_keys(s);
    if (c->now - s->measured >= MEASURE_PERIOD) {
        s->measured = c->now;
        measure(c);
    }
    bz_buf_truncate(&s->tail, 0);
    path = bz_console_log(c);
    room = bz_console_room(c, s->terminal.height);
    if (path && room > 1) /* below its name */
        bz_logtail_add(path, room - 1, &s->tail);
    c->tail = bz_buf_str(&s->tail);
    bz_buf_truncate(&s->lines, 0);
    bz_console_draw(c, s->terminal.width, s->terminal.height, &s->lines);
    bz_terminal_draw(&s->terminal, bz_buf_str(&s->log->buf), bz_buf_str(&s->lines));
    bz_buf_truncate(&s->log->buf, 0);
}

void bz_build_screen_show(struct bz_build_screen *s)
{
    take_logged(s);
    s->shown = s->console.now;
    if (s->live)
        draw(s);
    else
        bz_out_flush(s->log);
}

void bz_build_screen_hear(struct bz_build_screen *s, const struct bz_event *e)
{
    bz_console_hear(&s->console, e);
    if (e->at - s->shown < BZ_BUILD_SCREEN_TICK)
        return;
    if (bz_console_beat(&s->console)) {
        bz_console_draw_once(&s->console, &s->log->buf);
        bz_out_print(s->log, "\n");
    }
    bz_build_screen_show(s);
}

void bz_build_screen_close(struct bz_build_screen *s)
{
    if (s->begun)
        bz_log_set_sink(s->sink_before);
    s->begun = false;
    take_logged(s);
    if (s->live)
        bz_terminal_close(&s->terminal);
    s->live = s->log->kept = false;
    bz_out_flush(s->log);
    bz_sync_lock(&s->mutex);
    s->open = false;
    bz_buf_release(&s->logged);
    bz_sync_unlock(&s->mutex);
    bz_console_release(&s->console);
    bz_buf_release(&s->lines);
    bz_buf_release(&s->tail);
}
