#include "log_follow.h"

#include <errno.h>
#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "codec/json.h"
#include "os/fs.h"
#include "past_build.h"

enum {
    CHUNK = 1 << 16,
    LOOK_MS = 1000, /* how often it is seen whether the build is still there */
};

/* On a terminal control characters must do nothing. */
void bz_log_follow_show(struct bz_out *out, const char *p, size_t n)
{
    if (!isatty(out->fd)) {
        bz_out_put(out, p, n);
        return;
    }
    while (n > 0) {
        size_t text = 0;

        while (text < n && p[text] != '\n' && p[text] != '\t')
            text++;
        bz_out_plain(out, p, text);
        if (text < n)
            bz_out_put(out, &p[text++], 1);
        p += text;
        n -= text;
    }
}

/* Without a character at the end of which the rest is missing. */
static size_t whole(const char *p, size_t n)
{
    for (size_t k = 1; k < 4 && k <= n; k++) {
        unsigned char c = (unsigned char)p[n - k];
        size_t length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;

        if ((c & 0xc0) != 0x80)
            return length > k ? n - k : n;
    }
    return n;
}

/* What there is from *from on; unless that is `all` there will be, up to the last
 * character that is whole. */
static int copy(struct bz_out *out, const char *path, int64_t *from, bool all,
                struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    char chunk[CHUNK];
    ssize_t n;
    int rc = bz_fs_open_file(AT_FDCWD, path, &fd, err);

    if (rc < 0)
        return rc;
    while ((n = pread(fd, chunk, sizeof(chunk), *from)) > 0 && out->failed == 0) {
        size_t shown = whole(chunk, (size_t)n);

        if (shown == 0 && !all)
            break;
        if (shown == 0)
            shown = (size_t)n;
        bz_log_follow_show(out, chunk, shown);
        *from += (int64_t)shown;
    }
    bz_out_flush(out);
    return n < 0 ? bz_fail_sys(err, "read %s", path) : 0;
}

int bz_log_follow_copy(struct bz_out *out, const char *path, int64_t *from,
                       struct bz_err *err)
{
    return copy(out, path, from, true, err);
}

/* What of an event log has been looked at, and what for: its end, or an event of a task
 * that is meant. */
struct progress {
    const char *events;
    struct bz_str asked;
    const char *const *wanted; /* kinds of events, up to NULL */
    int64_t from;
    struct bz_buf text;
    struct bz_arena arena;
};

static void progress_release(struct progress *p)
{
    bz_buf_release(&p->text);
    bz_arena_release(&p->arena);
}

/* Whether a task is meant: by its name, by that without 'do_', or by its recipe. */
static bool means(struct bz_str asked, struct bz_str task)
{
    size_t colon = bz_str_rfind_byte(asked, ':');
    size_t end = bz_str_rfind_byte(task, ':');
    struct bz_str name = end == BZ_STR_NONE ? BZ_STR("") : bz_str_drop(task, end + 1);

    if (bz_str_eq(asked, task))
        return true;
    if (end == BZ_STR_NONE)
        return false;
    if (bz_str_eq(asked, bz_str_sub(task, 0, end)))
        return true;
    return colon == end &&
           bz_str_eq(bz_str_sub(asked, 0, colon), bz_str_sub(task, 0, end)) &&
           bz_str_cut_prefix(&name, BZ_STR("do_")) &&
           bz_str_eq(bz_str_drop(asked, colon + 1), name);
}

static bool ends(struct progress *p, struct bz_str text)
{
    const struct bz_doc *line, *event, *task;
    struct bz_err ignored;

    bz_arena_reset(&p->arena);
    if (bz_json_parse(&p->arena, text, NULL, &line, &ignored) < 0)
        return false;
    event = bz_doc_find(line, "event");
    task = bz_doc_find(line, "task");
    if (!event || event->type != BZ_DOC_STR)
        return false;
    if (bz_str_eq(event->text, BZ_STR("end")))
        return true;
    if (!task || task->type != BZ_DOC_STR || !means(p->asked, task->text))
        return false;
    for (const char *const *kind = p->wanted; *kind; kind++)
        if (bz_str_eq(event->text, bz_str_from(*kind)))
            return true;
    return false;
}

/* Whether the events that came since tell of the end. */
static int look(struct progress *p, bool *ended, struct bz_err *err)
{
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    struct bz_str text, line;
    char chunk[CHUNK];
    ssize_t n;
    int rc = bz_fs_open_file(AT_FDCWD, p->events, &fd, err);

    if (rc < 0)
        return rc;
    while ((n = pread(fd, chunk, sizeof(chunk), p->from)) > 0) {
        p->from += n;
        bz_buf_add(&p->text, chunk, (size_t)n);
    }
    if (n < 0)
        return bz_fail_sys(err, "read %s", p->events);
    text = bz_buf_str(&p->text);
    while (!*ended && bz_str_cut(text, '\n', &line, &text))
        *ended = ends(p, line);
    p->from -= *ended ? 0 : (int64_t)line.n; /* without its end: read again then */
    bz_buf_truncate(&p->text, 0);
    return 0;
}

static int wait_for_more(int watch, struct bz_err *err)
{
    char events[4096];
    struct pollfd fd = {.fd = watch, .events = POLLIN};

    if (poll(&fd, 1, LOOK_MS) < 0 && errno != EINTR)
        return bz_fail_sys(err, "wait for the log");
    while (read(watch, events, sizeof(events)) > 0)
        ;
    return 0;
}

/* With no `f` only the events are watched. */
static int follow(struct progress *p, const struct bz_log_follow *f, int watch,
                  struct bz_err *err)
{
    int64_t shown = 0;
    bool ended = false;
    int rc = 0;

    while (rc == 0) {
        bool runs = bz_past_build_runs(p->events);

        /* Looked at before the log is copied: what was written until then is there. */
        rc = look(p, &ended, err);
        if (rc == 0 && f)
            rc = copy(f->out, f->log, &shown, ended || !runs, err);
        if (rc < 0 || ended || !runs || (f && f->out->failed))
            break;
        rc = wait_for_more(watch, err);
    }
    return rc;
}

static int watch_files(const char *events, const char *log, int *watch,
                       struct bz_err *err)
{
    *watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (*watch < 0)
        return bz_fail_sys(err, "watch the log");
    if ((log && inotify_add_watch(*watch, log, IN_MODIFY) < 0) ||
        inotify_add_watch(*watch, events, IN_MODIFY) < 0)
        return bz_fail_sys(err, "watch %s", log ? log : events);
    return 0;
}

int bz_log_follow_await(const char *events, struct bz_str asked, struct bz_err *err)
{
    static const char *const begins[] = {"started", NULL};
    BZ_CLEANUP(bz_fs_closep) int watch = -1;
    BZ_CLEANUP(progress_release)
    struct progress p = {.events = events, .asked = asked, .wanted = begins};
    int rc = watch_files(events, NULL, &watch, err);

    return rc < 0 ? rc : follow(&p, NULL, watch, err);
}

int bz_log_follow_run(const struct bz_log_follow *f, struct bz_err *err)
{
    static const char *const over[] = {"done", "failed", NULL};
    BZ_CLEANUP(bz_fs_closep) int watch = -1;
    BZ_CLEANUP(progress_release)
    struct progress p = {.events = f->events, .asked = f->task, .wanted = over};
    int rc = watch_files(f->events, f->log, &watch, err);

    return rc < 0 ? rc : follow(&p, f, watch, err);
}
