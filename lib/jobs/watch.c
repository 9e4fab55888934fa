#include "jobs/watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "jobs/postbox.h"
#include "jobs/reply.h"
#include "os/clock.h"
#include "os/fs.h"
#include "os/fs_lock.h"

enum {
    RESULTS = 1024,
    BOXES = 256,
    TURN = 256,    /* lines that are read before others have their turn */
    PAUSE_MS = 20, /* until what did not go is tried again */
    DIGITS = 6,
    MEND = 4096, /* bytes in which the end of a line is looked for at a time */
};
#define LIMIT ((size_t)64 << 20)
#define BATCH ((size_t)1 << 20) /* bytes of results that are written at once */
#define EVENTS                                                                         \
    (IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ONLYDIR)

/* A result to be written. */
struct item {
    struct bz_result *result;
    struct bz_postbox_line *line; /* that it answers; NULL: none, or it is done */
    uint64_t at;                  /* where that line begins */
    bool counted;                 /* for the client */
    struct item *next;
};

/* A mailbox and what became of its lines. */
struct box {
    struct bz_watch *watch;
    unsigned number;
    struct bz_client *client;
    struct bz_postbox post;
    struct bz_map lines;           /* id -> its lines, the first asked for first */
    struct item *todo, **todo_end; /* in order */
    bool news;                     /* to be looked at */
    bool again;                    /* and after a while */
    bool full;                     /* nobody takes the results */
    bool warned;                   /* that they cannot be written */
    struct box *next;

    struct bz_sync_mutex mutex; /* for all that follows */
    struct bz_result *first, **last;
};

struct bz_watch {
    struct bz_watch_opts o;
    char *path; /* o.dir */
    int dir, records, lock, inotify, wake;
    struct bz_pool_item item; /* the loop, on the io lane */
    struct box *boxes;
    unsigned n;
    atomic_bool stop;
};

/* ---- results ---- */

static void wake(struct bz_watch *w)
{
    while (eventfd_write(w->wake, 1) < 0 && errno == EINTR)
        ;
}

static void deliver(void *ctx, struct bz_result *r)
{
    struct box *b = ctx;
    bool first;

    bz_sync_lock(&b->mutex);
    first = !b->first;
    *b->last = r;
    b->last = &r->next;
    bz_sync_unlock(&b->mutex);
    if (first)
        wake(b->watch);
}

static void add_item(struct box *b, struct bz_result *r, struct bz_postbox_line *line,
                     bool counted)
{
    struct item *i = bz_mem_zalloc(sizeof(*i));

    i->result = r;
    i->line = r->final ? line : NULL;
    i->at = line ? line->start : BZ_REPLY_NOWHERE;
    i->counted = counted;
    *b->todo_end = i;
    b->todo_end = &i->next;
}

/* The line that a task was. With its last result that is over. */
static struct bz_postbox_line *find_line(struct box *b, const struct bz_result *r)
{
    struct bz_map_entry *e = bz_map_get_u64(&b->lines, r->id);
    struct bz_postbox_line *line = e ? e->p : NULL;

    if (!line || !r->final)
        return line;
    e->p = line->next_of_id;
    if (!e->p)
        bz_map_remove_u64(&b->lines, r->id);
    return line;
}

/* What workers have delivered. */
static void collect(struct box *b)
{
    struct bz_result *all, *next;

    bz_sync_lock(&b->mutex);
    all = b->first;
    b->first = NULL;
    b->last = &b->first;
    bz_sync_unlock(&b->mutex);
    for (; all; all = next) {
        next = all->next;
        add_item(b, all, find_line(b, all), true);
    }
}

/* The file of that name, locked. BZ_E_BUSY if somebody else has the lock. */
static int open_results(struct box *b, int *out, struct stat *st, struct bz_err *err)
{
    char name[32];

    snprintf(name, sizeof(name), "results-%u.json", b->number);
    for (int i = 0; i < 3; i++) {
        BZ_CLEANUP(bz_fs_closep)
        int fd = openat(
            b->watch->dir, name,
            O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
        struct stat named;

        if (fd < 0 || fstat(fd, st) < 0)
            return bz_fail_sys(err, "open %s", name);
        if (!S_ISREG(st->st_mode) || st->st_uid != geteuid())
            return bz_fail(err, BZ_E_INVAL, "%s is no file of ours", name);
        if (flock(fd, LOCK_EX | LOCK_NB) < 0)
            return bz_fail(err, BZ_E_BUSY, "%s is locked", name);
        /* It may have been renamed before it was locked. */
        if (fstat(fd, st) == 0 &&
            fstatat(b->watch->dir, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
            named.st_ino == st->st_ino && named.st_dev == st->st_dev) {
            *out = bz_fs_detach(&fd);
            return 0;
        }
    }
    return bz_fail(err, BZ_E_BUSY, "%s is being replaced", name);
}

/* A service that was killed may have left a line without its end: that is cut off. */
static int mend(int fd, struct stat *st, struct bz_err *err)
{
    off_t size = st->st_size;
    char bytes[MEND];

    while (size > 0) {
        size_t n = size < MEND ? (size_t)size : MEND;
        const char *end;

        if (pread(fd, bytes, n, size - (off_t)n) != (ssize_t)n)
            return bz_fail_sys(err, "read results");
        end = memrchr(bytes, '\n', n);
        size -= (off_t)n;
        if (end) {
            size += end + 1 - bytes;
            break;
        }
    }
    if (size < st->st_size && ftruncate(fd, size) < 0)
        return bz_fail_sys(err, "cut results");
    st->st_size = size;
    return 0;
}

/* All of it or nothing. */
static int append(int fd, off_t size, const struct bz_buf *text, struct bz_err *err)
{
    int rc = bz_fs_write_all(fd, "results", text->data, text->len, err);

    if (rc < 0 && ftruncate(fd, size) < 0)
        return bz_err_wrap(err, "a line is cut off");
    return rc;
}

/* The first results, until there is no room; *end is after them. */
static void format(struct box *b, size_t room, struct bz_buf *text, struct item **end)
{
    struct item *i;

    for (i = b->todo; i && text->len < room; i = i->next) {
        bz_reply_write(text, i->result, i->at);
        if (i->line)
            bz_postbox_answer(&b->post, i->line);
        i->line = NULL;
    }
    *end = i;
}

static void drop(struct box *b, const struct item *end)
{
    while (b->todo != end) {
        struct item *i = b->todo;

        b->todo = i->next;
        if (i->counted)
            bz_client_taken(b->client, i->result);
        free(i->result);
        free(i);
    }
    if (!b->todo)
        b->todo_end = &b->todo;
}

/* Once it goes again, this may be said again. */
static void warn(struct box *b, const struct bz_err *err)
{
    if (!b->warned)
        bz_log_warn("jobs", "mailbox %u of %s: %s", b->number, b->watch->o.dir,
                    err->msg);
    b->warned = true;
}

/* What waits, as far as the file may grow. */
static int write_some(struct box *b, struct bz_err *err)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};
    BZ_CLEANUP(bz_fs_closep) int fd = -1;
    struct item *end;
    struct stat st = {0};
    size_t room;
    int rc = open_results(b, &fd, &st, err);

    if (rc < 0)
        return rc;
    rc = mend(fd, &st, err);
    if (rc < 0)
        return rc;
    b->full = (size_t)st.st_size >= b->watch->o.limit;
    if (b->full)
        return 0;
    room = b->watch->o.limit - (size_t)st.st_size;
    format(b, room < BATCH ? room : BATCH, &text, &end);
    rc = bz_postbox_save(&b->post, err);
    if (rc == 0)
        rc = append(fd, st.st_size, &text, err);
    if (rc == 0)
        drop(b, end);
    return rc;
}

static void write_results(struct box *b)
{
    struct bz_err err;
    int rc = 0;

    b->full = false;
    while (b->todo && !b->full && rc == 0)
        rc = write_some(b, &err);
    b->again |= rc < 0;
    if (rc < 0 && rc != BZ_E_BUSY)
        warn(b, &err);
    else if (rc == 0)
        b->warned = false;
}

/* ---- requests ---- */

static void remember(struct box *b, uint64_t id, struct bz_postbox_line *line)
{
    struct bz_map_entry *e = bz_map_put_u64(&b->lines, id);
    struct bz_postbox_line *l = e->p;

    if (!l) {
        e->p = line;
        return;
    }
    while (l->next_of_id)
        l = l->next_of_id;
    l->next_of_id = line;
}

/* True if the line was dealt with; false if it has to wait. */
static bool take_line(struct box *b, struct bz_str text)
{
    struct bz_postbox_line *line;
    struct bz_err err;
    uint64_t id = 0;
    int rc = 0;

    if (!text.p) {
        rc = bz_fail(&err, BZ_E_LIMIT, "the line has more than %zu bytes",
                     BZ_REQUEST_MAX);
    } else if (bz_str_trim(text).n == 0) {
        bz_postbox_answer(&b->post, bz_postbox_take(&b->post));
        return true;
    } else {
        rc = bz_client_submit(b->client, text, NULL, &id, &err);
    }
    if (rc == BZ_E_BUSY || rc == BZ_E_CANCELED)
        return false;
    line = bz_postbox_take(&b->post);
    if (rc == 0)
        remember(b, id, line);
    else /* not by an id that is in use: another task has that */
        add_item(
            b,
            bz_task_failure(rc == BZ_E_EXISTS ? 0 : id, BZ_TASK_INVALID_JSON, err.msg),
            line, false);
    return true;
}

static void read_lines(struct box *b)
{
    struct bz_str text;
    struct bz_err err;
    int rc = 0;

    for (int i = 0; i < TURN; i++) {
        rc = bz_postbox_peek(&b->post, &text, &err);
        if (rc <= 0)
            break;
        if (!take_line(b, text)) {
            b->again = true;
            return;
        }
    }
    b->news |= rc > 0;
    b->again |= rc < 0;
    if (rc < 0)
        warn(b, &err);
}

/* ---- mailboxes ---- */

static void free_box(struct box *b)
{
    bz_client_free(b->client); /* waits */
    collect(b);
    drop(b, NULL);
    bz_postbox_close(&b->post);
    bz_map_release(&b->lines);
    free(b);
}

static void open_box(struct bz_watch *w, unsigned number)
{
    struct box *b = bz_mem_zalloc(sizeof(*b));
    struct bz_err err;
    int rc = w->n < BOXES ? bz_postbox_open(&b->post, w->dir, w->records, number, &err)
                          : bz_fail(&err, BZ_E_LIMIT, "there are %d already", BOXES);

    b->watch = w;
    b->number = number;
    if (rc < 0) {
        if (rc != BZ_E_NOENT)
            warn(b, &err);
        free(b);
        return;
    }
    b->last = &b->first;
    b->todo_end = &b->todo;
    b->news = true;
    b->client = bz_client_new(w->o.service, w->o.results, deliver, b);
    b->next = w->boxes;
    w->boxes = b;
    w->n++;
}

/* The file is gone, and everything that was in it is answered? Then it is as if it had
 * never been, and there may be a new one. */
static bool is_over(struct box *b)
{
    return !b->news && !b->again && !b->todo && !b->post.first &&
           bz_postbox_is_left(&b->post);
}

static void close_box(struct box *b)
{
    struct bz_watch *w = b->watch;
    unsigned number = b->number;

    if (b->post.in.len > b->post.pos)
        bz_log_warn("jobs", "%s/%s: the last line has no end, and was not read",
                    w->o.dir, b->post.name);
    bz_postbox_forget(&b->post);
    for (struct box **p = &w->boxes; *p; p = &(*p)->next)
        if (*p == b) {
            *p = b->next;
            break;
        }
    w->n--;
    free_box(b);
    open_box(w, number);
}

/* Results first: while they are not taken, nothing is read. */
static void serve_box(struct box *b)
{
    b->news = b->again = false;
    collect(b);
    write_results(b);
    if (!b->todo && !b->full)
        read_lines(b);
    if (b->todo && !b->full) {
        write_results(b); /* those of lines that were refused */
        b->news |= !b->todo;
    }
}

static bool has_results(struct box *b)
{
    bool has;

    bz_sync_lock(&b->mutex);
    has = b->first;
    bz_sync_unlock(&b->mutex);
    return has;
}

/* Who had to wait goes first next time: the service may have room for few. */
static void rotate(struct bz_watch *w, struct box *first)
{
    struct box **p = &w->boxes, **end;

    while (first && *p && *p != first)
        p = &(*p)->next;
    if (!first || !*p || p == &w->boxes)
        return;
    for (end = &first->next; *end; end = &(*end)->next)
        ;
    *end = w->boxes;
    *p = NULL;
    w->boxes = first;
}

/* Returns for how long there is nothing else to do. */
static int serve_boxes(struct bz_watch *w)
{
    struct box *b, *next, *waits = NULL;
    int pause = -1;

    for (b = w->boxes; b; b = next) {
        next = b->next;
        if (!b->news && !b->again && !has_results(b))
            continue;
        serve_box(b);
        if (is_over(b)) {
            close_box(b); /* a new one is at the front, and has news */
            pause = 0;
            continue;
        }
        if (b->again && !waits)
            waits = b;
        if (b->news)
            pause = 0;
        else if (b->again && pause < 0)
            pause = PAUSE_MS;
    }
    rotate(w, waits);
    return pause;
}

/* ---- the directory ---- */

/* N of "<prefix>N.json". */
static bool parse_name(const char *name, const char *prefix, unsigned *number)
{
    struct bz_str s = bz_str_from(name), p = bz_str_from(prefix), end = BZ_STR(".json");
    struct bz_err err;
    uint64_t u;

    if (s.n <= p.n + end.n || !bz_str_starts(s, p) || !bz_str_ends(s, end))
        return false;
    s = bz_str_sub(s, p.n, s.n - end.n);
    if (s.n > DIGITS || (s.n > 1 && s.p[0] == '0') ||
        bz_str_parse_u64(s, 10, UINT_MAX, &u, &err) < 0)
        return false;
    *number = (unsigned)u;
    return true;
}

static struct box *find_box(struct bz_watch *w, unsigned number)
{
    struct box *b = w->boxes;

    while (b && b->number != number)
        b = b->next;
    return b;
}

static void look_at(struct bz_watch *w, const char *name)
{
    unsigned number;
    struct box *b;

    if (parse_name(name, "mailbox-", &number)) {
        b = find_box(w, number);
        if (b)
            b->news = true;
        else
            open_box(w, number);
    } else if (parse_name(name, "results-", &number)) {
        b = find_box(w, number);
        if (b && b->full)
            b->news = true; /* there may be room again */
    }
}

static int look_at_all(struct bz_watch *w, struct bz_err *err)
{
    int fd = openat(w->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *e;

    if (!d) {
        int rc = bz_fail_sys(err, "read %s", w->o.dir);

        bz_fs_closep(&fd);
        return rc;
    }
    while ((e = readdir(d)))
        look_at(w, e->d_name);
    closedir(d);
    return 0;
}

static void read_events(struct bz_watch *w)
{
    union {
        struct inotify_event align;
        char bytes[16384];
    } events;
    struct bz_err err;
    ssize_t n = read(w->inotify, events.bytes, sizeof(events.bytes));

    for (ssize_t at = 0; at < n;) {
        const struct inotify_event *e =
            (const struct inotify_event *)(const void *)(events.bytes + at);

        if (e->mask & IN_Q_OVERFLOW && look_at_all(w, &err) < 0)
            bz_log_warn("jobs", "%s", err.msg);
        else if (e->mask & IN_IGNORED)
            bz_log_warn("jobs", "%s is gone: nothing more is read from it", w->o.dir);
        else if (e->len > 0)
            look_at(w, e->name);
        at += (ssize_t)(sizeof(*e) + e->len);
    }
}

static void serve(struct bz_worker *worker, void *arg)
{
    struct bz_watch *w = arg;
    struct pollfd fds[2] = {
        {.fd = w->inotify, .events = POLLIN},
        {.fd = w->wake,    .events = POLLIN},
    };
    int pause = 0;

    (void)worker;
    while (!atomic_load(&w->stop)) {
        eventfd_t ignored;

        if (poll(fds, 2, pause) < 0 && errno != EINTR)
            break;
        if (fds[1].revents && eventfd_read(w->wake, &ignored) < 0)
            errno = 0; /* it was only just read */
        if (fds[0].revents)
            read_events(w);
        pause = serve_boxes(w);
    }
    for (struct box *b = w->boxes; b; b = b->next) {
        collect(b);
        write_results(b);
    }
}

/* ---- setting it up ---- */

static int open_dir(struct bz_watch *w, struct bz_err *err)
{
    struct stat st;
    int rc = bz_fs_mkdirs(AT_FDCWD, w->o.dir, 0700, err);

    if (rc < 0)
        return rc;
    w->dir = open(w->o.dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (w->dir < 0 || fstat(w->dir, &st) < 0)
        return bz_fail_sys(err, "open %s", w->o.dir);
    if (st.st_uid != geteuid() || st.st_mode & (S_IRWXG | S_IRWXO))
        return bz_fail(err, BZ_E_INVAL,
                       "others may use %s: mailboxes want a directory of their own, "
                       "mode 0700",
                       w->o.dir);
    if (mkdirat(w->dir, ".bitzel", 0700) < 0 && errno != EEXIST)
        return bz_fail_sys(err, "make %s/.bitzel", w->o.dir);
    w->records =
        openat(w->dir, ".bitzel", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (w->records < 0)
        return bz_fail_sys(err, "open %s/.bitzel", w->o.dir);
    rc = bz_fs_lock(w->records, "lock", BZ_FS_LOCK_EXCLUSIVE, 1, &w->lock, err);
    return rc == BZ_E_BUSY
               ? bz_fail(err, rc, "another service reads the mailboxes in %s", w->o.dir)
               : rc;
}

static int start(struct bz_watch *w, struct bz_err *err)
{
    char path[32];
    int rc = open_dir(w, err);

    if (rc < 0)
        return rc;
    w->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    /* The directory that was looked at, not what has its name by now. */
    snprintf(path, sizeof(path), "/proc/self/fd/%d", w->dir);
    if (w->inotify < 0 || w->wake < 0 ||
        inotify_add_watch(w->inotify, path, EVENTS) < 0)
        return bz_fail_sys(err, "watch %s", w->o.dir);
    rc = look_at_all(w, err);
    if (rc < 0)
        return rc;
    w->item = (struct bz_pool_item){.body = serve, .arg = w};
    bz_pool_submit(bz_service_pool(w->o.service), NULL, BZ_LANE_IO, &w->item);
    return 0;
}

static void release(struct bz_watch *w)
{
    while (w->boxes) {
        struct box *next = w->boxes->next;

        free_box(w->boxes);
        w->boxes = next;
    }
    bz_fs_closep(&w->inotify);
    bz_fs_closep(&w->wake);
    bz_fs_closep(&w->lock);
    bz_fs_closep(&w->records);
    bz_fs_closep(&w->dir);
    free(w->path);
    free(w);
}

int bz_watch_new(const struct bz_watch_opts *opts, struct bz_watch **out,
                 struct bz_err *err)
{
    struct bz_watch *w = bz_mem_zalloc(sizeof(*w));
    int rc;

    w->o = *opts;
    w->o.dir = w->path = bz_mem_dup(opts->dir, strlen(opts->dir));
    w->o.results = opts->results ? opts->results : RESULTS;
    w->o.limit = opts->limit ? opts->limit : LIMIT;
    w->dir = w->records = w->lock = w->inotify = w->wake = -1;
    rc = start(w, err);
    if (rc < 0) {
        release(w);
        return rc;
    }
    *out = w;
    return 0;
}

void bz_watch_free(struct bz_watch *w)
{
    if (!w)
        return;
    atomic_store(&w->stop, true);
    wake(w);
    while (bz_pool_wait(&w->item, BZ_CLOCK_NEVER) == BZ_E_BUSY)
        ;
    release(w);
}
