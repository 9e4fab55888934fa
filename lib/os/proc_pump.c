#include "os/proc_pump.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/fs.h"

#define EVENTS 64
#define CHUNK ((size_t)64 * 1024)
#define READS_PER_TURN 8 /* of one pipe, before others get their turn */

enum kind { CHILD_EXIT, CHILD_OUT, CHILD_ERR, WAKE, WATCH };

/* What an epoll event points to. */
struct source {
    enum kind kind;
    int fd; /* -1 once it is closed */
    struct child *child;
    struct watch *watch;
};

struct watch {
    struct watch *next;
    struct source source;
    void (*fn)(void *ctx);
    void *ctx;
};

/* Children are taken off the list and freed only in sweep(), after all events of a
 * round: no event of that round can point to a freed one. */
struct child {
    struct child *prev, *next;
    struct bz_proc_id id;
    struct bz_proc proc;
    struct source exit, out, err;
    struct bz_proc_handler handler;
    struct bz_proc_result result;
    int64_t started, deadline, grace;
    int64_t kill_at;  /* when SIGKILL is due; 0 unless being stopped */
    int64_t drain_at; /* when reading ends; 0 while the child lives */
    bool killed;
};

struct bz_proc_pump {
    int epoll;
    struct source wake;
    bool woken; /* in the latest round */
    struct child *first, *last;
    size_t count;
    uint64_t next_id;
    struct watch *watches;
    char chunk[CHUNK];
};

void bz_proc_pump_release_result(struct bz_proc_result *r)
{
    bz_capture_release(&r->out);
    bz_capture_release(&r->err);
    *r = (struct bz_proc_result){0};
}

static int watch_source(struct bz_proc_pump *pump, struct source *s, struct bz_err *err)
{
    struct epoll_event ev = {.events = EPOLLIN, .data.ptr = s};

    if (epoll_ctl(pump->epoll, EPOLL_CTL_ADD, s->fd, &ev) < 0)
        return bz_fail_sys(err, "watch a descriptor");
    return 0;
}

/* A descriptor is taken out of the epoll set before it is closed: a copy of it in a
 * child that is just being started would keep it in. */
static void drop_source(struct bz_proc_pump *pump, struct source *s)
{
    if (s->fd < 0)
        return;
    epoll_ctl(pump->epoll, EPOLL_CTL_DEL, s->fd, NULL);
    bz_fs_closep(&s->fd);
    s->fd = -1;
}

static void unlink_child(struct bz_proc_pump *pump, struct child *c)
{
    *(c->prev ? &c->prev->next : &pump->first) = c->next;
    *(c->next ? &c->next->prev : &pump->last) = c->prev;
    pump->count--;
}

static void link_child(struct bz_proc_pump *pump, struct child *c)
{
    c->prev = pump->last;
    *(pump->last ? &pump->last->next : &pump->first) = c;
    pump->last = c;
    pump->count++;
}

/* An ignored SIGCHLD is inherited from careless parents and makes the kernel reap
 * children by itself. */
static void keep_zombies(void)
{
    struct sigaction now;

    if (sigaction(SIGCHLD, NULL, &now) == 0 &&
        (now.sa_handler == SIG_IGN || (now.sa_flags & SA_NOCLDWAIT)))
        signal(SIGCHLD, SIG_DFL);
}

int bz_proc_pump_open(struct bz_proc_pump **out, struct bz_err *err)
{
    BZ_CLEANUP(bz_proc_pump_closep)
    struct bz_proc_pump *pump = bz_mem_zalloc(sizeof(*pump));
    int rc;

    keep_zombies();
    pump->epoll = epoll_create1(EPOLL_CLOEXEC);
    pump->wake = (struct source){.kind = WAKE, .fd = -1};
    if (pump->epoll < 0)
        return bz_fail_sys(err, "open a process pump");
    pump->wake.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (pump->wake.fd < 0)
        return bz_fail_sys(err, "open a process pump");
    rc = watch_source(pump, &pump->wake, err);
    if (rc < 0)
        return rc;
    *out = pump;
    pump = NULL;
    return 0;
}

void bz_proc_pump_close(struct bz_proc_pump *pump)
{
    for (struct child *c = pump->first; c; c = c->next)
        bz_proc_signal(&c->proc, SIGKILL);
    while (pump->first) {
        struct child *c = pump->first;
        int status;

        unlink_child(pump, c);
        drop_source(pump, &c->out);
        drop_source(pump, &c->err);
        bz_proc_reap(&c->proc, &status, NULL);
        bz_proc_pump_release_result(&c->result);
        free(c);
    }
    while (pump->watches) {
        struct watch *w = pump->watches;

        pump->watches = w->next;
        free(w);
    }
    bz_fs_closep(&pump->wake.fd);
    bz_fs_closep(&pump->epoll);
    free(pump);
}

void bz_proc_pump_closep(struct bz_proc_pump **pump)
{
    if (*pump)
        bz_proc_pump_close(*pump);
}

size_t bz_proc_pump_count(const struct bz_proc_pump *pump)
{
    return pump->count;
}

static int watch_child(struct bz_proc_pump *pump, struct child *c, struct bz_err *err)
{
    int rc = watch_source(pump, &c->exit, err);

    if (rc == 0 && c->out.fd >= 0)
        rc = watch_source(pump, &c->out, err);
    if (rc == 0 && c->err.fd >= 0)
        rc = watch_source(pump, &c->err, err);
    return rc;
}

int bz_proc_pump_adopt(struct bz_proc_pump *pump, struct bz_proc *p,
                       const struct bz_proc_spec *spec,
                       const struct bz_proc_handler *handler, struct bz_proc_id *id,
                       struct bz_err *err)
{
    size_t keep = spec->capture_max ? spec->capture_max : BZ_PROC_PUMP_CAPTURE;
    BZ_CLEANUP(bz_mem_freep) struct child *c = bz_mem_zalloc(sizeof(*c));
    int rc;

    c->started = bz_clock_now();
    c->proc = *p;
    c->exit = (struct source){.kind = CHILD_EXIT, .fd = c->proc.pidfd, .child = c};
    c->out = (struct source){.kind = CHILD_OUT, .fd = c->proc.out, .child = c};
    c->err = (struct source){.kind = CHILD_ERR, .fd = c->proc.err, .child = c};
    c->proc.out = c->proc.err = -1; /* the sources own them now */
    c->handler = *handler;
    c->result.out.limit = c->result.err.limit = keep;
    c->deadline = spec->deadline;
    c->grace = spec->grace ? spec->grace : BZ_PROC_PUMP_GRACE;
    rc = watch_child(pump, c, err);
    if (rc < 0) {
        int status;

        drop_source(pump, &c->out);
        drop_source(pump, &c->err);
        bz_proc_signal(&c->proc, SIGKILL);
        bz_proc_reap(&c->proc, &status, NULL);
        return rc;
    }
    c->id.i = ++pump->next_id;
    if (id)
        *id = c->id;
    link_child(pump, c);
    c = NULL; /* the pump owns it now */
    return 0;
}

int bz_proc_pump_add(struct bz_proc_pump *pump, const struct bz_proc_spec *spec,
                     const struct bz_proc_handler *handler, struct bz_proc_id *id,
                     struct bz_err *err)
{
    struct bz_proc p;
    int rc = bz_proc_spawn(spec, &p, err);

    return rc < 0 ? rc : bz_proc_pump_adopt(pump, &p, spec, handler, id, err);
}

static void stop_child(struct child *c, enum bz_proc_pump_why why)
{
    if (c->kill_at || c->drain_at)
        return;
    c->result.why = why;
    c->kill_at = bz_clock_in(c->grace);
    bz_proc_signal(&c->proc, SIGTERM);
    bz_proc_signal(&c->proc, SIGCONT); /* a suspended process sees no SIGTERM */
}

void bz_proc_pump_stop(struct bz_proc_pump *pump, struct bz_proc_id id)
{
    for (struct child *c = pump->first; c; c = c->next)
        if (c->id.i == id.i)
            stop_child(c, BZ_PROC_PUMP_STOPPED);
}

void bz_proc_pump_stop_all(struct bz_proc_pump *pump)
{
    for (struct child *c = pump->first; c; c = c->next)
        stop_child(c, BZ_PROC_PUMP_STOPPED);
}

int bz_proc_pump_watch(struct bz_proc_pump *pump, int fd, void (*fn)(void *ctx),
                       void *ctx, struct bz_err *err)
{
    struct watch *w = bz_mem_zalloc(sizeof(*w));
    int rc;

    w->source = (struct source){.kind = WATCH, .fd = fd, .watch = w};
    w->fn = fn;
    w->ctx = ctx;
    rc = watch_source(pump, &w->source, err);
    if (rc < 0) {
        free(w);
        return rc;
    }
    w->next = pump->watches;
    pump->watches = w;
    return 0;
}

void bz_proc_pump_wake(struct bz_proc_pump *pump)
{
    const uint64_t one = 1;
    ssize_t rc;

    /* EAGAIN means that the counter is full, so the pump will wake anyway. */
    do
        rc = write(pump->wake.fd, &one, sizeof(one));
    while (rc < 0 && errno == EINTR);
}

static void take_wake(struct bz_proc_pump *pump)
{
    uint64_t count;

    if (read(pump->wake.fd, &count, sizeof(count)) == sizeof(count))
        pump->woken = true;
}

/* Reads what a pipe holds, but not for ever: a writer may be as fast as we are. */
static void read_pipe(struct bz_proc_pump *pump, struct source *s)
{
    struct child *c = s->child;
    bool is_out = s->kind == CHILD_OUT;

    for (int i = 0; i < READS_PER_TURN && s->fd >= 0; i++) {
        ssize_t got = read(s->fd, pump->chunk, sizeof(pump->chunk));

        if (got > 0) {
            bz_capture_add(is_out ? &c->result.out : &c->result.err, pump->chunk,
                           (size_t)got);
            if (c->handler.output)
                c->handler.output(c->handler.ctx,
                                  is_out ? BZ_PROC_PUMP_OUT : BZ_PROC_PUMP_ERR,
                                  bz_str_of(pump->chunk, (size_t)got));
        } else if (got < 0 && errno == EAGAIN) {
            return;
        } else if (got == 0 || errno != EINTR) {
            drop_source(pump, s);
        }
    }
}

static void note_exit(struct bz_proc_pump *pump, struct child *c)
{
    int64_t now = bz_clock_now();

    c->result.wall = now - c->started;
    c->drain_at = now + BZ_PROC_PUMP_DRAIN;
    if (c->kill_at > c->drain_at)
        c->drain_at = c->kill_at;
    /* It stays readable: without this every wait would return at once. */
    epoll_ctl(pump->epoll, EPOLL_CTL_DEL, c->exit.fd, NULL);
}

static void handle(struct bz_proc_pump *pump, struct source *s)
{
    switch (s->kind) {
    case CHILD_EXIT:
        note_exit(pump, s->child);
        break;
    case CHILD_OUT:
    case CHILD_ERR:
        read_pipe(pump, s);
        break;
    case WAKE:
        take_wake(pump);
        break;
    case WATCH:
        s->watch->fn(s->watch->ctx);
        break;
    }
}

static int64_t ns_of(struct timeval t)
{
    return t.tv_sec * BZ_CLOCK_S + t.tv_usec * 1000;
}

static void finish(struct bz_proc_pump *pump, struct child *c)
{
    struct rusage usage;
    int status;

    /* What came since the last look, if a pipe is closed before its end. */
    read_pipe(pump, &c->out);
    read_pipe(pump, &c->err);
    drop_source(pump, &c->out);
    drop_source(pump, &c->err);
    bz_proc_reap(&c->proc, &status, &usage);
    c->result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    c->result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    c->result.user = ns_of(usage.ru_utime);
    c->result.sys = ns_of(usage.ru_stime);
    c->result.max_rss = (uint64_t)usage.ru_maxrss * 1024;
    unlink_child(pump, c);
    c->handler.done(c->handler.ctx, &c->result);
    bz_proc_pump_release_result(&c->result);
    free(c);
}

/* Does what is due for a child; it may be gone afterwards. */
static void sweep_child(struct bz_proc_pump *pump, struct child *c, int64_t now)
{
    bool drained = c->out.fd < 0 && c->err.fd < 0;

    if (c->drain_at) {
        if (drained || now >= c->drain_at)
            finish(pump, c);
        return;
    }
    if (c->deadline != BZ_CLOCK_NEVER && now >= c->deadline)
        stop_child(c, BZ_PROC_PUMP_TIMEOUT);
    if (c->kill_at && !c->killed && now >= c->kill_at) {
        c->killed = true;
        bz_proc_signal(&c->proc, SIGKILL);
    }
}

static void sweep(struct bz_proc_pump *pump)
{
    int64_t now = bz_clock_now();

    for (struct child *c = pump->first, *next; c; c = next) {
        next = c->next; /* a callback only ever adds behind the last */
        sweep_child(pump, c, now);
    }
}

/* When sweep_child() next has something to do without an event. */
static int64_t next_due(const struct child *c)
{
    if (c->drain_at)
        return c->drain_at;
    if (c->kill_at)
        return c->killed ? BZ_CLOCK_NEVER : c->kill_at;
    return c->deadline;
}

int bz_proc_pump_run_once(struct bz_proc_pump *pump, int64_t deadline,
                          struct bz_err *err)
{
    struct epoll_event events[EVENTS];
    int64_t until = deadline;
    int n;

    pump->woken = false;
    for (const struct child *c = pump->first; c; c = c->next) {
        int64_t due = next_due(c);

        if (due != BZ_CLOCK_NEVER && (until == BZ_CLOCK_NEVER || due < until))
            until = due;
    }
    n = epoll_wait(pump->epoll, events, EVENTS, bz_clock_poll_ms(until));
    if (n < 0 && errno != EINTR)
        return bz_fail_sys(err, "wait for child processes");
    for (int i = 0; i < n; i++)
        handle(pump, events[i].data.ptr);
    sweep(pump);
    return 0;
}

int bz_proc_pump_run(struct bz_proc_pump *pump, struct bz_err *err)
{
    while (pump->count) {
        int rc;

        rc = bz_proc_pump_run_once(pump, BZ_CLOCK_NEVER, err);
        if (rc < 0)
            return rc;
        if (pump->woken && pump->count)
            return bz_fail(err, BZ_E_CANCELED, "woken while %zu processes run",
                           pump->count);
    }
    return 0;
}
